// Copies an app's records into a new generation of tables while the old one goes on serving, then switches over.
// Records changed meanwhile are noted (changes.ts) and copied again in the short transaction that switches.
import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../app/app.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Adopter, adopterOf } from '../adopt.ts';
import type { Build, BuildKind } from '../building.ts';
import { parseDefinition } from '../definition-text.ts';
import type { StoredRecord } from '../derive.ts';
import { Mistake, type Progress } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { catalogChanged } from './catalog.ts';
import { beginNotes, closeGate, endNotes, notedPlaces, takeNotes } from './changes.ts';
import { type Connection, type Pool, rowsOf, run } from './connection.ts';
import { takeNumbers } from './counters.ts';
import { type RecordTable, recordTable } from './record-table.ts';
import { indexStatements, tableNames, tableStatements } from './tables.ts';

/** Records in one transaction of a build. */
const BATCH = 1_000;
/** Changed records that the switching transaction may still have to copy. */
const FEW_CHANGED = 500;
/** Milliseconds after which hardly anybody reads the old generation any more. */
const GRACE = 1_000;
/** Milliseconds to wait for those who still read it, before it is left for later. */
const DROP_TIMEOUT = 5_000;

/** The unfinished build of an app, if there is one. */
export async function pendingBuild(on: Connection, appId: number): Promise<Build | null> {
  const [row] = await rowsOf<[number, string, string, BuildKind, string]>(
    on,
    'select generation, definition, source, kind, position from builds where app_id = $1::int',
    [appId],
  );
  if (row === undefined) return null;
  const [generation, definition, source, kind, position] = row;
  return { appId, generation, kind, source, position: Number(position), app: parseDefinition(definition) };
}

/** Begins a build: its tables, and the notes of what changes in the old ones. */
export async function beginBuild(
  pool: Pool,
  schema: string,
  registered: RegisteredApp,
  app: App,
  source: string,
  kind: BuildKind,
): Promise<Build> {
  const { id: appId } = registered;
  const generation = registered.generation + 1;
  await pool.begin(async (tx) => {
    await run(
      tx,
      `insert into builds (app_id, generation, definition, source, kind, position) values ($1::int, $2::int, $3, $4, $5, 0)`,
      [appId, generation, JSON.stringify(app), source, kind],
    );
    const layout = layoutOf(app, appId, generation, registered.distributed);
    for (const name of tableNames(layout)) await run(tx, `drop table if exists ${quote(name)}`);
    for (const statement of tableStatements(layout)) await run(tx, statement);
    // Whoever passes the gate behind us sees that the catalog is another, and that there is a build.
    await closeGate(tx, schema, appId);
    if (kind === 'import') await refuseRecords(tx, registered);
    await beginNotes(tx, appId);
    await catalogChanged(tx, schema);
  });
  return { appId, generation, kind, app, source, position: 0 };
}

/** An import that fills an empty app: nobody may have put a record in since that was looked at. */
async function refuseRecords(tx: Connection, { app, id, generation, distributed }: RegisteredApp): Promise<void> {
  const { form } = layoutOf(app, id, generation, distributed);
  if ((await rowsOf(tx, `select 1 from ${quote(form.name)} limit 1`)).length === 0) return;
  throw new Mistake(`records were put into ${app.code} meanwhile; run the same command again`);
}

/** Gives up a build: the old generation stays. */
export async function abandonBuild(
  pool: Pool,
  schema: string,
  { distributed }: RegisteredApp,
  build: Build,
): Promise<void> {
  await pool.begin(async (tx) => {
    await closeGate(tx, schema, build.appId);
    await endNotes(tx, build.appId);
    for (const name of tableNames(layoutOf(build.app, build.appId, build.generation, distributed))) {
      await run(tx, `drop table if exists ${quote(name)}`);
    }
    await run(tx, 'delete from builds where app_id = $1::int', [build.appId]);
    await catalogChanged(tx, schema);
  });
}

/** Copies what is left to copy and switches over. Imports have nothing to copy: their records were put into the new tables. */
export async function finishBuild(
  pool: Pool,
  schema: string,
  registered: RegisteredApp,
  build: Build,
  progress: Progress,
): Promise<void> {
  const { appId } = build;
  const old = recordTable(layoutOf(registered.app, appId, registered.generation, registered.distributed));
  const table = recordTable(layoutOf(build.app, appId, build.generation, registered.distributed));
  const adopter = adopterOf(old.layout, table.layout, build.kind === 'lossy');
  const copying: Copying = { appId, old, table, adopter };
  if (build.kind !== 'import') await copyRecords(pool, copying, build, progress);
  await makeIndexes(pool, table.layout);
  while ((await despiteStaleCopies(pool, copying, (tx) => copyChanged(tx, copying, BATCH))) > FEW_CHANGED);
  await pool.begin(async (tx) => {
    await closeGate(tx, schema, appId);
    await takeOutStaleCopies(tx, copying);
    while ((await copyChanged(tx, copying, BATCH)) > 0);
    await endNotes(tx, appId);
    await run(
      tx,
      'update apps set definition = $1, source = $2, version = version + 1, generation = $3::int where id = $4::int',
      [JSON.stringify(build.app), build.source, build.generation, appId],
    );
    await run(tx, 'delete from builds where app_id = $1::int', [appId]);
    for (const name of tableNames(old.layout)) {
      await run(tx, 'insert into dropped (name, at) values ($1, now()) on conflict (name) do update set at = now()', [
        name,
      ]);
    }
    await catalogChanged(tx, schema);
  });
  // What a load replaced was empty: whoever looks for old tables next drops it.
  if (build.kind === 'import') return;
  await delay(GRACE);
  await dropOldTables(pool);
}

