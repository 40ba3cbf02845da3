// Records that change while a build copies them: whoever writes notes them, and the build copies them again. A gate, passed by
// many who write but closed by one who switches, sees to it that everybody who writes knows of the build.
import { quote } from '../../sql/sql.ts';
import { arrayText, type Connection, rowsOf, run } from './connection.ts';
import { lockOf } from './schema.ts';

/** Passes the gate of an app, until the end of the transaction; first of all, and before the catalog's version is looked at. */
export async function passGate(tx: Connection, schema: string, appId: number): Promise<void> {
  await run(tx, 'select pg_advisory_xact_lock_shared($1::int, $2::int)', gateOf(schema, appId));
}

/** Waits until nobody is past the gate, and lets nobody pass until the end of the transaction. */
export async function closeGate(tx: Connection, schema: string, appId: number): Promise<void> {
  await run(tx, 'select pg_advisory_xact_lock($1::int, $2::int)', gateOf(schema, appId));
}

function gateOf(schema: string, appId: number): readonly [number, number] {
  return [lockOf(`${schema} gate`), appId];
}

function changedTable(appId: number): string {
  return quote(`app_${appId}_changed`);
}

/** Begins to note; with the gate closed. */
export async function beginNotes(tx: Connection, appId: number): Promise<void> {
  await run(tx, `create table ${changedTable(appId)} (seq bigint primary key)`);
}

/** Notes no more; with the gate closed. */
export async function endNotes(tx: Connection, appId: number): Promise<void> {
  await run(tx, `drop table if exists ${changedTable(appId)}`);
}

/**
 * Notes records, by place, that a transaction writes while their app is being built. A note that is there already is written
 * again: nobody can take it away before the transaction has ended, and miss what it writes.
 */
export async function noteChanges(tx: Connection, appId: number, places: readonly number[]): Promise<void> {
  if (places.length === 0) return;
  const inOrder = [...places].sort((a, b) => a - b);
  const text = `insert into ${changedTable(appId)} (seq) select * from unnest($1::bigint[])
    on conflict (seq) do update set seq = excluded.seq`;
  await run(tx, text, [arrayText(inOrder)]);
}

/** Takes some of the noted places away, to copy them; waits for the transactions that have noted them. */
export async function takeNotes(tx: Connection, appId: number, limit: number): Promise<readonly number[]> {
  const changed = changedTable(appId);
  // In the order in which they are noted, so that no two wait for each other.
  const notes = await rowsOf<[string]>(tx, `select seq from ${changed} order by seq limit $1::int for update`, [limit]);
  const places = notes.map(([seq]) => Number(seq));
  if (places.length > 0) {
    await run(tx, `delete from ${changed} where seq = any($1::bigint[])`, [arrayText(places)]);
  }
  return places;
}

/** The places that are noted now; their notes stay. */
export async function notedPlaces(tx: Connection, appId: number): Promise<readonly number[]> {
  return (await rowsOf<[string]>(tx, `select seq from ${changedTable(appId)}`)).map(([seq]) => Number(seq));
}
