// Applies updates: those that wait together in one transaction, each whole, answered after the commit (D29, D31).
import { SYSTEM_FIELDS } from '../../app/app.ts';
import { recordRenderer } from '../../envelope/record.ts';
import { layoutOf } from '../../sql/layout.ts';
import type { Change } from '../../update/change.ts';
import type { Catalog, RegisteredApp, Updated } from '../store.ts';
import { catalogReader } from './catalog.ts';
import { now } from './clock.ts';
import type { Connection } from './connection.ts';
import { type RecordTable, recordTable } from './record-table.ts';

export interface UpdateJob {
  readonly appCode: string;
  /** Version of the definition that the change was parsed against. */
  readonly version: number;
  readonly change: Change;
  readonly userId: string;
}

/** What became of a job, or the fault that hit it. */
export type JobResult = Updated | { readonly kind: 'fault'; readonly error: unknown };

export interface Writer {
  /** Runs the jobs in their order and commits; throws where nothing could be committed. */
  run(jobs: readonly UpdateJob[]): readonly JobResult[];
  keysUsed(uses: ReadonlyMap<number, string>): void;
}

interface WritableApp {
  readonly table: RecordTable;
  readonly renderFull: ReturnType<typeof recordRenderer>['full'];
  readonly positions: ReadonlyMap<string, number>;
}

/** A writer on a connection of its own. */
export function writerOn(db: Connection): Writer {
  const catalog = catalogReader(db);
  let apps = new WeakMap<RegisteredApp, WritableApp>();
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const savepoint = db.prepare('savepoint job');
  const release = db.prepare('release job');
  const undo = db.prepare('rollback to job');

  const writable = (registered: RegisteredApp): WritableApp => {
    let app = apps.get(registered);
    if (app === undefined) {
      const layout = layoutOf(registered.app, registered.id, registered.generation);
      app = {
        table: recordTable(db, layout),
        renderFull: recordRenderer(registered.app).full,
        positions: new Map(layout.form.columns.map(({ field }, position) => [field.id, position])),
      };
      apps.set(registered, app);
    }
    return app;
  };

  const runJob = (job: UpdateJob, current: Catalog, at: string): JobResult => {
    savepoint.run();
    try {
      const registered = current.apps.get(job.appCode);
      const stale = registered === undefined || registered.version !== job.version;
      return stale ? { kind: 'stale' } : applyChange(writable(registered), current, job, at);
    } catch (error) {
      undo.run();
      return { kind: 'fault', error };
    } finally {
      if (db.inTransaction) release.run();
    }
  };

  return {
    run(jobs) {
      begin.run();
      try {
        const current = catalog.current();
        const at = now();
        const results = jobs.map((job) => runJob(job, current, at));
        commit.run();
        return results;
      } catch (error) {
        if (db.inTransaction) db.exec('rollback');
        apps = new WeakMap();
        throw error;
      }
    },
    keysUsed(uses) {
      const note = db.prepare('update keys set last_used_at = ? where id = ?');
      db.transaction(() => {
        for (const [id, at] of uses) note.run(at, id);
      }).immediate();
    },
  };
}

function applyChange({ table, renderFull, positions }: WritableApp, catalog: Catalog, job: UpdateJob, at: string): Updated {
  const { change, userId } = job;
  const stored = table.find(change.primaryKey);
  if (stored === null) return { kind: 'unknown_record' };
  const revision = String(stored.revision);
  if (change.revision !== null && change.revision !== revision) return { kind: 'revision_conflict', revision };
  const values = [...stored.values];
  for (const [id, value] of change.values) values[positions.get(id) as number] = value;
  const [, , updatingUser, updateTime] = SYSTEM_FIELDS;
  values[positions.get(updatingUser) as number] = userId;
  values[positions.get(updateTime) as number] = at;
  const context = { userName: (id: string) => catalog.users.get(id)?.name ?? '' };
  table.keepVersion(stored, userId, at);
  table.update(stored, values, stored.revision + 1, context);
  return { kind: 'updated', entries: renderFull(values, context) };
}