/** Makes the search indexes of tables that were filled without them. */
export async function makeIndexes(pool: Pool, layout: Layout): Promise<void> {
  for (const statement of indexStatements(layout)) {
    await pool.begin(async (tx) => {
      await run(tx, `set local maintenance_work_mem = '256MB'`);
      await run(tx, statement);
    });
  }
  for (const name of tableNames(layout)) await run(pool, `vacuum (analyze) ${quote(name)}`);
}

/** Drops the tables of generations that nobody reads any more; those that are still read are left for later. */
export async function dropOldTables(pool: Pool): Promise<void> {
  const names = await rowsOf<[string]>(
    pool,
    `select name from dropped where at <= now() - interval '${GRACE} milliseconds'`,
  );
  for (const [name] of names) {
    try {
      await pool.begin(async (tx) => {
        await run(tx, `set local lock_timeout = ${DROP_TIMEOUT}`);
        await run(tx, `drop table if exists ${quote(name)}`);
        await run(tx, 'delete from dropped where name = $1', [name]);
      });
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error;
    }
  }
}

/** Notes how far a build has come. */
export async function notePosition(tx: Connection, appId: number, position: number): Promise<void> {
  await run(tx, 'update builds set position = $1::bigint where app_id = $2::int', [position, appId]);
}

/** Current names of users; locked, they stay so until the end of the transaction. */
export async function currentNames(on: Connection, lock: '' | ' for share' = ''): Promise<RenderContext> {
  const names = new Map(await rowsOf<[string, string]>(on, `select id, name from users${lock}`));
  return { userName: (id) => names.get(id) ?? '' };
}

interface Copying {
  readonly appId: number;
  readonly old: RecordTable;
  readonly table: RecordTable;
  readonly adopter: Adopter;
}

async function copyRecords(pool: Pool, copying: Copying, build: Build, progress: Progress): Promise<void> {
  const name = quote(copying.old.layout.form.name);
  const count = async (where: string) =>
    Number((await rowsOf<[string]>(pool, `select count(*) from ${name} ${where}`))[0]?.[0]);
  const total = await count('');
  let done = await count(`where pms_seq <= ${build.position}`);
  let position = build.position;
  for (let left = true; left; ) {
    await despiteStaleCopies(pool, copying, async (tx) => {
      const records = await copying.old.after(tx, position, BATCH);
      await copySome(tx, copying, records);
      await notePosition(tx, build.appId, records.at(-1)?.seq ?? position);
      position = records.at(-1)?.seq ?? position;
      done += records.length;
      left = records.length > 0;
    });
    progress(done, Math.max(total, done));
  }
}

/** Copies records as they are now into the new tables, which do not have them. */
async function copySome(tx: Connection, copying: Copying, records: readonly StoredRecord[]): Promise<void> {
  if (records.length === 0) return;
  const { appId, old, table, adopter } = copying;
  const context = await currentNames(tx);
  await table.insert(
    tx,
    records.map(({ seq, revision, values }) => ({ seq, revision, derived: adopter.record(values, context) })),
  );
  const places = records.map(({ seq }) => seq);
  for (const [index, { from, row }] of adopter.tables.entries()) {
    if (from < 0) continue;
    const found = await old.rows(tx, from, places);
    const count = [...found.values()].reduce((sum, rows) => sum + rows.length, 0);
    let id = await takeNumbers(tx, appId, 'row', count);
    const written = [...found].map(([seq, rows]) => ({
      seq,
      rows: rows.map((values) => ({ id: id++, derived: row(values, context) })),
    }));
    await table.insertRows(tx, index, written);
  }
}

/** Copies records that changed since they were copied; gives how many were done. */
async function copyChanged(tx: Connection, copying: Copying, limit: number): Promise<number> {
  // Numbers before notes, as who writes a record takes them.
  await takeNumbers(tx, copying.appId, 'row', 0);
  const places = await takeNotes(tx, copying.appId, limit);
  if (places.length === 0) return 0;
  await copying.table.remove(tx, places);
  await copySome(tx, copying, await copying.old.at(tx, places));
  return places.length;
}

/**
 * Does work in a transaction. What must be there once may still be in the copy of a record that has given it up since: then the
 * copies of all records that changed are taken out, to be copied again by their notes, and the work is done once more.
 */
async function despiteStaleCopies<T>(pool: Pool, copying: Copying, work: (tx: Connection) => Promise<T>): Promise<T> {
  try {
    return await pool.begin(work);
  } catch (error) {
    if ((error as { code?: string }).code !== '23505') throw error;
  }
  await pool.begin((tx) => takeOutStaleCopies(tx, copying));
  return pool.begin(work);
}

async function takeOutStaleCopies(tx: Connection, { appId, table }: Copying): Promise<void> {
  const places = await notedPlaces(tx, appId);
  if (places.length > 0) await table.remove(tx, places);
}
