// Connections to PostgreSQL that break: nothing goes on in another one that was meant for a transaction that is no more.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isLost, openPool, type Pool, rowsOf, run } from '../src/store/postgres/connection.ts';
import { hostsOf } from '../src/store/postgres/link.ts';
import { type FreshDatabase, freshDatabase } from './harness/database.ts';

const isGone = (error: unknown) => isLost(error);

describe('connections to PostgreSQL', { timeout: 60_000 }, () => {
  let database: FreshDatabase;
  let pool: Pool;
  const open = (url = database.url, max = 2) => openPool({ url, schema: 'public' }, { max, timeout: 10_000 });
  const texts = async () =>
    (await rowsOf<[string]>(pool, 'select text from noted order by text')).map(([text]) => text);
  const note = (on: Connection, text: string) => run(on, 'insert into noted (text) values ($1)', [text]);
  /** Has the database end a connection. */
  const cut = async (on: Connection) => {
    const [row] = await rowsOf<[number]>(on, 'select pg_backend_pid()');
    await run(pool, 'select pg_terminate_backend($1::int)', [row?.[0] as number]);
  };

  before(async () => {
    database = await freshDatabase();
    pool = open();
    await run(pool, 'create table noted (text text)');
  });
  beforeEach(() => run(pool, 'delete from noted'));
  after(async () => {
    await pool.end({ timeout: 1 });
    await database.drop();
  });

  test('a transaction whose connection is lost leaves nothing, whatever is done in it then', async () => {
    await assert.rejects(
      pool.begin(async (tx) => {
        await note(tx, 'before');
        await cut(tx);
        await sleep(50);
        await note(tx, 'behind').catch(() => {});
        await note(tx, 'behind that').catch(() => {});
      }),
      isGone,
    );
    assert.deepEqual(await texts(), []);
  });

  test('many statements under way when the connection is lost all fail, and none is made elsewhere', async () => {
    const on = await pool.reserve();
    const [row] = await rowsOf<[number]>(on, 'select pg_backend_pid()');
    await run(on, 'begin');
    const slow = assert.rejects(run(on, 'select pg_sleep(20)'), isGone);
    const behind = Array.from({ length: 300 }, (_, n) => assert.rejects(note(on, `${n}`), isGone));
    await run(pool, 'select pg_terminate_backend($1::int)', [row?.[0] as number]);
    await Promise.all([slow, ...behind]);
    await assert.rejects(note(on, 'behind them'), isGone);
    on.release();
    assert.deepEqual(await texts(), []);
  });

  test('a connection that is given back in the middle of a transaction is not used again', async () => {
    const on = await pool.reserve();
    await run(on, 'begin');
    await note(on, 'not committed');
    on.release();
    await note(pool, 'by itself');
    assert.deepEqual(await texts(), ['by itself']);
  });

  test('a transaction of which a statement failed fails, also where nobody looked at that', async () => {
    await assert.rejects(
      pool.begin(async (tx) => {
        await note(tx, 'before');
        await run(tx, 'select 1 / 0').catch(() => {});
      }),
      { code: '22012' },
    );
    assert.deepEqual(await texts(), []);
  });

  test('others are served while connections are lost, and those who wait for one get one', async () => {
    const all = await Promise.all([pool.reserve(), pool.reserve()]);
    const waiting = Promise.all([texts(), texts(), texts()]);
    await run(all[0], 'select pg_terminate_backend(pg_backend_pid())').catch(() => {});
    assert.deepEqual(await waiting, [[], [], []]);
    for (const on of all) on.release();
  });

  test('of several hosts the first that is there is used', async () => {
    assert.deepEqual(hostsOf('postgres://me:a,b@one:1,two:2/data?x=y'), [
      'postgres://me:a,b@one:1/data?x=y',
      'postgres://me:a,b@two:2/data?x=y',
    ]);
    const refusing = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => refusing.once('listening', resolve));
    const { port } = refusing.address() as { port: number };
    await new Promise((resolve) => refusing.close(resolve));
    const several = open(database.url.replace(/\/\/(?:[^/@]*@)?/, (start) => `${start}127.0.0.1:${port},`));
    assert.deepEqual([...(await rowsOf(several, 'select 1'))], [[1]]);
    await several.end({ timeout: 1 });
  });

  test('who waits when the pool is closed, or asks then, hears of it', async () => {
    const other = open(database.url, 1);
    const on = await other.reserve();
    const waiting = assert.rejects(run(other, 'select 1'), isGone);
    const slow = assert.rejects(run(on, 'select pg_sleep(5)'), isGone);
    await other.end({ timeout: 0 });
    await Promise.all([waiting, slow]);
    await assert.rejects(run(other, 'select 1'), isGone);
  });
});
