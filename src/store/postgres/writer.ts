// Applies updates: those that wait together in one transaction, each whole, answered after the commit (D29, D31).

import type { Values } from '../../envelope/record.ts';
import { recordRenderer } from '../../envelope/record.ts';
import { layoutOf, tokensDiffer } from '../../sql/layout.ts';
import type { NewFile } from '../../update/change.ts';
import { type Changer, changer, type JobResult, type UpdateJob } from '../changed.ts';
import { now } from '../clock.ts';
import { type Derive, type Derived, deriver, type StoredRecord } from '../derive.ts';
import { notUnique } from '../edited.ts';
import { namedAnew } from '../files.ts';
import { type RegisteredApp, Unavailable, type Updated } from '../store.ts';
import { type KeptVersion, versionText } from '../versions.ts';
import type { Told, Webhook } from '../webhooks.ts';
import { catalogVersion, type VersionedCatalog } from './catalog.ts';
import { noteChanges, passGate } from './changes.ts';
import { type Connection, isClash, isGone, isLost, isUnavailable, type Place, type Pool, run } from './connection.ts';
import { addFiles, useFiles } from './files.ts';
import type { LiveCatalog } from './live-catalog.ts';
import { type RecordTable, recordTable, type WrittenRecord } from './record-table.ts';
import type { Replicas } from './replicas.ts';
import { tellAll } from './tell.ts';

/** Most updates in one commit, and commits under way at once: one is made while the next is gathered. */
const TOGETHER = { batch: 128, lanes: 2 } as const;
/** Where records are spread over several databases: a commit of one record is of one database. */
const ONE_BY_ONE = { batch: 1, lanes: 6 } as const;

type UpdateResult = Exclude<JobResult, { kind: 'deleted' }>;

interface Waiting {
  readonly job: UpdateJob;
  /** The catalog that the update was judged by. */
  readonly judgedBy: VersionedCatalog;
  readonly resolve: (updated: Updated) => void;
  readonly reject: (error: unknown) => void;
}

interface WritableApp {
  readonly id: number;
  readonly webhooks: readonly Webhook[];
  readonly table: RecordTable;
  readonly derive: Derive;
  /** By table of the form. */
  readonly deriveRow: readonly Derive[];
  readonly renderFull: ReturnType<typeof recordRenderer>['full'];
  readonly change: Changer;
}

export interface Writer {
  update(job: UpdateJob): Promise<Updated>;
  /** Resolves when everything that waits is written. */
  close(): Promise<void>;
}

