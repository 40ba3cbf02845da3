// Multipart bodies of hostile and careless clients against the whole server: each is answered, and nothing stays of it (D2-D4, D28).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshRegister } from './harness/fresh-register.ts';
import { BODIES, GOOD, MULTIPART, named, type SentBody } from './harness/multipart.ts';
import { type RunningServer, startServer } from './harness/run-daicho.ts';
import { appOf, putRecords } from './harness/running.ts';
import { download, fileOf, namesIn, upload } from './harness/uploading.ts';

const APP = `
code: H
fields:
  - { id: h_primarykey, type: id, search: exact }
  - { id: h_file, type: file }
`;
const RECORD = { h_primarykey: '1' };
const KEY = { appcode: 'H', appkey: 'the key' };
const PARAM = JSON.stringify({ h_primarykey: { value: '1' } });
/** Bytes that Node takes for the headers of a request. */
const MAX_HTTP_HEADER = 16_384;
/** Bodies sent at a time. */
const AT_ONCE = 8;
/** Milliseconds within which each has to be answered, on a machine that does much else. */
const SOON = 5_000;

interface Answer {
  /** Status and headers; '' where the connection was closed without an answer. */
  readonly head: string;
  readonly body: string;
  readonly milliseconds: number;
}

/** Sends bytes as they are and reads until the server closes the connection; `half`: the client's side is closed behind them. */
async function exchange({ address }: RunningServer, bytes: Buffer, half = false): Promise<Answer> {
  const { hostname, port } = new URL(address);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const started = performance.now();
  // What came before the connection broke is the answer.
  socket.on('error', () => {});
  if (half) socket.end(bytes);
  else socket.write(bytes);
  const received: Buffer[] = [];
  const ended = new Promise<void>((resolve) => socket.on('end', resolve).on('close', resolve));
  socket.on('data', (piece: Buffer) => received.push(piece));
  const timer = setTimeout(() => socket.destroy(), 2 * SOON);
  await ended;
  clearTimeout(timer);
  socket.destroy();
  const text = Buffer.concat(received).toString();
  const split = text.indexOf('\r\n\r\n');
  const milliseconds = performance.now() - started;
  return { head: text.slice(0, Math.max(0, split)), body: text.slice(split + 4), milliseconds };
}

