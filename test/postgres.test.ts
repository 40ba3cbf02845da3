// The tests' own PostgreSQL: it keeps what it should, its replica follows, and it leaves nothing behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { type Postgres, startPostgres, startReplica, testDatabase } from './harness/postgres.ts';

const HARNESS = join(import.meta.dirname, 'harness/postgres.ts');

/** Runs one statement on a connection of its own: its rows, each as a list. */
async function rows(url: string, statement: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1 });
  try {
    return [...(await sql.unsafe(statement).values())].flat();
  } finally {
    await sql.end();
  }
}

/** The process of a running cluster's server. */
const serverOf = (dataDir: string) => Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

describe('a cluster', () => {
  let cluster: Postgres;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.remove());

  test('is PostgreSQL 18 in UTF-8, in the order of code points, and does not wait for the disk', async () => {
    const asked = ['server_version_num', 'server_encoding', 'fsync', 'synchronous_commit', 'TimeZone'];
    const [version, ...settings] = await rows(
      cluster.url,
      `SELECT ${asked.map((name) => `current_setting('${name}')`)}`,
    );
    assert.match(String(version), /^18\d{4}$/);
    assert.deepEqual(settings, ['UTF8', 'off', 'on', 'UTC']);
    assert.deepEqual(await rows(cluster.url, "SELECT 'Z' < 'a', 'z' < 'あ', upper('é')"), [true, true, 'É']);
  });

  test('keeps its data and its port when it is stopped, stopped at once or killed, and started again', async () => {
    await rows(cluster.url, 'CREATE TABLE kept (how text)');
    for (const how of ['fast', 'immediate', 'killed'] as const) {
      await rows(cluster.url, `INSERT INTO kept VALUES ('${how}')`);
      const server = serverOf(cluster.dataDir);
      await (how === 'killed' ? cluster.kill() : cluster.stop(how));
      assert.ok(!isAlive(server));
      await assert.rejects(rows(cluster.url, 'SELECT 1'), { code: 'ECONNREFUSED' });
      await cluster.start();
    }
    assert.deepEqual(await rows(cluster.url, 'SELECT how FROM kept'), ['fast', 'immediate', 'killed']);
  });

  test('takes settings, and leaves no process and no folder when it is removed: running, stopped or killed', async () => {
    for (const end of [async () => {}, (other: Postgres) => other.stop(), (other: Postgres) => other.kill()]) {
      const other = await startPostgres({ fsync: true, settings: { cluster_name: "it's another" } });
      assert.notEqual(other.port, cluster.port);
      const asked = "SELECT current_setting('fsync'), current_setting('cluster_name')";
      assert.deepEqual(await rows(other.url, asked), ['on', "it's another"]);
      const server = serverOf(other.dataDir);
      await end(other);
      await other.remove();
      assert.ok(!isAlive(server));
      assert.ok(!existsSync(join(other.dataDir, '..')));
    }
  });
});

test('a replica follows its primary, is held back, and catches up', async () => {
  const primary = await startPostgres();
  await rows(primary.url, 'CREATE TABLE counted AS SELECT * FROM generate_series(1, 1000) AS n');
  const replica = await startReplica(primary);
  const count = async () => await rows(replica.url, 'SELECT count(*)::int, pg_is_in_recovery() FROM counted');
  const add = () => rows(primary.url, 'INSERT INTO counted VALUES (0)');
  await replica.caughtUp();
  assert.deepEqual(await count(), [1000, true]);
  await assert.rejects(rows(replica.url, 'INSERT INTO counted VALUES (0)'), { code: '25006' });

  await add();
  await replica.caughtUp();
  assert.deepEqual(await count(), [1001, true]);

  await replica.pause();
  await add();
  await sleep(300);
  assert.deepEqual(await count(), [1001, true]);
  await replica.resume();
  await replica.caughtUp();
  assert.deepEqual(await count(), [1002, true]);

  // Either may be away for a while.
  await replica.stop();
  await add();
  await replica.start();
  await replica.caughtUp();
  await primary.stop();
  assert.deepEqual(await count(), [1003, true]);
  await primary.start();
  await add();
  await replica.caughtUp();
  assert.deepEqual(await count(), [1004, true]);
  await replica.remove();
  await primary.remove();
});

describe('the database of the tests', () => {
  test('is the one that TEST_DATABASE_URL names', async (t) => {
    const { TEST_DATABASE_URL } = process.env;
    t.after(() => restore(TEST_DATABASE_URL));
    process.env.TEST_DATABASE_URL = 'postgres://elsewhere/tests';
    const { url, close } = await testDatabase();
    assert.equal(url, 'postgres://elsewhere/tests');
    await close();
  });

  test('is one of this process without it, until its last caller closes it', async (t) => {
    const { TEST_DATABASE_URL } = process.env;
    t.after(() => restore(TEST_DATABASE_URL));
    restore(undefined);
    const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
    assert.equal(one.url, other.url);
    await one.close();
    await one.close();
    assert.deepEqual(await rows(other.url, 'SELECT 1'), [1]);
    await other.close();
    await assert.rejects(rows(other.url, 'SELECT 1'), { code: 'ECONNREFUSED' });
  });

  function restore(url: string | undefined): void {
    if (url === undefined) delete process.env.TEST_DATABASE_URL;
    else process.env.TEST_DATABASE_URL = url;
  }
});

describe('nothing outlives a process', { concurrency: true }, () => {
  const ends = {
    'that has nothing more to do': '',
    'that throws': "throw new Error('on purpose')",
    'that is interrupted': "process.kill(process.pid, 'SIGINT'); setInterval(() => {}, 1000)",
    'that is ended': "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)",
    'that is killed': "process.kill(process.pid, 'SIGKILL')",
  };
  for (const [name, end] of Object.entries(ends)) {
    test(name, async () => {
      const code = `
        import { readFileSync } from 'node:fs';
        import { startPostgres } from ${JSON.stringify(HARNESS)};
        const { dataDir } = await startPostgres();
        console.log(readFileSync(dataDir + '/postmaster.pid', 'utf8').split('\\n')[0], dataDir);
        ${end}`;
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [said] = await once(createInterface(child.stdout), 'line');
      const [server = '', dataDir = ''] = said.split(' ');
      await once(child, 'close');
      const home = join(dataDir, '../..');
      for (const until = Date.now() + 10_000; isAlive(Number(server)) || existsSync(home); await sleep(20)) {
        assert.ok(Date.now() < until, `${server} or ${home} is still there`);
      }
    });
  }
});