/** Updates gather here while others are written; then all of them go at once. `notes` are told of every transaction. */
export function openWriter(
  { schema }: Place,
  pool: Pool,
  catalog: LiveCatalog,
  notes: Pick<Replicas, 'wrote' | 'committed'>,
): Writer {
  let waiting: Waiting[] = [];
  let busy = 0;
  let closed: (() => void) | null = null;
  const apps = new WeakMap<RegisteredApp, WritableApp>();
  const writable = (registered: RegisteredApp): WritableApp => {
    let app = apps.get(registered);
    if (app === undefined) {
      const layout = layoutOf(registered.app, registered.id, registered.generation, registered.distributed);
      app = {
        id: registered.id,
        webhooks: registered.webhooks,
        table: recordTable(layout),
        derive: deriver(layout, null),
        deriveRow: layout.tables.map((_, index) => deriver(layout, index)),
        renderFull: recordRenderer(registered.app).full,
        change: changer(layout),
      };
      apps.set(registered, app);
    }
    return app;
  };

  /** Runs jobs in one transaction, unless the catalog is another by now. */
  const runTogether = async (
    jobs: readonly UpdateJob[],
    current: VersionedCatalog,
  ): Promise<readonly UpdateResult[]> => {
    const on = await pool.reserve();
    try {
      const begun = run(on, 'begin');
      const ids = [...new Set(jobs.flatMap(({ appCode }) => current.apps.get(appCode)?.id ?? []))].sort(
        (a, b) => a - b,
      );
      const passing = ids.map((id) => passGate(on, schema, id));
      const [found] = await Promise.all([findAll(on, current, jobs, writable), begun, ...passing]);
      if (found.version !== current.version) {
        await run(on, 'rollback');
        await catalog.renewed(current);
        return jobs.map(() => ({ kind: 'stale' }));
      }
      const files = await findFileWork(on, current, jobs, found.stored, writable);
      const work = changeAll(jobs, current, { ...files, stored: found.stored }, writable, now());
      const users = [...new Set(jobs.map(({ userId }) => userId))];
      const writing = [...work.written].flatMap(([app, { records, paired, versions, rows, files, told }]) => [
        addFiles(on, schema, app.id, files),
        app.table.keepVersions(on, versions),
        app.table.update(on, [...records.values()], paired),
        ...rows.map(({ index, seq, row, derived }) => app.table.updateRow(on, index, seq, row, derived)),
        current.building.has(app.id) ? noteChanges(on, app.id, [...records.keys()]) : null,
        told.length > 0 ? tellAll(on, schema, app, told) : null,
      ]);
      const [noted] = await Promise.all([notes.wrote(on, users), ...writing]);
      await run(on, 'commit');
      await notes.committed(noted, users);
      return work.results;
    } catch (error) {
      await run(on, 'rollback').catch(() => {});
      throw error;
    } finally {
      on.release();
    }
  };

  const runJobs = async (jobs: readonly UpdateJob[], current: VersionedCatalog): Promise<readonly UpdateResult[]> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await runTogether(jobs, current);
      } catch (error) {
        // A connection lost before anything was written, or a deadlock, whose transaction is undone: once more.
        const isUndone = (error as { code?: string }).code === '40P01' || error instanceof NotBegun;
        if (attempt < 2 && isUndone) continue;
        // Tables are gone where others took their place.
        if (isGone(error) && (await catalog.renewed(current))) return jobs.map(() => ({ kind: 'stale' }));
        throw error instanceof NotBegun ? error.cause : error;
      }
    }
  };

  const runSome = async (some: readonly Waiting[]): Promise<void> => {
    const current = catalog.current();
    const judged = some.filter(({ judgedBy, resolve }) => {
      if (judgedBy === current) return true;
      resolve({ kind: 'stale' });
      return false;
    });
    if (judged.length === 0) return;
    try {
      const results = await runJobs(
        judged.map(({ job }) => job),
        current,
      );
      judged.forEach(({ resolve, reject }, index) => {
        const result = results[index] as UpdateResult;
        if (result.kind === 'fault') reject(result.error);
        else resolve(result);
      });
    } catch (error) {
      if (isUnavailable(error)) {
        const unavailable = new Unavailable('the database cannot be written now', { cause: error });
        for (const { reject } of judged) reject(unavailable);
      } else if (judged.length === 1) {
        const [{ job, resolve, reject }] = judged as [Waiting];
        const refused = takenBy(error, current, job, writable);
        if (refused === null) reject(error);
        else resolve(refused);
      }
      // One of them fails, which should not happen: each for itself, so that the others do not fail with it.
      else for (const each of judged) await runSome([each]);
    }
  };

  const send = (): void => {
    const { batch, lanes } = isDistributed(catalog.current()) ? ONE_BY_ONE : TOGETHER;
    while (busy < lanes && waiting.length > 0) {
      const some = waiting.slice(0, batch);
      waiting = waiting.slice(batch);
      busy++;
      void runSome(some).finally(() => {
        busy--;
        send();
      });
    }
    if (busy === 0 && waiting.length === 0) closed?.();
  };

  return {
    update: (job) =>
      new Promise((resolve, reject) => {
        if (closed !== null) {
          reject(new Unavailable('the database is closed'));
          return;
        }
        waiting.push({ job, judgedBy: catalog.current(), resolve, reject });
        // A turn of the event loop later, so that requests that arrived together share the commit.
        if (waiting.length === 1) setImmediate(send);
      }),
    close: () =>
      new Promise((resolve) => {
        closed = resolve;
        send();
      }),
  };
}

function isDistributed({ apps }: VersionedCatalog): boolean {
  return apps.values().some(({ distributed }) => distributed);
}

/** The connection was lost before anything was written. */
class NotBegun extends Error {}

/** What an update is refused for whose value of a unique field another record has; null for any other error. */
function takenBy(
  error: unknown,
  current: VersionedCatalog,
  { appCode, change }: UpdateJob,
  writable: (registered: RegisteredApp) => WritableApp,
): Updated | null {
  const registered = current.apps.get(appCode);
  if (registered === undefined || !isClash(error)) return null;
  const { form } = writable(registered).table.layout;
  const { constraint_name: index } = error as { constraint_name?: string };
  const column = form.columns.find((candidate) => candidate.unique !== null && candidate.unique === index);
  if (column === undefined) return null;
  const { id } = column.field;
  return { kind: 'refused', problems: [notUnique(id, change.values.get(id) ?? '')] };
}

interface FoundAll {
  readonly version: string;
  /** By app code and primary key. */
  readonly stored: ReadonlyMap<string, ReadonlyMap<string, StoredRecord>>;
}

/** Finds and locks the records of the jobs, app by app; then the version of the catalog. */
async function findAll(
  on: Connection,
  current: VersionedCatalog,
  jobs: readonly UpdateJob[],
  writable: (registered: RegisteredApp) => WritableApp,
): Promise<FoundAll> {
  const codes = [...new Set(jobs.map(({ appCode }) => appCode))].sort();
  try {
    const finding = codes.map(async (code) => {
      const registered = current.apps.get(code);
      if (registered === undefined) return [code, new Map()] as const;
      const keys = new Set(jobs.flatMap((job) => (job.appCode === code ? [job.change.primaryKey] : [])));
      const { table } = writable(registered);
      const position = table.layout.form.columns.findIndex(({ field }) => field === registered.app.primaryKey);
      const records = await table.findForUpdate(on, [...keys]);
      return [code, new Map(records.map((record) => [record.values[position] as string, record]))] as const;
    });
    const [found, version] = await Promise.all([Promise.all(finding), catalogVersion(on)]);
    return { version, stored: new Map(found) };
  } catch (error) {
    throw isLost(error) ? new NotBegun('the connection was lost', { cause: error }) : error;
  }
}

