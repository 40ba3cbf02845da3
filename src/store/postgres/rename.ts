// Renders the records again that show a user whose name changed (D40), some at a time, so that updates come in between.
import { layoutOf } from '../../sql/layout.ts';
import { deriver } from '../derive.ts';
import type { Progress } from '../register.ts';
import { currentNames } from './build.ts';
import { readCatalog } from './catalog.ts';
import { noteChanges, passGate } from './changes.ts';
import { type Connection, type Pool, rowsOf, run } from './connection.ts';
import { recordTable } from './record-table.ts';

/** Records looked at in one transaction. */
const BATCH = 500;

/** Notes that the records of every app are to be looked at; in the transaction that changes the name. */
export async function startRename(tx: Connection, userId: string): Promise<void> {
  await run(
    tx,
    `insert into renames (user_id, app_id, position) select $1, id, 0 from apps
     on conflict (user_id, app_id) do update set position = 0`,
    [userId],
  );
}

/** Users whose records are not all rendered again yet. */
export async function pendingRenames(pool: Pool): Promise<readonly string[]> {
  return (await rowsOf<[string]>(pool, 'select distinct user_id from renames')).map(([id]) => id);
}

/**
 * Looks at what is left, app by app. What is being loaded into an empty app cannot be looked at yet, and may have the name from
 * before: it is left to the end of the load.
 */
export async function continueRename(pool: Pool, schema: string, userId: string, progress: Progress): Promise<void> {
  let done = 0;
  for (;;) {
    const looked = await pool.begin(async (tx) => {
      const [row] = await rowsOf<[number, string]>(
        tx,
        `select app_id, position from renames where user_id = $1
         and app_id not in (select app_id from builds where kind = 'import') limit 1 for update`,
        [userId],
      );
      if (row === undefined) return null;
      const [appId, position] = row;
      // Tables are switched before this commit or after it.
      await passGate(tx, schema, appId);
      return renderSome(pool, tx, userId, appId, Number(position));
    });
    if (looked === null) return;
    done += looked;
    progress(done, 0);
  }
}

async function renderSome(
  pool: Pool,
  tx: Connection,
  userId: string,
  appId: number,
  position: number,
): Promise<number> {
  const { apps, building } = await readCatalog(pool);
  const registered = [...apps.values()].find(({ id }) => id === appId);
  const finish = async () => {
    await run(tx, 'delete from renames where user_id = $1 and app_id = $2::int', [userId, appId]);
    return 0;
  };
  if (registered === undefined) return finish();
  const layout = layoutOf(registered.app, registered.id, registered.generation, registered.distributed);
  const table = recordTable(layout);
  const records = await table.after(tx, position, BATCH, true);
  const last = records.at(-1);
  if (last === undefined) return finish();
  const [creator, updater] = [registered.app.fields.length, registered.app.fields.length + 2];
  const shown = records.filter(({ values }) => values[creator] === userId || values[updater] === userId);
  const derive = deriver(layout, null);
  const context = await currentNames(tx);
  const written = shown.map(({ seq, revision, values }) => ({ seq, revision, derived: derive(values, context) }));
  await table.update(tx, written, new Set());
  const places = written.map(({ seq }) => seq);
  if (building.has(appId)) await noteChanges(tx, appId, places);
  await run(tx, 'update renames set position = $1::bigint where user_id = $2 and app_id = $3::int', [
    last.seq,
    userId,
    appId,
  ]);
  return records.length;
}
