// Applies updates: those that wait together in one transaction, each whole, answered after the commit (D29, D31).
import { recordRenderer } from '../../envelope/record.ts';
import { layoutOf } from '../../sql/layout.ts';
import { type Changer, changer, type JobResult, type UpdateJob } from '../changed.ts';
import { now } from '../clock.ts';
import { namedAnew } from '../files.ts';
import type { Catalog, RegisteredApp, Updated } from '../store.ts';
import { catalogReader } from './catalog.ts';
import { beginWriting, type Connection, isUnavailable } from './connection.ts';
import { type FileTable, fileTable } from './files.ts';
import { type RecordTable, recordTable } from './record-table.ts';

export interface Writer {
  /** Runs the jobs in their order and commits; throws where nothing could be committed. */
  run(jobs: readonly UpdateJob[]): readonly JobResult[];
  keysUsed(uses: ReadonlyMap<number, string>): void;
}

interface WritableApp {
  readonly id: number;
  readonly files: FileTable;
  readonly table: RecordTable;
  readonly renderFull: ReturnType<typeof recordRenderer>['full'];
  readonly change: Changer;
}

/** A writer on a connection of its own. */
export function writerOn(db: Connection): Writer {
  const catalog = catalogReader(db);
  const files = fileTable(db);
  let apps = new WeakMap<RegisteredApp, WritableApp>();
  const changed = new Set<WritableApp>();
  const commit = db.prepare('commit');
  const writable = (registered: RegisteredApp): WritableApp => {
    let app = apps.get(registered);
    if (app === undefined) {
      const layout = layoutOf(registered.app, registered.id, registered.generation);
      app = {
        id: registered.id,
        files,
        table: recordTable(db, layout),
        renderFull: recordRenderer(registered.app).full,
        change: changer(layout),
      };
      apps.set(registered, app);
    }
    return app;
  };

  const runJob = (job: UpdateJob, current: Catalog, at: string): JobResult => {
    const registered = current.apps.get(job.appCode);
    const stale = registered === undefined || registered.version !== job.version;
    if (stale) return { kind: 'stale' };
    const app = writable(registered);
    changed.add(app);
    return applyChange(app, current, job, at);
  };

  const runTogether = (jobs: readonly UpdateJob[]): readonly JobResult[] => {
    beginWriting(db);
    try {
      const current = catalog.current();
      const at = now();
      const results = jobs.map((job) => runJob(job, current, at));
      for (const { table } of changed) table.settle();
      changed.clear();
      commit.run();
      return results;
    } catch (error) {
      if (db.inTransaction) db.exec('rollback');
      apps = new WeakMap();
      changed.clear();
      throw error;
    }
  };

  return {
    run(jobs) {
      try {
        return runTogether(jobs);
      } catch (error) {
        if (jobs.length === 1 || isUnavailable(error)) throw error;
      }
      // One of them fails, which should not happen: each for itself, so that the others do not fail with it. A savepoint for
      // each would find it at once, but makes the pair index write to disk at every one of them.
      return jobs.map((job) => {
        try {
          return runTogether([job])[0] as JobResult;
        } catch (error) {
          return { kind: 'fault', error };
        }
      });
    },
    keysUsed(uses) {
      const note = db.prepare('update keys set last_used_at = ? where id = ?');
      db.transaction(() => {
        for (const [id, at] of uses) note.run(at, id);
      }).immediate();
    },
  };
}

function applyChange(
  { id, files, table, renderFull, change }: WritableApp,
  catalog: Catalog,
  job: UpdateJob,
  at: string,
): Updated {
  const stored = table.find(job.change.primaryKey);
  if (stored === null) return { kind: 'unknown_record' };
  const known = files.use(id, namedAnew(table.layout, stored, job.change));
  const changed = change(stored, job, at, { known, rows: (index) => table.rows(index, stored.seq) });
  if ('kind' in changed) return changed;
  const { values, rows, before } = changed;
  const context = { userName: (userId: string) => catalog.users.get(userId)?.name ?? '' };
  files.add(id, job.change.files?.added ?? []);
  table.keepVersion(stored, job.userId, at, before);
  table.update(stored, values, stored.revision + 1, context);
  for (const { table: index, row, values: rowValues } of rows) {
    table.updateRow(index, stored.seq, row, rowValues, context);
  }
  return { kind: 'updated', entries: renderFull(values, context) };
}