function requestOf({ contentType, body }: Pick<SentBody, 'contentType' | 'body'>, length = body.length): Buffer {
  const head = [
    'POST /webapi/v1/data/update HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Content-Type: ${contentType}`,
    `Content-Length: ${length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** The same body behind parts that let it in: what it holds is then taken for files and parameters of an update. */
function admitted({ contentType, body, ...sent }: SentBody): SentBody {
  const parts = Object.entries({ ...KEY, mode: 'merge', param: PARAM }).map(([name, value]) => named(name, value));
  return { ...sent, contentType, body: Buffer.concat([...parts, body]) };
}

/** Asserts that an answer is a refusal with the envelope; gives its code. */
function codeOf({ head, body, milliseconds }: Answer, name: string): string | undefined {
  assert.ok(milliseconds < SOON, `${name}: ${milliseconds} ms`);
  assert.match(head, /^HTTP\/1\.1 4\d\d /, `${name}: ${head}${body}`);
  const { rkwa_status, rkwa_errorcount, rkwa_errmsg } = JSON.parse(body);
  assert.deepEqual([rkwa_status, rkwa_errorcount], ['NG', rkwa_errmsg.length], name);
  return /^X-Error-Code: (\w+)$/im.exec(head)?.[1];
}

async function forAll<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Bytes that a process has in memory. */
function memoryOf({ process: { pid } }: RunningServer): number {
  const [, kilobytes = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

test('a server that hostile uploads come to', { timeout: 120_000 }, async (t) => {
  const { place, openRegister, remove } = await freshRegister();
  t.after(remove);
  const register = await openRegister();
  const { app, source } = appOf(APP);
  await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await register.grant('H', 'sato', { update: true, edit: false, admin: false });
  await register.addKey('H', 'sato', createHash('sha256').update(KEY.appkey).digest(), null);
  await putRecords(register, 'H', [RECORD], 'sato');
  await register.close();
  const server = await startServer(t, place, '--max-body', '32MB', '--log-level', 'warn');
  const filesDir = join(place, 'files');
  const good = await upload(server.address, KEY, RECORD, { h_file: fileOf('中身', 'a.txt') });
  assert.equal(good.status, 200, good.text);
  const fileid = good.json.h_file.value;
  const before = namesIn(filesDir);

  const assertUnharmed = async () => {
    // A client that went away knows of it before the server does.
    for (const until = Date.now() + SOON; Date.now() < until && namesIn(filesDir).length > before.length; )
      await sleep(10);
    assert.deepEqual(namesIn(filesDir), before, 'nothing is left');
    const body = new URLSearchParams({ ...KEY, param: JSON.stringify({ h_primarykey: '1' }) });
    const response = await fetch(`${server.address}/webapi/v1/dataset/search`, { method: 'POST', body });
    const [record] = ((await response.json()) as { H: (typeof good.json)[] }).H;
    assert.deepEqual(record.h_file, good.json.h_file);
    assert.equal((await download(server.address, KEY, fileid)).bytes.toString(), '中身');
    assert.deepEqual([server.err(), server.process.exitCode], ['', null], 'no fault is told of');
  };

  await t.test('each body is refused with an envelope, and leaves nothing', async () => {
    await forAll(BODIES, async (sent) => {
      const code = codeOf(await exchange(server, requestOf(sent)), sent.name);
      // A header that HTTP does not take is refused before anybody looks at the body.
      const expected = sent.contentType.length > MAX_HTTP_HEADER ? 'malformed_request' : sent.refused;
      if (expected !== null) assert.equal(code, expected, sent.name);
    });
    await assertUnharmed();
  });

  await t.test('each body is refused with an envelope and leaves nothing where its key may update', async () => {
    await forAll(BODIES.map(admitted), async (sent) => {
      const answer = await exchange(server, requestOf(sent));
      // What holds nothing at all behind the parameters is a good update.
      if (sent.refused === null && answer.head.startsWith('HTTP/1.1 200 ')) return;
      codeOf(answer, sent.name);
    });
    await assertUnharmed();
  });

  await t.test(
    'a body that ends early, with the connection or without, is answered or closed, and leaves nothing',
    async () => {
      const whole = admitted({ name: '', contentType: MULTIPART, body: GOOD, refused: null });
      const lengths = Array.from({ length: Math.ceil(whole.body.length / 5) }, (_, n) => n * 5);
      await forAll(lengths, async (length) => {
        const sent = requestOf({ contentType: MULTIPART, body: whole.body.subarray(0, length) }, whole.body.length);
        const answer = await exchange(server, sent, true);
        if (answer.head !== '') codeOf(answer, `${length} bytes`);
        assert.ok(answer.milliseconds < SOON, `${length} bytes`);
      });
      await assertUnharmed();
    },
  );

  await t.test('its memory does not grow with them', { skip: !existsSync('/proc/self/status') }, async () => {
    const large = BODIES.filter(({ body }) => body.length > 100_000).map(admitted);
    const round = () =>
      forAll([...large, ...large], async (sent) => void codeOf(await exchange(server, requestOf(sent)), sent.name));
    for (let n = 0; n < 2; n++) await round();
    const first = memoryOf(server);
    for (let n = 0; n < 2; n++) await round();
    const grown = memoryOf(server) - first;
    const sent = 4 * large.reduce((sum, { body }) => sum + body.length, 0);
    assert.ok(grown < sent / 2, `${grown >> 20} MiB more of ${sent >> 20} MiB`);
    t.diagnostic(`${first >> 20} MiB, ${grown >> 20} MiB more after ${sent >> 20} MiB of bodies`);
    await assertUnharmed();
  });

  assert.equal(await server.end(), 0);
  assert.equal(server.err(), '');
});
