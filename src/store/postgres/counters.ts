// The numbers that an app gives out: places, rows, primary keys and auto numbers; right from many processes at once.
import type { Layout } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { countersFrom } from '../source-records.ts';
import { arrayText, type Connection, rowsOf, run } from './connection.ts';

/** Counters of places and of rows; no field ID begins with a space. */
const NAMES = { place: ' place', row: ' row' } as const;

/** Takes so many numbers that follow each other; gives the first. */
export async function takeNumbers(
  tx: Connection,
  appId: number,
  what: keyof typeof NAMES,
  count: number,
): Promise<number> {
  const [row] = await rowsOf<[string]>(
    tx,
    `insert into counters as c (app_id, name, next) values ($1::int, $2, 1 + $3::bigint)
     on conflict (app_id, name) do update set next = c.next + $3::bigint returning next - $3::bigint`,
    [appId, NAMES[what], count],
  );
  return Number(row?.[0]);
}

/** Counts places on behind those of records and versions that came with places of their own. */
export async function placesPassed(tx: Connection, appId: number, { form, history }: Layout): Promise<void> {
  await run(
    tx,
    `insert into counters as c (app_id, name, next)
     select $1::int, $2, 1 + greatest((select max(pms_seq) from ${quote(form.name)}), (select max(record) from ${quote(history)}), 0)
     on conflict (app_id, name) do update set next = greatest(c.next, excluded.next)`,
    [appId, NAMES.place],
  );
}

/** Counters of an app, for whoever takes many of their numbers in one transaction: others wait until its end. */
export async function lockCounters(tx: Connection, appId: number): Promise<ReturnType<typeof countersFrom>> {
  // The counter of places stands for all: who takes numbers locks it first.
  await takeNumbers(tx, appId, 'place', 0);
  const rows = await rowsOf<[string, string]>(tx, 'select name, next from counters where app_id = $1::int', [appId]);
  const known = new Map(rows.map(([name, next]) => [name, Number(next)]));
  return countersFrom((name) => known.get(name));
}

/** Writes counters, in the transaction of the records that they were counted for. */
export async function saveCounters(
  tx: Connection,
  appId: number,
  counters: ReadonlyMap<string, number>,
): Promise<void> {
  if (counters.size === 0) return;
  await run(
    tx,
    `insert into counters as c (app_id, name, next) select $1::int, * from unnest($2::text[], $3::bigint[])
     on conflict (app_id, name) do update set next = greatest(c.next, excluded.next)`,
    [appId, arrayText([...counters.keys()]), arrayText([...counters.values()])],
  );
}
