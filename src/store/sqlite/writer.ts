// Applies updates: those that wait together in one transaction, each whole, answered after the commit (D29, D31).
import { recordRenderer } from '../../envelope/record.ts';
import { layoutOf } from '../../sql/layout.ts';
import { type Changer, changer, type EditJob, type JobResult, type UpdateJob } from '../changed.ts';
import { now } from '../clock.ts';
import { notUnique, uniqueChanges } from '../edited.ts';
import { namedAnew } from '../files.ts';
import type { Catalog, RegisteredApp, Updated } from '../store.ts';
import { BEING_FILLED } from './build.ts';
import { catalogReader } from './catalog.ts';
import { beginWriting, type Connection, isUnavailable, writing } from './connection.ts';
import { type CountersOfApps, countersOfApps } from './counters.ts';
import { type EditableApp, type RecordEditor, recordEditor } from './edit.ts';
import { fileTable } from './files.ts';
import { recordTable } from './record-table.ts';
import { tellerOf } from './tell.ts';

export interface Writer {
  /** Runs the jobs in their order and commits; throws where nothing could be committed. */
  run(jobs: readonly (UpdateJob | EditJob)[]): readonly JobResult[];
  /** The same in a transaction that goes on until it is ended. */
  runOn(jobs: readonly EditJob[]): readonly JobResult[];
  /** Ends the transaction of `runOn`: commits it, or undoes it. */
  end(commits: boolean): void;
  keysUsed(uses: ReadonlyMap<number, string>): void;
}

/** A transaction under way. */
interface Underway {
  readonly current: Catalog;
  readonly at: string;
  readonly counters: CountersOfApps;
}

interface WritableApp extends EditableApp {
  readonly change: Changer;
  /** Made for the first edit. */
  editor: RecordEditor | null;
}

/** A writer on a connection of its own. */
export function writerOn(db: Connection): Writer {
  const catalog = catalogReader(db);
  const files = fileTable(db);
  let apps = new WeakMap<RegisteredApp, WritableApp>();
  const changed = new Set<WritableApp>();
  const commit = db.prepare('commit');
  const beingFilled = db.prepare(BEING_FILLED);
  const writable = (registered: RegisteredApp): WritableApp => {
    let app = apps.get(registered);
    if (app === undefined) {
      const layout = layoutOf(registered.app, registered.id, registered.generation);
      app = {
        id: registered.id,
        files,
        table: recordTable(db, layout),
        render: recordRenderer(registered.app),
        tell: tellerOf(db, registered),
        isBeingFilled: () => beingFilled.get(registered.id) !== undefined,
        change: changer(layout),
        editor: null,
      };
      apps.set(registered, app);
    }
    return app;
  };

  const runJob = (job: UpdateJob | EditJob, current: Catalog, at: string, counters: CountersOfApps): JobResult => {
    const registered = current.apps.get(job.appCode);
    const stale = registered === undefined || registered.version !== job.version;
    if (stale) return { kind: 'stale' };
    const app = writable(registered);
    changed.add(app);
    if ('change' in job) return applyChange(app, current, job, at);
    app.editor ??= recordEditor(app);
    const render = { userName: (id: string) => current.users.get(id)?.name ?? '' };
    const ofApp = counters.of(app.id);
    const undoCounting = ofApp.mark();
    const result = app.editor.run(job, { userId: job.userId, at, counters: ofApp }, render);
    if (result.kind !== 'updated') undoCounting();
    app.table.settle();
    return result;
  };

  const begin = (): Underway => {
    beginWriting(db);
    try {
      return { current: catalog.current(), at: now(), counters: countersOfApps(db) };
    } catch (error) {
      db.exec('rollback');
      throw error;
    }
  };
  const settleAll = ({ counters }: Underway): void => {
    for (const { table } of changed) table.settle();
    counters.save();
    changed.clear();
  };
  const undo = (): void => {
    if (db.inTransaction) db.exec('rollback');
    apps = new WeakMap();
    changed.clear();
  };
  let underway: Underway | null = null;

  const runTogether = (jobs: readonly (UpdateJob | EditJob)[]): readonly JobResult[] => {
    const { current, at, counters } = begin();
    try {
      const results = jobs.map((job) => runJob(job, current, at, counters));
      settleAll({ current, at, counters });
      commit.run();
      return results;
    } catch (error) {
      undo();
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
    runOn(jobs) {
      underway ??= begin();
      const { current, at, counters } = underway;
      try {
        return jobs.map((job) => runJob(job, current, at, counters));
      } catch (error) {
        underway = null;
        undo();
        throw error;
      }
    },
    end(commits) {
      if (underway === null) return;
      const ending = underway;
      underway = null;
      try {
        if (commits) {
          settleAll(ending);
          commit.run();
        }
      } finally {
        // Nothing is left of it where it was not committed.
        if (db.inTransaction) undo();
      }
    },
    keysUsed(uses) {
      const note = db.prepare('update keys set last_used_at = ? where id = ?');
      writing(db, () => {
        for (const [id, at] of uses) note.run(at, id);
      });
    },
  };
}

function applyChange(
  { id, files, table, render, tell, change }: WritableApp,
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
  const taken = uniqueChanges(table.layout, stored.values, values).filter(
    ({ fieldId, value }) => table.placeOf(fieldId, value) !== null,
  );
  if (taken.length > 0)
    return { kind: 'refused', problems: taken.map(({ fieldId, value }) => notUnique(fieldId, value)) };
  const context = { userName: (userId: string) => catalog.users.get(userId)?.name ?? '' };
  files.add(id, job.change.files?.added ?? []);
  table.keepVersion(stored, job.userId, at, before);
  table.update(stored, values, stored.revision + 1, context);
  for (const { table: index, row, values: rowValues } of rows) {
    table.updateRow(index, stored.seq, row, rowValues, context);
  }
  const { seq, revision } = stored;
  const { primaryKey } = job.change;
  tell?.({ event: 'update', seq, revision: revision + 1, primaryKey, userId: job.userId, at });
  return { kind: 'updated', entries: render.full(values, context) };
}
