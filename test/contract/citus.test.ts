// A register made for Citus, on one PostgreSQL: Citus's rules for its tables hold, and it passes the contract of every store.
// No Citus is at hand here. What stands in for it is its function that spreads a table, which notes the tables and their columns.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openPostgresRegister } from '../../src/store/postgres/postgres-register.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Register } from '../../src/store/register.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';
import { appOf, putRecords } from '../harness/running.ts';
import { storeContract } from './store.ts';

/** Refuses, as Citus does, a table with rows in it that came before, and a column that is not there. */
const CITUS = `
  create schema daicho;
  create table daicho.spread (name text primary key, part name not null);
  create function daicho.create_distributed_table(spread_table regclass, part text) returns void language plpgsql as $$
  begin
    if not exists (select from pg_attribute where attrelid = spread_table and attname = part) then
      raise exception 'no column % in %', part, spread_table;
    end if;
    insert into daicho.spread values (spread_table::text, part);
  end $$;
`;

async function spreadDatabase(): Promise<{
  database: FreshDatabase;
  place: { url: string; schema: string; distribute: true };
}> {
  const database = await freshDatabase();
  const { url } = database;
  await database.query(CITUS.replaceAll('\n', ' '));
  return { database, place: { url, schema: 'daicho', distribute: true } };
}

storeContract('PostgreSQL, spread as for Citus', async () => {
  const { database, place } = await spreadDatabase();
  const register = await openPostgresRegister(place);
  return {
    register,
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
});

describe("Citus's rules for tables", () => {
  let database: FreshDatabase;
  let register: Register;

  before(async () => {
    const made = await spreadDatabase();
    database = made.database;
    register = await openPostgresRegister(made.place);
    const { app, source } = appOf(`
code: A
fields: [{ id: a_primarykey, type: id, search: exact }, { id: t, type: text, search: partial }, { id: n, type: number, search: range }]
tables: [{ code: rows, fields: [{ id: r, type: text, search: partial }, { id: q, type: text, search: exact }] }]
`);
    await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
    await putRecords(register, 'A', [{ t: '東京', rows: [{ r: '部品', q: 'x' }] }]);
  });

  after(async () => {
    await register.close();
    await database.drop();
  });

  test('every table of records is spread, by the place of the record or, that of the keys, by the key', async () => {
    const tables = await database.query(`select relname from pg_class where relnamespace = 'daicho'::regnamespace
      and relkind = 'r' and relname ~ '^app_' order by 1`);
    const spread = await database.query(
      `select name, part from daicho.spread where to_regclass(name) is not null order by 1`,
    );
    assert.deepEqual(
      tables.map(([name]) => name),
      spread.map(([name]) => name),
    );
    for (const [name, part] of spread) {
      const expected = /_keys$/.test(String(name))
        ? 'key'
        : /_history$/.test(String(name))
          ? 'record'
          : /_t\d/.test(String(name))
            ? 'pms_record'
            : null;
      assert.ok(
        part === (expected ?? part) && ['key', 'record', 'pms_record', 'pms_seq', 'pms_id'].includes(String(part)),
        `${name} by ${part}`,
      );
    }
  });

  test('the columns by which tables are spread that belong together are of one type', async () => {
    const types = await database.query(`select distinct format_type(a.atttypid, a.atttypmod) from daicho.spread s
      join pg_attribute a on a.attrelid = to_regclass(s.name) and a.attname = s.part where s.part <> 'key'`);
    assert.deepEqual(types, [['bigint']]);
  });

  test('every unique index has the column by which its table is spread', async () => {
    const wrong = await database.query(`select i.indexrelid::regclass from pg_index i
      join daicho.spread s on to_regclass(s.name) = i.indrelid
      join pg_attribute a on a.attrelid = i.indrelid and a.attname = s.part
      where i.indisunique and not (a.attnum = any (i.indkey::int2[]))`);
    assert.deepEqual(wrong, []);
  });

  test('no foreign keys, no triggers, no serial or generated columns', async () => {
    const found = await database.query(`
      select 'foreign key', conname::text from pg_constraint c join daicho.spread s on to_regclass(s.name) in (c.conrelid, c.confrelid) where contype = 'f'
      union all select 'trigger', tgname::text from pg_trigger t join daicho.spread s on to_regclass(s.name) = t.tgrelid
      union all select 'column', attname::text from pg_attribute a join daicho.spread s on to_regclass(s.name) = a.attrelid
        where a.attidentity <> '' or a.attgenerated <> '' or a.atthasdef`);
    assert.deepEqual(found, []);
  });

  test('the primary key is unique in the app all the same', async () => {
    await assert.rejects(
      database.query(`insert into app_1_2_keys select key, 99 from app_1_2_keys`),
      (error: { code?: string }) => error.code === '23505',
    );
  });

  test('a register that is in one database is not taken for one that is spread', async () => {
    const plain = await freshDatabase();
    await (await openPostgresRegister({ url: plain.url, schema: 'daicho' })).close();
    await assert.rejects(openPostgresRegister({ url: plain.url, schema: 'daicho', distribute: true }), /daicho move/);
    await plain.drop();
  });

  test('a database without Citus is told apart from one with it', async () => {
    const plain = await freshDatabase();
    await assert.rejects(
      openPostgresRegister({ url: plain.url, schema: 'daicho', distribute: true }),
      /create extension citus/,
    );
    await plain.drop();
  });
});
