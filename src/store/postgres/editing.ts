// Runs edits, each in a transaction of its own or many in one (D39).

import { Undone } from '../../errors.ts';
import type { EditJob } from '../changed.ts';
import { type RegisteredApp, type TogetherEdits, Unavailable, type Written } from '../store.ts';
import { jobsOf } from '../together.ts';
import { catalogVersion, type VersionedCatalog } from './catalog.ts';
import { passGate } from './changes.ts';
import {
  type Connection,
  isClash,
  isGone,
  isLost,
  isUnavailable,
  PENDING,
  type Place,
  type Pool,
  run,
} from './connection.ts';
import { type RecordEditor, recordEditor } from './edit.ts';
import { type BatchEditor, batchEditor } from './edit-batch.ts';
import type { LiveCatalog } from './live-catalog.ts';
import type { Replicas } from './replicas.ts';

/** How often an edit is begun again whose transaction was undone because another one was first. */
const ATTEMPTS = 4;

interface Editors {
  readonly one: RecordEditor;
  readonly batch: BatchEditor;
}

export interface Editing {
  edit(job: EditJob): Promise<Written>;
  /** Many in one transaction. */
  together(app: RegisteredApp, userId: string, edits: TogetherEdits): Promise<'done' | 'stale'>;
  /** Resolves when those under way are done. */
  close(): Promise<void>;
}

export function openEditing(
  { schema }: Place,
  pool: Pool,
  catalog: LiveCatalog,
  notes: Pick<Replicas, 'wrote' | 'committed'>,
): Editing {
  const editors = new WeakMap<RegisteredApp, Editors>();
  const underway = new Set<Promise<unknown>>();
  let isClosed = false;

  const editorsOf = (registered: RegisteredApp): Editors => {
    let known = editors.get(registered);
    if (known === undefined) {
      const one = recordEditor(registered);
      known = { one, batch: batchEditor(registered, one) };
      editors.set(registered, known);
    }
    return known;
  };

  /** Passes the app's gate; false, and the transaction is undone, where the catalog is another by now. */
  const passes = async (on: Connection, { id }: RegisteredApp, current: VersionedCatalog): Promise<boolean> => {
    await passGate(on, schema, id);
    if ((await catalogVersion(on)) === current.version) return true;
    await run(on, 'rollback');
    await catalog.renewed(current);
    return false;
  };

  const runEdit = async (job: EditJob, current: VersionedCatalog): Promise<Written> => {
    const registered = current.apps.get(job.appCode);
    if (registered === undefined || registered.version !== job.version) return { kind: 'stale' };
    const on = await pool.reserve();
    try {
      await run(on, 'begin');
      if (!(await passes(on, registered, current))) return { kind: 'stale' };
      const written = await editorsOf(registered).one.run(on, schema, job, current);
      const noted = await notes.wrote(on, [job.userId]);
      await run(on, 'commit');
      await notes.committed(noted, [job.userId]);
      return written;
    } catch (error) {
      await run(on, 'rollback').catch(() => {});
      throw error;
    } finally {
      on.release();
    }
  };

  const runTogether = async (
    registered: RegisteredApp,
    userId: string,
    edits: TogetherEdits,
    current: VersionedCatalog,
  ): Promise<'done' | 'stale'> => {
    if (current.apps.get(registered.app.code) !== registered) return 'stale';
    const on = await pool.reserve();
    try {
      await run(on, 'begin');
      await run(on, `set local statement_timeout = 0; set local gin_pending_list_limit = ${PENDING.many}`);
      if (!(await passes(on, registered, current))) return 'stale';
      const { batch } = editorsOf(registered);
      for await (const jobs of jobsOf(registered, userId, edits, () => false)) {
        edits.written(await batch.run(on, schema, jobs, current));
      }
      if (!edits.commits()) {
        await run(on, 'rollback');
        return 'done';
      }
      const noted = await notes.wrote(on, [userId]);
      await run(on, 'commit');
      await notes.committed(noted, [userId]);
      return 'done';
    } catch (error) {
      await run(on, 'rollback').catch(() => {});
      if (isClash(error)) throw new Undone('another write was first', { cause: error });
      if (isUnavailable(error)) throw new Unavailable('the database cannot be written now', { cause: error });
      throw error;
    } finally {
      on.release();
    }
  };

  const edit = async (job: EditJob): Promise<Written> => {
    const current = catalog.current();
    for (let attempt = 1; ; attempt++) {
      try {
        return await runEdit(job, current);
      } catch (error) {
        // Somebody else put the same value or key in first, or both waited for each other: it is judged again.
        if (attempt < ATTEMPTS && isClash(error)) continue;
        if (isGone(error) && (await catalog.renewed(current))) return { kind: 'stale' };
        if (!isUnavailable(error) && !isLost(error)) throw error;
        throw new Unavailable('the database cannot be written now', { cause: error });
      }
    }
  };

  const counted = <T>(begin: () => Promise<T>): Promise<T> => {
    if (isClosed) return Promise.reject(new Unavailable('the database is closed'));
    const editing = begin();
    const settled = editing.catch(() => {}).finally(() => underway.delete(settled));
    underway.add(settled);
    return editing;
  };

  return {
    edit: (job) => counted(() => edit(job)),
    together: (app, userId, edits) => counted(() => runTogether(app, userId, edits, catalog.current())),
    async close() {
      isClosed = true;
      await Promise.all(underway);
    },
  };
}