interface FileWork {
  /** Job → those of the files it names anew that its app has. */
  readonly known: ReadonlyMap<UpdateJob, ReadonlySet<string>>;
  /** Record → by table of the form, its rows; of the records whose rows a job changes. */
  readonly rows: ReadonlyMap<StoredRecord, (readonly Values[])[]>;
}

/** Looks up what the jobs with files need to know beside their records. */
async function findFileWork(
  on: Connection,
  current: VersionedCatalog,
  jobs: readonly UpdateJob[],
  found: FoundAll['stored'],
  writable: (registered: RegisteredApp) => WritableApp,
): Promise<FileWork> {
  const known = new Map<UpdateJob, ReadonlySet<string>>();
  const rows = new Map<StoredRecord, (readonly Values[])[]>();
  const seen = new Set<StoredRecord>();
  for (const job of jobs) {
    const registered = current.apps.get(job.appCode);
    const stored = found.get(job.appCode)?.get(job.change.primaryKey);
    if (registered === undefined || stored === undefined) continue;
    // What the job before it leaves the record with is not known yet.
    const isFirst = !seen.has(stored);
    seen.add(stored);
    if (job.change.files === null) continue;
    const { id, table } = writable(registered);
    known.set(job, await useFiles(on, id, namedAnew(table.layout, isFirst ? stored : null, job.change)));
    if (job.change.files.rows.length === 0 || rows.has(stored)) continue;
    const reading = table.layout.tables.map((_, index) => table.rows(on, index, [stored.seq]));
    rows.set(
      stored,
      (await Promise.all(reading)).map((of) => of.get(stored.seq) ?? []),
    );
  }
  return { known, rows };
}

interface WrittenApp {
  /** By place. */
  readonly records: Map<number, WrittenRecord>;
  readonly paired: Set<number>;
  readonly versions: KeptVersion[];
  readonly rows: { readonly index: number; readonly seq: number; readonly row: number; readonly derived: Derived }[];
  readonly files: NewFile[];
  /** What its webhooks are told; empty where it has none. */
  readonly told: Told[];
}

/** What the jobs make of the records, one after the other. */
function changeAll(
  jobs: readonly UpdateJob[],
  current: VersionedCatalog,
  found: Pick<FoundAll, 'stored'> & FileWork,
  writable: (registered: RegisteredApp) => WritableApp,
  at: string,
): { readonly results: readonly UpdateResult[]; readonly written: ReadonlyMap<WritableApp, WrittenApp> } {
  const written = new Map<WritableApp, WrittenApp>();
  const newest = new Map<StoredRecord, StoredRecord>();
  const context = { userName: (id: string) => current.users.get(id)?.name ?? '' };
  const results = jobs.map((job): UpdateResult => {
    const registered = current.apps.get(job.appCode);
    if (registered === undefined || registered.version !== job.version) return { kind: 'stale' };
    const first = found.stored.get(job.appCode)?.get(job.change.primaryKey);
    if (first === undefined) return { kind: 'unknown_record' };
    const stored = newest.get(first) ?? first;
    const app = writable(registered);
    const known = found.known.get(job) ?? new Set();
    const rowsOfRecord = found.rows.get(first);
    const changed = app.change(stored, job, at, { known, rows: (index) => rowsOfRecord?.[index] ?? [] });
    if ('kind' in changed) return changed;
    const { values } = changed;
    const derived = app.derive(values, context);
    const { seq, revision } = stored;
    let work = written.get(app);
    if (work === undefined) {
      work = { records: new Map(), paired: new Set(), versions: [], rows: [], files: [], told: [] };
      written.set(app, work);
    }
    work.files.push(...(job.change.files?.added ?? []));
    for (const { table: index, row, values: rowValues } of changed.rows) {
      work.rows.push({ index, seq, row, derived: (app.deriveRow[index] as Derive)(rowValues, context) });
      // For the next job on the record.
      if (rowsOfRecord !== undefined) rowsOfRecord[index] = (rowsOfRecord[index] ?? []).with(row - 1, rowValues);
    }
    const version = versionText(app.table.layout, stored, changed.before);
    work.versions.push({ seq, revision, userId: job.userId, at, version });
    if (tokensDiffer(app.table.layout.form, stored.values, values)) work.paired.add(seq);
    if (app.webhooks.length > 0) {
      const { primaryKey } = job.change;
      work.told.push({ event: 'update', seq, revision: revision + 1, primaryKey, userId: job.userId, at });
    }
    work.records.set(seq, { seq, revision: revision + 1, derived });
    newest.set(first, { seq, revision: revision + 1, values });
    return { kind: 'updated', entries: app.renderFull(values, context) };
  });
  return { results, written };
}
