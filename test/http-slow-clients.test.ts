// Clients that read late, that send slowly, and that fall silent: who is answered, and who is cut off (spec 8, D33).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createLog } from '../src/config/log.ts';
import { createHttpServer } from '../src/http/server.ts';
import { MULTIPART, multipart, named } from './harness/multipart.ts';
import { answersIn } from './spec/exchange.ts';
import { entries, type Opened, openApp } from './spec/opened.ts';

const DEFINITION = 'code: S\nfields: [{ id: s_primarykey, type: id, search: exact }, { id: s_file, type: file }]\n';
const MIB = 1 << 20;
const LIMITS = { maxBody: 64 << 10, maxFile: 3 * MIB, maxFiles: 2, maxUpload: 4 * MIB };
const SEARCH = '/webapi/v1/dataset/search';
const UPDATE = '/webapi/v1/data/update';
const URLENCODED = 'application/x-www-form-urlencoded';

let opened: Opened;
before(async () => {
  opened = await openApp(DEFINITION, [{ s_primarykey: '1' }], LIMITS);
});
after(() => opened.running.close());

/** The head of a request with a body of so many bytes, in chunks where that is null. */
function headOf(path: string, type: string, length: number | null, more = ''): string {
  const size = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${more}${size}\r\n\r\n`;
}

const chunk = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);
const CRLF = Buffer.from('\r\n');

/** The parts of an update, as far as they come before its files. */
function parts(more: Record<string, string> = {}): Buffer[] {
  const values = {
    ...opened.credentials,
    mode: 'merge',
    param: JSON.stringify(entries({ s_primarykey: '1' })),
    ...more,
  };
  return Object.entries(values).map(([name, value]) => named(name, value));
}

/** A connection to a server from which nothing is read yet. */
function unread(port = Number(new URL(opened.running.url).port)): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.pause();
  // Whoever writes or reads is told as well.
  socket.on('error', () => {});
  return socket;
}

const write = (socket: Socket, bytes: Buffer | string) =>
  new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

/** Sends all before it reads anything, then reads until the server closes; rejects where the connection breaks under its hands. */
async function sendThenRead(head: string, body: Buffer, gap = 0): Promise<string> {
  const socket = unread();
  try {
    await write(socket, head);
    for (let at = 0; at < body.length; at += MIB) {
      await write(socket, body.subarray(at, at + MIB));
      if (gap > 0) await wait(gap);
    }
    return await textOf(socket);
  } finally {
    socket.destroy();
  }
}

async function textOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Asserts that a text is one whole refusal after which the connection ends. */
function assertRefused(text: string, status: number, code: string): void {
  const [answer, ...more] = answersIn(text);
  assert.ok(answer !== undefined && more.length === 0, text);
  assert.equal(answer.status, status, answer.head);
  assert.match(answer.head, new RegExp(`^X-Error-Code: ${code}$`, 'm'));
  assert.match(answer.head, /^Connection: close$/m);
  assert.equal(JSON.parse(answer.body).rkwa_errorcount, 1);
}

describe('a client that sends all of its request before it reads, reads the whole refusal', {
  concurrency: true,
}, () => {
  const large = Buffer.alloc(8 * MIB, 'a=b&');
  const file = (name: string, size: number) => named(name, Buffer.alloc(size), 'x');
  const announced = (body: Buffer, path = UPDATE) => [headOf(path, MULTIPART, body.length), body] as const;
  const chunked = (body: Buffer, path = UPDATE, type = MULTIPART) =>
    [headOf(path, type, null), Buffer.concat([chunk(body), Buffer.from('0\r\n\r\n')])] as const;
  const CASES: readonly [what: string, request: () => readonly [string, Buffer], status: number, code: string][] = [
    [
      'a urlencoded body, by its length',
      () => [headOf(SEARCH, URLENCODED, large.length), large],
      413,
      'body_too_large',
    ],
    ['a urlencoded body, as it is counted', () => chunked(large, SEARCH, URLENCODED), 413, 'body_too_large'],
    ['a multipart body without files', () => announced(multipart(named('a', large)), SEARCH), 413, 'body_too_large'],
    ['parameters beside files', () => chunked(multipart(...parts(), named('a', large))), 413, 'body_too_large'],
    ['a file', () => chunked(multipart(...parts(), file('s_file', 8 * MIB))), 413, 'file_too_large'],
    ['files, by their length', () => announced(multipart(...parts(), file('s_file', 8 * MIB))), 413, 'files_too_large'],
    [
      'files, as they are counted',
      () => chunked(multipart(...parts(), file('s_file', 3 * MIB), file('s_other', 3 * MIB))),
      413,
      'files_too_large',
    ],
    [
      'too many files',
      () => chunked(multipart(...parts(), file('a', 1), file('b', 1), file('c', 8 * MIB))),
      413,
      'too_many_files',
    ],
    [
      'a wrong key',
      () => announced(multipart(...parts({ appkey: 'wrong' }), file('s_file', 3 * MIB), file('b', MIB))),
      401,
      'bad_credentials',
    ],
    [
      'no key before a file',
      () => announced(multipart(file('s_file', 3 * MIB), ...parts())),
      400,
      'files_before_credentials',
    ],
    [
      'a length that is no number',
      () => [headOf(SEARCH, URLENCODED, null).replace(/Transfer.*/, 'Content-Length: ten'), large],
      400,
      'malformed_request',
    ],
    ['CONNECT', () => ['CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', large], 405, 'wrong_method'],
  ];
  for (const [what, request, status, code] of CASES) {
    test(what, async () => {
      const [head, body] = request();
      assertRefused(await sendThenRead(head, body), status, code);
    });
  }

  for (const [type, body] of [
    [URLENCODED, large],
    [MULTIPART, multipart(named('a', large))],
  ] as const) {
    test(`also when that takes it seconds, ${type}`, async () => {
      assertRefused(await sendThenRead(headOf(SEARCH, type, body.length), body, 400), 413, 'body_too_large');
    });
  }

  test('one that is refused before it sends anything is not waited for', async () => {
    const socket = unread();
    const started = performance.now();
    await write(socket, headOf(SEARCH, URLENCODED, large.length));
    assertRefused(await textOf(socket), 413, 'body_too_large');
    socket.destroy();
    assert.ok(performance.now() - started < 8_000);
  });

  test('one that never stops sending is cut off', async () => {
    const socket = unread();
    await write(socket, headOf(SEARCH, URLENCODED, null));
    const piece = chunk(Buffer.alloc(MIB));
    let sent = 0;
    await assert.rejects(async () => {
      for (; sent < 1_000 * MIB; sent += MIB) await write(socket, piece);
    });
    socket.destroy();
    assert.ok(sent < 600 * MIB, `${sent / MIB} MiB were taken`);
  });
});

describe('a client that does not send', { concurrency: true }, () => {
  const TIME = { silent: 500, small: 1_600 };
  const OPTIONS = { ...LIMITS, basePath: '', maxRecords: 0, always200: false, svgImages: false };
  let server: Server;
  let port: number;
  before(async () => {
    const { store, files } = opened.running;
    server = createHttpServer(store, files, OPTIONS, createLog('error'), TIME);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Sends the head and the beginning of a body, then a piece every 100 ms as long as it can; gives what came back, and when it ended. */
  async function trickle(head: string, begun: string | Buffer, pieces: Iterable<string | Buffer>) {
    const socket = unread(port);
    const started = performance.now();
    await write(socket, head);
    await write(socket, begun);
    // It may end by being reset.
    const read = textOf(socket).catch(() => '');
    const ended = read.then(() => performance.now() - started);
    for (const piece of pieces) {
      await wait(100);
      if (socket.destroyed || socket.readableEnded) break;
      await write(socket, piece).catch(() => {});
    }
    const [text, milliseconds] = await Promise.all([read, ended]);
    socket.destroy();
    return { text, milliseconds };
  }

  const query = () => new URLSearchParams(opened.credentials).toString();
  const SILENT = [
    ['a urlencoded body', SEARCH, URLENCODED, () => query()],
    ['a multipart body where no files are taken', SEARCH, MULTIPART, () => Buffer.concat(parts())],
    ['an upload', UPDATE, MULTIPART, () => Buffer.concat([...parts(), named('s_file', 'x', 'x').subarray(0, -2)])],
    ['an upload that has not begun', UPDATE, MULTIPART, () => ''],
  ] as const;
  for (const [what, path, type, begun] of SILENT) {
    for (const more of ['', 'Expect: 100-continue\r\n']) {
      test(`is cut off when nothing comes of ${what}${more === '' ? '' : ', also after 100 Continue'}`, async () => {
        const { text, milliseconds } = await trickle(headOf(path, type, 50_000, more), begun(), []);
        assert.equal(text, more === '' ? '' : 'HTTP/1.1 100 Continue\r\n\r\n');
        assert.ok(milliseconds >= TIME.silent - 10 && milliseconds < TIME.small, `${milliseconds} ms`);
      });
    }
  }

  for (const [what, type, begun] of [
    ['a urlencoded body', URLENCODED, 'a='],
    ['a multipart body where no files are taken', MULTIPART, named('a', '').subarray(0, -2)],
  ] as const) {
    test(`is cut off when ${what} has not come whole after its time, though it never falls silent`, async () => {
      const { text, milliseconds } = await trickle(headOf(SEARCH, type, 50_000), begun, Array(40).fill('x'));
      assert.equal(text, '');
      assert.ok(milliseconds >= TIME.small - 10 && milliseconds < 3 * TIME.small, `${milliseconds} ms`);
    });
  }

  test('is served however long an upload takes, as long as some of it comes', async () => {
    const begun = Buffer.concat([...parts(), named('s_file', '', 'x').subarray(0, -2)]);
    const pieces = [...Array(25).fill('x'), multipart(CRLF)];
    const length = begun.length + Buffer.concat(pieces.map((piece) => Buffer.from(piece))).length;
    const { text } = await trickle(headOf(UPDATE, MULTIPART, length, 'Connection: close\r\n'), begun, pieces);
    assert.match(text, /^HTTP\/1\.1 200 [\s\S]*"filesize":"25"/);
  });

  test('may fall silent between two requests', async () => {
    const body = query();
    const request = headOf(SEARCH, URLENCODED, body.length) + body;
    const pieces = [...Array(15).fill(''), request.replace('Host', 'Connection: close\r\nHost')];
    const { text } = await trickle(request, '', pieces);
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      [200, 200],
    );
  });
});
