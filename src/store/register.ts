// What is done to a register beside its two operations: definitions, users, rights, keys, loading, rebuilding, checking.
import type { App } from '../app/app.ts';
import type { DefinitionChange } from '../app/definition-change.ts';
import type { Rights, User } from '../auth/caller.ts';
import type { Values } from '../envelope/record.ts';
import type { NewFile } from '../update/change.ts';
import type { FileReference } from './files.ts';
import type { Catalog, StoredFile } from './store.ts';

/** Something asked for that cannot be done, in words for the person who asked. */
export class Mistake extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Mistake';
  }
}

/** Called as long work goes on; `total` is 0 while it is not known. */
export type Progress = (done: number, total: number) => void;

/** A key as people see it: never the key itself. */
export interface KeyDescription {
  readonly id: number;
  readonly userId: string;
  /** `YYYY-MM-DD HH:MM:SS`, local time. */
  readonly issuedAt: string;
  /** Milliseconds since 1970; null for never. */
  readonly expiresAt: number | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export interface ApplyOptions {
  readonly allowDataLoss: boolean;
  readonly dryRun: boolean;
  readonly progress: Progress;
}

/** What applying a definition did, or would do. */
export interface Applied {
  readonly kind: 'created' | 'changed' | 'unchanged';
  readonly change: DefinitionChange;
  /** Values that the new types cannot hold, by field; empty where nothing is lost. */
  readonly unreadable: readonly { readonly field: string; readonly count: number; readonly example: string }[];
  /** Records that were, or would be, written again. */
  readonly records: number;
}

/** Applying a definition would lose values, and that was not allowed. */
export class DataLoss extends Mistake {
  readonly applied: Applied;

  constructor(applied: Applied) {
    super('applying this definition would lose data');
    this.name = 'DataLoss';
    this.applied = applied;
  }
}

/** What applying a definition to a new app changes. */
export const NO_CHANGE: DefinitionChange = { steps: [], losses: [], conversions: [], rebuild: false };

/** A record to put in or, where its primary key exists, to update. */
export interface LoadRecord {
  /** Where it stands in its source, for the report. */
  readonly line: number;
  /** null: the next whole number (D42). */
  readonly primaryKey: string | null;
  /** Field ID → value as the field's type keeps it; fields that are not here keep theirs, or get their default. */
  readonly values: ReadonlyMap<string, string>;
  /** Table code → its rows, each the values of the table's fields in order; tables that are not here keep theirs. */
  readonly tables: ReadonlyMap<string, readonly Values[]>;
  /** Files that the values name and that come with the record. */
  readonly files?: readonly NewFile[];
}

export interface Loaded {
  readonly inserted: number;
  readonly updated: number;
}

/** Loads records in batches: one batch is being written while the next is made. */
export interface Loader {
  /** Records of the source that an interrupted load of it has already taken. */
  readonly position: number;
  /**
   * The records may be used again for others once it has resolved. `position` is how many records of the source, refused ones included, are then done with. Gives what became durable
   * since the last call: this batch, or the one before.
   */
  put(records: readonly LoadRecord[], position: number): Promise<Loaded>;
  /** Makes everything loaded visible and searchable; gives what became durable since the last put. */
  finish(progress: Progress): Promise<Loaded>;
  /** Stops without losing what was put; a load of the same source goes on from there. */
  stop(): Promise<Loaded>;
}

/** A derived thing that disagrees with the values, or the database with itself. */
export interface CheckProblem {
  readonly app: string;
  readonly message: string;
}

export interface Register {
  catalog(): Catalog;
  setWebApi(on: boolean): Promise<void>;
  addUser(user: User): Promise<void>;
  /** Records that show the name are rendered again (D40). */
  changeUser(id: string, change: { name?: string; lang?: User['lang'] }, progress: Progress): Promise<void>;
  grant(appCode: string, userId: string, rights: Rights): Promise<void>;
  withdraw(appCode: string, userId: string): Promise<void>;
  /** Keeps the digest of a new key; gives the key's ID. */
  addKey(appCode: string, userId: string, digest: Uint8Array, expiresAt: number | null): Promise<number>;
  keys(appCode: string): Promise<readonly KeyDescription[]>;
  revokeKey(id: number): Promise<void>;
  /** The definition of an app as it was written. */
  source(appCode: string): Promise<string>;
  countRecords(appCode: string): Promise<number>;
  apply(app: App, source: string, options: ApplyOptions): Promise<Applied>;
  /** Makes everything derived from the values again. */
  reindex(appCode: string, progress: Progress): Promise<void>;
  /** `fingerprint` names the source, so that an interrupted load can go on. */
  load(appCode: string, userId: string, fingerprint: string): Promise<Loader>;
  /** How many versions the history of an app has. */
  countVersions(appCode: string): Promise<number>;
  /** Forgets versions that were replaced, and records that were deleted, before a time (`YYYY-MM-DD HH:MM:SS`); gives how many. */
  forgetVersions(appCode: string, before: string): Promise<number>;
  /** Whether the app's records are being built or loaded, or that was interrupted. */
  isBuilding(appCode: string): Promise<boolean>;
  /** Files of an app after an ID, in the order of their IDs. */
  files(appCode: string, after: string, limit: number): Promise<readonly StoredFile[]>;
  /** Those of the files that an app has, by ID; no sweep forgets them for a while, so that records can be given them. */
  useFiles(appCode: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredFile>>;
  /** Everywhere that files are named in an app, in pages. */
  fileReferences(appCode: string): AsyncIterable<readonly FileReference[]>;
  /** Forgets those of the files that were not used since a time, in milliseconds since 1970; gives how many. */
  forgetFiles(appCode: string, ids: readonly string[], unusedSince: number): Promise<number>;
  /** Hands those of the contents that no file has to `remove`, while none can be adopted. */
  whileUnused(digests: readonly string[], remove: (digests: readonly string[]) => Promise<void>): Promise<void>;
  check(appCodes: readonly string[], progress: Progress): Promise<readonly CheckProblem[]>;
  close(): Promise<void>;
}
