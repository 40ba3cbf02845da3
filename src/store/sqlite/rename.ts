// Renders the records again that show a user whose name changed (D40), some at a time, so that updates come in between.
import { recordRenderer } from '../../envelope/record.ts';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import type { Progress } from '../register.ts';
import { currentNames, IS_FILL } from './build.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, pauseWriting, writing } from './connection.ts';
import { recordTable } from './record-table.ts';

/** Records looked at in one transaction. */
const BATCH = 1_000;

/** Notes that the records of every app are to be looked at; in the transaction that changes the name. */
export function startRename(db: Connection, userId: string): void {
  db.prepare('insert or replace into renames (user_id, app_id, position) select ?, id, 0 from apps').run(userId);
}

/** Users whose records are not all rendered again yet. */
export function pendingRenames(db: Connection): readonly string[] {
  return db.prepare('select distinct user_id from renames').pluck().all() as string[];
}

/**
 * Looks at what is left, app by app. What is being loaded into an empty app cannot be looked at yet, and may have the name from
 * before: it is left to the end of the load.
 */
export function continueRename(db: Connection, userId: string, progress: Progress): void {
  let done = 0;
  const left = db.prepare(
    `select app_id, position from renames where user_id = ?
     and app_id not in (select app_id from builds where ${IS_FILL}) limit 1`,
  );
  for (;;) {
    const looked = writing(db, () => {
      const row = left.get(userId) as { app_id: number; position: number } | undefined;
      return row === undefined ? null : renderSome(db, userId, row.app_id, row.position);
    });
    if (looked === null) return;
    pauseWriting();
    done += looked;
    progress(done, 0);
  }
}

function renderSome(db: Connection, userId: string, appId: number, position: number): number {
  const registered = [...catalogReader(db).current().apps.values()].find(({ id }) => id === appId);
  const finish = () => db.prepare('delete from renames where user_id = ? and app_id = ?').run(userId, appId);
  if (registered === undefined) {
    finish();
    return 0;
  }
  const layout = layoutOf(registered.app, registered.id, registered.generation);
  const context = currentNames(db);
  const render = recordRenderer(registered.app).listed;
  const records = recordTable(db, layout).after(position, BATCH);
  const write = db.prepare(`update ${quote(layout.form.name)} set pms_answer = ? where pms_seq = ?`);
  const [creator, , updater] = [registered.app.fields.length, 0, registered.app.fields.length + 2];
  for (const { seq, values } of records) {
    if (values[creator] === userId || values[updater] === userId) write.run(render(values, context), seq);
  }
  const last = records.at(-1);
  if (last === undefined) finish();
  else db.prepare('update renames set position = ? where user_id = ? and app_id = ?').run(last.seq, userId, appId);
  return records.length;
}
