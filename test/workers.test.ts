// Several workers on one data folder (P14): they answer as one, lose nothing, are replaced, and end together.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { openSqliteRegister } from '../src/store/sqlite/sqlite-register.ts';
import { daicho, onFolder, type RunningServer, startServer, temporaryFolder } from './harness/run-daicho.ts';
import { appOf, putRecords } from './harness/running.ts';

const WORKERS = 3;
const RECORDS = 20;
const CLIENTS = 32;
const APP = `code: A
fields:
  - { id: a_primarykey, type: id, search: exact }
  - { id: n, type: number, search: exact }
  - { id: t, type: text, search: partial, fold: true }
`;
const KEY = { appcode: 'A', appkey: 'the key' };

/** A data folder with records whose `n` is 0. */
async function filled(t: TestContext): Promise<string> {
  const dataDir = temporaryFolder(t);
  const register = openSqliteRegister({ dataDir });
  const { app, source } = appOf(APP);
  await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await register.grant('A', 'sato', { update: true, edit: false, admin: false });
  await register.addKey('A', 'sato', createHash('sha256').update(KEY.appkey).digest(), null);
  await putRecords(
    register,
    'A',
    Array.from({ length: RECORDS }, () => ({ n: '0', t: 'at first' })),
    'sato',
  );
  await register.close();
  return dataDir;
}

const start = (t: TestContext, dataDir: string, ...args: string[]) =>
  startServer(t, dataDir, '--workers', String(WORKERS), ...args);

