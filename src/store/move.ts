// What is carried when a register moves from one place to another, whichever databases hold them: read there, written here.
import type { User } from '../auth/caller.ts';
import type { Values } from '../envelope/record.ts';
import type { Conditions } from '../search/condition.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Layout } from '../sql/layout.ts';
import { compileGroups } from '../sql/search.ts';
import { allOf, quote, raw, type Sql, sql } from '../sql/sql.ts';
import { Mistake, type Progress } from './register.ts';
import type { StoredFile } from './store.ts';

export interface MovedUser {
  readonly id: string;
  readonly name: string;
  readonly lang: User['lang'];
  readonly createdAt: string;
}

export interface MovedRights {
  readonly userId: string;
  readonly update: boolean;
  readonly edit: boolean;
  readonly admin: boolean;
}

export interface MovedKey {
  readonly id: number;
  readonly userId: string;
  /** SHA-256 of the key in hexadecimal. */
  readonly digest: string;
  readonly issuedAt: string;
  /** Milliseconds since 1970; null for never. */
  readonly expiresAt: number | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

/** A webhook with its secret; what it has not been told is not carried. */
export interface MovedWebhook {
  readonly id: number;
  readonly url: string;
  /** As eventsText writes them. */
  readonly events: string;
  readonly secret: string;
  readonly createdAt: string;
}

/** An app with all that the catalog has of it, each list in the order of its keys. */
export interface MovedApp {
  readonly id: number;
  readonly code: string;
  /** As the catalog stores it (definition-text.ts). */
  readonly definition: string;
  /** As it was written. */
  readonly source: string;
  readonly version: number;
  readonly createdAt: string;
  readonly rights: readonly MovedRights[];
  readonly keys: readonly MovedKey[];
  /** Next numbers of primary keys and auto numbers. */
  readonly counters: readonly (readonly [name: string, next: number])[];
  /** Interrupted imports into the app: how many records of their source are in. */
  readonly imports: readonly (readonly [fingerprint: string, position: number])[];
  readonly webhooks: readonly MovedWebhook[];
}

/** The apps in the order of their IDs. */
export interface MovedCatalog {
  readonly webApi: string;
  readonly users: readonly MovedUser[];
  readonly apps: readonly MovedApp[];
}

/** A record: its values and rows, from which all else is made anew. */
export interface MovedRecord {
  /** Place in the creation order. */
  readonly place: number;
  readonly revision: number;
  readonly values: Values;
  /** By table of the form. */
  readonly rows: readonly (readonly Values[])[];
}

/** A version in the history (D29), as it is kept. */
export interface MovedVersion {
  readonly place: number;
  readonly revision: number;
  readonly userId: string;
  readonly at: string;
  readonly version: string;
}

/** What can be read on both sides of a move. Records, versions and files come in their order; apps are those of the catalog read last. */
export interface MoveReader {
  catalog(): Promise<MovedCatalog>;
  count(appId: number): Promise<{ readonly records: number; readonly versions: number; readonly files: number }>;
  /** Only those that meet the conditions, where there are any. */
  records(
    appId: number,
    after: Pick<MovedRecord, 'place'>,
    limit: number,
    conditions?: Conditions,
  ): Promise<readonly MovedRecord[]>;
  versions(
    appId: number,
    after: Pick<MovedVersion, 'place' | 'revision'>,
    limit: number,
  ): Promise<readonly MovedVersion[]>;
  /** Those of the files that an app has, by ID. */
  filesNamed(appId: number, ids: readonly string[]): Promise<ReadonlyMap<string, StoredFile>>;
  files(appId: number, after: Pick<StoredFile, 'id'>, limit: number): Promise<readonly StoredFile[]>;
}

/** Places of the records after one that meet conditions, in order: all records are passed once, each tested by its own columns. */
export function placesQuery(
  dialect: Dialect,
  layout: Layout,
  conditions: Conditions,
  { after, limit }: { readonly after: number; readonly limit: number },
): Sql {
  const tests = compileGroups(dialect, layout, conditions).map(({ test }) => test);
  const all = allOf([sql`t.pms_seq > ${after}`, ...tests]);
  return sql`select t.pms_seq from ${raw(quote(layout.form.name))} t where ${all} order by t.pms_seq limit ${limit}`;
}

/** The register that is moved. It is only read. */
export interface MoveSource extends MoveReader {
  /** Looks at the data as of now: all that is read next, the catalog first, is of one state. */
  look(): Promise<void>;
  /** Work that was begun and is not finished, each with what to do first. */
  unfinished(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What is put in the place of what is there; in one transaction. */
export interface Replacement<Item> {
  readonly remove: readonly Item[];
  readonly put: readonly Item[];
}

/** Where a register moves to. Nobody else can open it before the move is finished. */
export interface MoveTarget extends MoveReader {
  /** Makes the catalog that of the source; what was copied of an app is kept where its fields are the same. */
  putCatalog(catalog: MovedCatalog): Promise<void>;
  putRecords(appId: number, records: Replacement<MovedRecord>): Promise<void>;
  putVersions(appId: number, versions: Replacement<MovedVersion>): Promise<void>;
  putFiles(appId: number, files: Replacement<StoredFile>): Promise<void>;
  /** Makes what is made last: the search indexes, and the answers that show users whose names changed. */
  complete(progress: Progress): Promise<void>;
  /** Makes a register of it. */
  finish(): Promise<void>;
  /** A move that is not finished can be gone on with. */
  close(): Promise<void>;
}

/** Which register is moved. */
export interface Move {
  /** The same for every state of one register. */
  readonly fingerprint: string;
  /** Where it is, for people. */
  readonly from: string;
}

/** A move as its target notes it. */
export interface NotedMove extends Move {
  /** Process that was at work on it last, where the database does not know that itself. */
  readonly pid?: number;
}

/** Name of the setting that holds the note of an unfinished move, as JSON. */
export const MOVE_NOTE = 'move';

/** Refuses to open what a move has not finished filling; `note` is what the setting holds. */
export function refuseUnfinishedMove(note: string | undefined): void {
  if (note === undefined) return;
  const { from } = JSON.parse(note) as NotedMove;
  throw new Mistake(
    `it is not finished: it is being filled from ${from}, or that was interrupted; finish it by running the same command again`,
  );
}

/** Refuses a target that holds something else than this move; gives its note where it was begun before. */
export function judgeTarget(note: string | undefined, isEmpty: boolean, move: Move): NotedMove | null {
  if (note === undefined) {
    if (isEmpty) return null;
    throw new Mistake('there is a register already; a register is moved or restored only to where there is none');
  }
  const noted = JSON.parse(note) as NotedMove;
  if (noted.fingerprint === move.fingerprint) return noted;
  throw new Mistake(`an unfinished move of another register is there, from ${noted.from}; finish or delete that first`);
}

/** Refuses a source whose tables are not those of this version of Daicho: it is only read, so they are not brought up to date. */
export function refuseOtherVersion(version: number, known: number): void {
  if (version === known) return;
  throw new Mistake(
    version > known
      ? 'it was written by a newer version of Daicho; move it with that version'
      : 'it was written by an older version of Daicho; run daicho check on it first, which brings it up to date',
  );
}

/** What the person who moves is told about work that is not finished. */
export const unfinishedWork = {
  import: (code: string) =>
    `an import into ${code} was interrupted, or is under way; run it again first, or give it up with: daicho reindex ${code}`,
  rebuild: (code: string) =>
    `${code} is being rebuilt, or that was interrupted; finish that first with: daicho reindex ${code}`,
  rename: (userId: string) =>
    `the records that show user ${userId} are being written again, or that was interrupted; finish that first with: daicho user set ${userId} --name NAME`,
};

/** Whether the records of two definitions lie in the same tables and are derived alike. */
export function hasSameRecords(before: MovedApp, after: MovedApp): boolean {
  const recordsPart = ({ id, code, definition }: MovedApp) => {
    const { fields, tables, system, primaryKey } = JSON.parse(definition);
    return JSON.stringify([id, code, fields, tables, system, primaryKey]);
  };
  return recordsPart(before) === recordsPart(after);
}
