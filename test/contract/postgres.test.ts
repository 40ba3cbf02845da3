// The store on PostgreSQL passes the contract, and misses no change of tables.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { beginNotes, noteChanges, takeNotes } from '../../src/store/postgres/changes.ts';
import { openPool } from '../../src/store/postgres/connection.ts';
import { openPostgresRegister } from '../../src/store/postgres/postgres-register.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { freshDatabase } from '../harness/database.ts';
import { appOf, putRecords } from '../harness/running.ts';
import { appIn, changeFor, recordsFor, update } from './asking.ts';
import { type Bench, storeContract } from './store.ts';

interface PostgresBench extends Bench {
  query(text: string): Promise<unknown>;
}

async function postgresBench(): Promise<PostgresBench> {
  const database = await freshDatabase();
  const place = { url: database.url, schema: 'daicho' };
  const register = await openPostgresRegister(place);
  return {
    register,
    query: database.query,
    openStore: () => openPostgresStore({ ...place, readUrls: [], connections: 3, timeout: 60_000 }),
    async isAtRest() {
      const [[count] = []] = await database.query(
        `select count(*)::int from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      );
      return count === 0;
    },
    async remove() {
      await register.close();
      await database.drop();
    },
  };
}

storeContract('PostgreSQL', postgresBench);

test('tables that were switched and dropped before the store has heard of it are asked for again', async (t) => {
  const bench = await postgresBench();
  const { app, source } = appOf('code: A\nfields: [{ id: a_primarykey, type: id }, { id: t, type: text }]');
  await bench.register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await bench.register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await putRecords(bench.register, 'A', [{ t: 'x' }]);
  const store = await bench.openStore();
  t.after(() => store.close().finally(bench.remove));
  let { id, generation } = appIn(store, 'A');
  /** As a build does, but without its notice. */
  const renameTable = () =>
    bench.query(`begin;
      alter table app_${id}_${generation} rename to app_${id}_${++generation};
      update apps set generation = generation + 1, version = version + 1;
      update settings set value = (value::bigint + 1)::text where name = 'catalog_version';
      commit`);
  const seen = appIn(store, 'A');
  await renameTable();
  const { kind } = await store.update(seen, changeFor(seen.app, { a_primarykey: '1', t: 'y' }), 'sato');
  assert.equal(kind, 'stale');
  assert.equal((await update(store, 'A', { a_primarykey: '1', t: 'y' })).kind, 'updated');
  await renameTable();
  assert.equal((await recordsFor(store, 'A', {}))[0]?.t.value, 'y');
});

test('the note of a change is not taken before the change is committed, also where an earlier one had noted it', async (t) => {
  const database = await freshDatabase();
  const pool = openPool({ url: database.url, schema: 'public' }, { max: 3, timeout: 30_000 });
  t.after(() => pool.end({ timeout: 0 }).finally(database.drop));
  await pool.begin(async (tx) => {
    await beginNotes(tx, 1);
    await noteChanges(tx, 1, [7, 5]);
  });
  let isTaken = false;
  const change = Promise.withResolvers<void>();
  const noted = Promise.withResolvers<void>();
  const changing = pool.begin(async (tx) => {
    await noteChanges(tx, 1, [6, 5]);
    noted.resolve();
    await change.promise;
  });
  await noted.promise;
  const taking = pool
    .begin((tx) => takeNotes(tx, 1, 2))
    .finally(() => {
      isTaken = true;
    });
  await wait(200);
  const before = isTaken;
  change.resolve();
  await changing;
  assert.equal(before, false);
  assert.ok((await taking).includes(5));
  const left = await pool.begin((tx) => takeNotes(tx, 1, 9));
  assert.deepEqual(new Set([...(await taking), ...left]), new Set([5, 6, 7]));
});