/** A client with a connection of its own; rejects where the connection ends without an answer. */
function clientOf(t: TestContext, address: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  return async (operation: string, parameters: Record<string, string>) => {
    const sent = request(`${address}/webapi/v1/${operation}`, {
      ...{ method: 'POST', agent, timeout: 20_000 },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    sent.once('timeout', () => sent.destroy(new assert.AssertionError({ message: 'a request was not answered' })));
    sent.end(new URLSearchParams({ ...KEY, ...parameters }).toString());
    const [response] = await once(sent, 'response');
    // biome-ignore lint/suspicious/noExplicitAny: answers of either operation
    return { status: response.statusCode as number, json: JSON.parse(await text(response)) as any };
  };
}

/** By number, the workers that listened, each with its latest process. */
function workersOf(server: RunningServer): Map<number, number> {
  const lines = server.err().matchAll(/ worker listening worker=(\d+) pid=(\d+)$/gm);
  return new Map(Array.from(lines, ([, number, pid]) => [Number(number), Number(pid)]));
}

/** The numbers of the workers that wrote such lines. */
function saidBy(server: RunningServer, line: RegExp): Set<number> {
  const lines = server
    .err()
    .split('\n')
    .filter((each) => line.test(each));
  return new Set(lines.map((each) => Number(/ worker=(\d+)/.exec(each)?.[1])));
}

async function until(what: () => boolean): Promise<void> {
  for (const from = Date.now(); !what(); ) {
    assert.ok(Date.now() - from < 20_000, `waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('several workers answer; a revoked key is refused by all of them on the next request', async (t) => {
  const dataDir = await filled(t);
  const server = await start(t, dataDir, '--log-level', 'debug');
  assert.equal(server.out().match(/^Daicho is at/gm)?.length, 1);
  assert.equal(workersOf(server).size, WORKERS);
  const clients = Array.from({ length: 24 }, () => clientOf(t, server.address));
  const search = () => Promise.all(clients.map((call) => call('dataset/search', { param: '{"n":"0"}' })));
  const found = await search();
  assert.deepEqual([...new Set(found.map(({ status, json }) => `${status} ${json.A.length}`))], [`200 ${RECORDS}`]);
  await until(() => saidBy(server, / answered /).size === WORKERS);

  assert.equal((await onFolder(dataDir)('key', 'revoke', '1')).code, 0);
  const refused = await search();
  assert.deepEqual([...new Set(refused.map(({ status }) => status))], [401]);
  await until(() => saidBy(server, / refused .*status=401/).size === WORKERS);
  assert.ok(!server.err().includes(KEY.appkey));
  assert.equal(await server.end(), 0);
});

interface Version {
  readonly revision: number;
  readonly n: string;
}

/** The kept versions of a record, oldest first. */
function historyOf(dataDir: string, primaryKey: string): Version[] {
  const db = new Database(join(dataDir, 'daicho.db'), { readonly: true });
  const { id, generation } = db.prepare('select id, generation from apps').get() as { id: number; generation: number };
  const rows = db
    .prepare(
      `select revision, version from app_${id}_history
       where record = (select pms_seq from app_${id}_${generation} where a_primarykey = ?) order by revision`,
    )
    .all(primaryKey) as { revision: number; version: string }[];
  db.close();
  return rows.map(({ revision, version }) => ({ revision, n: JSON.parse(version).fields.n }));
}

/** Adds one to `n` of the record, with its revision, as often as another was quicker; gives the new `n`. */
async function addOne(call: ReturnType<typeof clientOf>, primaryKey: string): Promise<number> {
  for (;;) {
    const found = await call('dataset/search', { param: JSON.stringify({ a_primarykey: primaryKey }), revision: '1' });
    assert.equal(found.status, 200, JSON.stringify(found.json));
    const [record] = found.json.A;
    const n = Number(record.n.value) + 1;
    const { status, json } = await call('data/update', {
      mode: 'merge',
      param: JSON.stringify({
        a_primarykey: { value: primaryKey },
        pms_revision: { value: record.pms_revision.value },
        n: { value: String(n) },
        t: { value: `Ｔurn ${n}` },
      }),
    });
    if (status === 200) return n;
    assert.equal(status, 409, JSON.stringify(json));
  }
}

/** Every record has had that many updates, its history has all of them, and everything derived agrees. */
async function assertWhole(dataDir: string, expected: ReadonlyMap<string, { least: number; most: number }>) {
  const db = openSqliteRegister({ dataDir });
  assert.deepEqual(await db.check(['A'], () => {}), []);
  await db.close();
  for (const [key, { least, most }] of expected) {
    const versions = historyOf(dataDir, key);
    assert.ok(versions.length >= least && versions.length <= most, `${key}: ${versions.length}, not ${least}-${most}`);
    assert.deepEqual(
      versions,
      versions.map((_, index) => ({ revision: index + 1, n: String(index) })),
    );
  }
}

test('D31: many clients that update the same records with pms_revision lose no update', async (t) => {
  const dataDir = await filled(t);
  const server = await start(t, dataDir);
  const updates = new Map<string, number[]>();
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const call = clientOf(t, server.address);
      for (let turn = 0; turn < 15; turn++) {
        const key = String(1 + ((client * 7 + turn) % RECORDS));
        const made = updates.get(key) ?? [];
        updates.set(key, made);
        made.push(await addOne(call, key));
      }
    }),
  );
  assert.equal([...updates.values()].flat().length, CLIENTS * 15);
  for (const [key, made] of updates) {
    made.sort((a, b) => a - b);
    // Each answered update took the record one further: none was on top of another's.
    assert.deepEqual(
      made,
      made.map((_, index) => index + 1),
      key,
    );
  }
  assert.equal(await server.end(), 0);
  const expected = [...updates].map(([key, { length }]) => [key, { least: length, most: length }] as const);
  await assertWhole(dataDir, new Map(expected));
});

test('a worker that is killed is replaced, and every update that was answered is there', async (t) => {
  const dataDir = await filled(t);
  const server = await start(t, dataDir);
  const answered = new Map<string, number>();
  const unanswered = new Map<string, number>();
  let isEnding = false;
  t.after(() => {
    isEnding = true;
  });
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const call = clientOf(t, server.address);
    for (let turn = client; !isEnding; turn++) {
      const key = String(1 + (turn % RECORDS));
      try {
        await addOne(call, key);
        count(answered, key);
      } catch (error) {
        // Its connection ended with the worker: the update may be there or not.
        if (!/^(?:ECONN|EPIPE)/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
        count(unanswered, key);
      }
    }
  });
  const failed = Promise.race(clients.map((client) => client.then(() => new Promise<never>(() => {}))));
  const sum = () => [...answered.values()].reduce((all, n) => all + n, 0);
  const load = async () => {
    const enough = sum() + 100;
    while (sum() < enough) await Promise.race([new Promise((resolve) => setTimeout(resolve, 5)), failed]);
  };
  for (const number of [2, 1, 3]) {
    await load();
    const killed = workersOf(server).get(number) as number;
    process.kill(killed, 'SIGKILL');
    await Promise.race([until(() => workersOf(server).get(number) !== killed), failed]);
    assert.match(
      server.err(),
      new RegExp(`error a worker has ended worker=${number} pid=${killed} code=null signal="SIGKILL" `),
    );
  }
  await load();
  isEnding = true;
  await Promise.all(clients);
  assert.equal(await server.end(), 0);
  const expected = Array.from({ length: RECORDS }, (_, index) => {
    const key = String(index + 1);
    const least = answered.get(key) ?? 0;
    return [key, { least, most: least + (unanswered.get(key) ?? 0) }] as const;
  });
  await assertWhole(dataDir, new Map(expected));
});

test('a connection that was being handed to a worker that is killed is ended, not forgotten', async (t) => {
  const server = await start(t, await filled(t));
  const stopped = workersOf(server).get(2) as number;
  process.kill(stopped, 'SIGSTOP');
  const calls = Array.from({ length: 9 }, () =>
    clientOf(t, server.address)('dataset/search', { param: '{"n":"0"}' }).then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  process.kill(stopped, 'SIGKILL');
  const answers = await Promise.all(calls);
  assert.deepEqual(answers.sort(), [...Array(8).fill(200), 'ECONNRESET']);
  assert.equal(await server.end(), 0);
});

test('a worker that a person ends answers what it has, and is replaced', async (t) => {
  const server = await start(t, await filled(t));
  const first = workersOf(server).get(2) as number;
  process.kill(first, 'SIGTERM');
  await until(() => workersOf(server).get(2) !== first);
  assert.match(server.err(), /a worker has ended worker=2 pid=\d+ code=0 /);
  const { status } = await clientOf(t, server.address)('dataset/search', { param: '{"n":"0"}' });
  assert.equal(status, 200);
  assert.equal(await server.end(), 0);
});

test('SIGTERM ends all of them, after the requests in flight', async (t) => {
  const server = await start(t, await filled(t));
  const body = new URLSearchParams({ ...KEY, param: '{"n":"0"}' }).toString();
  const slow = Array.from({ length: 9 }, () => {
    const sent = request(`${server.address}/webapi/v1/dataset/search`, {
      ...{ method: 'POST', agent: false },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) },
    });
    sent.write(body.slice(0, 10));
    return sent;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  // A terminal sends its signal to all of them.
  for (const pid of workersOf(server).values()) process.kill(pid, 'SIGTERM');
  const ended = server.end();
  await until(() => server.err().includes('stopping'));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await assert.rejects(fetch(server.address));
  for (const sent of slow) {
    sent.end(body.slice(10));
    const [response] = await once(sent, 'response');
    assert.deepEqual([response.statusCode, response.headers.connection], [200, 'close']);
    assert.equal(JSON.parse(await text(response)).A.length, RECORDS);
  }
  // Once the last of them has ended, nobody holds its standard output any more.
  assert.equal(await ended, 0);
});

test('a second signal ends all of them at once', async (t) => {
  const server = await start(t, await filled(t));
  const { port, hostname } = new URL(server.address);
  const unfinished = request({
    ...{ port, host: hostname, method: 'POST', path: '/webapi/v1/dataset/search' },
    headers: { 'Content-Length': 10, 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  unfinished.on('error', () => {});
  unfinished.write('a');
  await new Promise((resolve) => setTimeout(resolve, 200));
  server.process.kill('SIGTERM');
  await until(() => server.err().includes('stopping'));
  assert.equal(await server.end(), 1);
});

test('SIGKILL of the main process ends the workers', async (t) => {
  const server = await start(t, await filled(t));
  const pids = [...workersOf(server).values()];
  assert.equal(pids.length, WORKERS);
  assert.ok(!pids.includes(server.process.pid as number));
  assert.equal(await server.end('SIGKILL'), null);
  await assert.rejects(fetch(server.address));
});

test('a port in use: one line, exit code 1, and nothing made', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const dataDir = join(temporaryFolder(t), 'data');
  const { code, out, err } = await daicho(['serve', '--port', String(port)], { DATA_DIR: dataDir, WORKERS: '3' });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, new RegExp(`^daicho: cannot listen: port ${port} of 127.0.0.1 is in use.*\n$`));
  assert.throws(() => statSync(dataDir));
});

test('workers that cannot start: one line, exit code 1', async (t) => {
  const dataDir = await filled(t);
  const db = new Database(join(dataDir, 'daicho.db'));
  db.pragma('user_version = 1000');
  db.close();
  const { code, out, err } = await daicho(['serve', '--port', '0'], { DATA_DIR: dataDir, WORKERS: '3' });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^daicho: cannot open the data folder .*newer version of Daicho.*\n$/);
});

test('a worker that cannot start again is tried ever more rarely', async (t) => {
  const dataDir = await filled(t);
  const server = await start(t, dataDir);
  const db = new Database(join(dataDir, 'daicho.db'));
  const version = db.pragma('user_version', { simple: true });
  db.pragma('user_version = 1000');
  const { 2: killed } = Object.fromEntries(workersOf(server));
  process.kill(killed as number, 'SIGKILL');
  const ends = () => [...server.err().matchAll(/a worker has ended worker=2 .*replacedInMilliseconds=(\d+)$/gm)];
  await until(() => ends().length >= 3);
  assert.deepEqual(
    ends()
      .slice(0, 3)
      .map(([, delay]) => Number(delay)),
    [0, 250, 500],
  );
  assert.match(server.err(), /a worker has ended worker=2 pid=\d+ reason="cannot open the data folder/);
  db.pragma(`user_version = ${version}`);
  db.close();
  await until(() => workersOf(server).get(2) !== killed);
  assert.equal(await server.end(), 0);
});

test('the first start is one, and its keys are shown once', async (t) => {
  const server = await start(t, join(temporaryFolder(t), 'data'));
  const keys = [...server.out().matchAll(/^ {2}(\S{43}) /gm)].map(([, key]) => key as string);
  assert.equal(keys.length, 2);
  for (const key of keys) assert.ok(!server.err().includes(key));
  const sent = { appcode: 'ORDERS', appkey: keys[1] as string, param: '{"ord_customer":"商事"}' };
  const { status } = await clientOf(t, server.address)('dataset/search', sent);
  assert.equal(status, 200);
  assert.equal(await server.end(), 0);
});
