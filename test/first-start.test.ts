// The first start and later ones: the example, the printed commands, how a server ends.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { daicho, environment, onFolder, startServer, temporaryFolder } from './harness/run-daicho.ts';

const sh = async (command: string) =>
  JSON.parse((await promisify(execFile)('sh', ['-c', command], { env: environment() })).stdout);

/** The commands that a welcome prints, each as a shell would read it. */
function commandsIn(out: string): string[] {
  return [...out.matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(([command]) => command);
}

test('a first start makes an example whose printed commands work; a later one keeps everything', async (t) => {
  const dataDir = join(temporaryFolder(t), 'deep', 'data');
  const first = await startServer(t, dataDir);
  const [search, update, ...more] = commandsIn(first.out());
  assert.ok(search !== undefined && update !== undefined && more.length === 0, first.out());

  const found = await sh(search);
  assert.deepEqual([found.rkwa_status, found.rkwa_errorcount, found.rkwa_errmsg], ['OK', 0, null]);
  assert.ok(found.ord_lines.length >= 2);
  for (const order of found.ord_lines) assert.match(order.ord_customer.value, /商事/);
  assert.equal(found.ord_lines[0].ord_lines[0].line_product.value, 'A4コピー用紙');
  const updated = await sh(update);
  assert.deepEqual([updated.rkwa_status, updated.ord_status.value], ['OK', '受付']);
  assert.equal(updated.ord_customer.value, '医療法人社団清和会');
  assert.equal(updated.pms_u_usr.value.name, '山田太郎');

  const keys = [...first.out().matchAll(/^ {2}(\S{43}) /gm)].map(([, key]) => key as string);
  assert.equal(keys.length, 2);
  assert.equal(await first.end(), 0);
  for (const key of keys) {
    assert.ok(!first.err().includes(key), 'a key is in the log');
    for (const name of readdirSync(dataDir)) assert.ok(!readFileSync(join(dataDir, name)).includes(key), name);
  }
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith('first-start')),
    [],
  );

  const second = await startServer(t, dataDir);
  assert.equal(commandsIn(second.out()).length, 0);
  assert.ok(!second.out().includes('Keys'));
  const again = await sh(update.replaceAll(first.address, second.address));
  assert.deepEqual([again.rkwa_status, again.ord_status.value], ['OK', '受付']);
  assert.equal(await second.end('SIGINT'), 0);
  const run = onFolder(dataDir);
  assert.equal(JSON.parse((await run('app', 'list', '--json')).out)[0].records, 24);
  assert.equal((await run('check')).code, 0);
});

test('a server finishes requests in flight, closes idle connections, and accepts no more', async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startServer(t, dataDir);
  const [search = ''] = commandsIn(server.out());
  const parameters = [...search.matchAll(/--data-urlencode '([^=]+)=([^']*)'/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  const body = new URLSearchParams(parameters as [string, string][]).toString();
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const call = () =>
    request(`${server.address}/webapi/v1/dataset/search`, {
      ...{ method: 'POST', agent },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) },
    });
  const idle = call().end(body);
  const [idleResponse] = await once(idle, 'response');
  await text(idleResponse);

  const slow = call();
  slow.write(body.slice(0, 10));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const ended = server.end();
  while (!server.err().includes('stopping')) await new Promise((resolve) => setTimeout(resolve, 10));
  await assert.rejects(fetch(server.address));
  slow.end(body.slice(10));
  const [response] = await once(slow, 'response');
  const answer = JSON.parse(await text(response));
  assert.equal(answer.rkwa_status, 'OK');
  assert.equal(response.headers.connection, 'close');
  assert.equal(await ended, 0);
});

test('a second signal ends the server at once', async (t) => {
  const server = await startServer(t, temporaryFolder(t));
  const { port, hostname } = new URL(server.address);
  const unfinished = request({
    port,
    host: hostname,
    method: 'POST',
    path: '/webapi/v1/dataset/search',
    headers: { 'Content-Length': 10, 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  unfinished.on('error', () => {});
  unfinished.write('a');
  await new Promise((resolve) => setTimeout(resolve, 100));
  server.process.kill('SIGTERM');
  while (!server.err().includes('stopping')) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(await server.end(), 1);
});

test('a port in use: one line, exit code 1, and nothing made', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const dataDir = join(temporaryFolder(t), 'data');
  const { code, out, err } = await daicho(['serve', '--port', String(port), '--data-dir', dataDir]);
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, new RegExp(`^daicho: cannot listen: port ${port} of 127.0.0.1 is in use.*\n$`));
  assert.throws(() => statSync(dataDir));
});

test('a data folder that cannot be: one line, exit code 1', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  for (const dataDir of [file, join(file, 'data')]) {
    const { code, err } = await daicho(['serve', '--port', '0', '--data-dir', dataDir]);
    assert.equal(code, 1);
    assert.match(err, /^daicho: cannot .*\n$/);
  }
});

test('a database of a newer version: one line, exit code 1', async (t) => {
  const dataDir = temporaryFolder(t);
  await onFolder(dataDir)('app', 'list');
  const file = join(dataDir, 'daicho.db');
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(file);
  db.exec('pragma user_version = 999');
  db.close();
  for (const args of [
    ['serve', '--port', '0'],
    ['app', 'list'],
  ]) {
    const { code, err } = await daicho([...args, '--data-dir', dataDir]);
    assert.equal(code, 1);
    assert.match(err, /^daicho: .*newer version of Daicho.*\n$/);
  }
});

test('a folder that has a register gets no example', async (t) => {
  const dataDir = temporaryFolder(t);
  await onFolder(dataDir)('user', 'add', 'sato', '--name', '佐藤');
  const server = await startServer(t, dataDir);
  assert.ok(!server.out().includes('ORDERS'));
  assert.equal(await server.end(), 0);
  assert.deepEqual(JSON.parse((await onFolder(dataDir)('app', 'list', '--json')).out), []);
});
