// Several requests on one connection: none is carried out and not answered, no answer is cut by another, nobody is waited for in vain (spec 4, 7).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createLog } from '../src/config/log.ts';
import { BODY_TIME, type BodyTime } from '../src/http/body-time.ts';
import { createHttpServer } from '../src/http/server.ts';
import { MULTIPART, multipart, named } from './harness/multipart.ts';
import { answersIn, postText } from './spec/exchange.ts';
import { entries, type Opened, openApp } from './spec/opened.ts';

const DEFINITION = `
code: P
fields:
  - { id: p_primarykey, type: id, search: exact }
  - { id: p_text, type: text, search: partial }
  - { id: p_file, type: file }
`;
const UPDATE = '/webapi/v1/data/update';
const BULK = '/webapi/x1/data/bulk';
const URLENCODED = 'application/x-www-form-urlencoded';
const LIMITS = { maxBody: 64 << 10, maxFile: 1 << 20, maxFiles: 2, maxUpload: 1 << 20 };
/** No HTTP. */
const GARBAGE = 'xyz\r\n\r\n';

let opened: Opened;
let port: number;
before(async () => {
  opened = await openApp(DEFINITION, [{ p_primarykey: '1' }], LIMITS);
  await opened.running.register.grant('P', 'yamada', { update: true, edit: true, admin: false });
  port = Number(new URL(opened.running.url).port);
});
after(() => opened.running.close());

const record = (text: string) => entries({ p_primarykey: '1', p_text: text });
const form = (text: string) =>
  new URLSearchParams({ ...opened.credentials, mode: 'merge', param: JSON.stringify(record(text)) }).toString();
const update = (text: string, headers = '') => postText(UPDATE, form(text), headers);
const stored = async () => (await opened.record('1')).p_text.value;

/** The head of a request with a body of so many bytes, in chunks where that is null. */
function headOf(path: string, type: string, length: number | null): string {
  const size = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${size}\r\n\r\n`;
}

function open(at = port): Socket {
  const socket = connect({ port: at, host: '127.0.0.1' });
  // Whoever reads is told as well.
  socket.on('error', () => {});
  return socket;
}

/** What comes back until the server ends the connection, though it be reset. */
async function rest(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of socket) pieces.push(piece);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
  }
  return Buffer.concat(pieces).toString();
}

/** Sends all at once; the answers that came until the server ended the connection. */
async function answersTo(request: string | Buffer) {
  const socket = open();
  socket.write(request);
  const text = await rest(socket);
  return answersIn(text).map(({ status, head }) => ({ status, isLast: /^Connection: close$/m.test(head) }));
}

const OK = { status: 200, isLast: false };
const refused = (status: number) => ({ status, isLast: true });

describe('what cannot be read as HTTP is refused after the requests in front of it are answered', () => {
  test('an update', async () => {
    assert.deepEqual(await answersTo(update('before garbage') + GARBAGE), [OK, refused(400)]);
    assert.equal(await stored(), 'before garbage');
  });

  test('several updates', async () => {
    const updates = ['a', 'b', 'c'].map((text) => update(text)).join('');
    assert.deepEqual(await answersTo(updates + GARBAGE), [OK, OK, OK, refused(400)]);
    assert.equal(await stored(), 'c');
  });

  test('an update, and one whose body breaks', async () => {
    const broken = `${headOf(UPDATE, URLENCODED, null)}3\r\nabc\r\nxyz\r\n`;
    assert.deepEqual(await answersTo(update('before a broken chunk') + broken), [OK, refused(400)]);
  });

  test('an update, and CONNECT', async () => {
    const wrong = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n';
    assert.deepEqual(await answersTo(update('before CONNECT') + wrong), [OK, refused(405)]);
  });

  test('a bulk that is being answered', async () => {
    const lines = Array.from({ length: 1_500 }, (_, line) => JSON.stringify({ merge: record(`line ${line}`) }));
    const parts = Object.entries(opened.credentials).map(([name, value]) => named(name, value));
    const body = multipart(...parts, named('lines', lines.join('\n'), 'lines'));
    const socket = open();
    socket.write(Buffer.concat([Buffer.from(headOf(BULK, MULTIPART, body.length)), body]));
    const [begun] = await once(socket, 'data');
    // What comes piece by piece is refused once.
    socket.write(GARBAGE);
    setTimeout(() => socket.write(GARBAGE), 20).unref();
    const text = begun + (await rest(socket));
    const end = text.indexOf('\r\n0\r\n\r\n') + '\r\n0\r\n\r\n'.length;
    assert.equal(text.slice(0, end).match(/"rkwa_errorcount":0/g)?.length, 1_500);
    assert.deepEqual(
      answersIn(text.slice(end)).map(({ status }) => status),
      [400],
      text.slice(end - 100),
    );
    assert.equal(await stored(), 'line 1499');
  });

  test('and a client that goes away instead of reading that stops nobody', async () => {
    for (const request of [GARBAGE, 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n']) {
      for (const inFront of ['', update('in front')]) {
        const socket = open();
        await once(socket, 'connect');
        socket.write(inFront + request);
        await wait(10);
        socket.resetAndDestroy();
        await wait(10);
      }
    }
    assert.deepEqual(await answersTo(update('still served', 'Connection: close\r\n')), [{ status: 200, isLast: true }]);
  });

  test('but a request that is refused already gets no second answer', async () => {
    const socket = open();
    const large = 'x'.repeat(LIMITS.maxBody + 1);
    socket.write(`${headOf(UPDATE, URLENCODED, null)}${large.length.toString(16)}\r\n${large}\r\n`);
    const [begun] = await once(socket, 'data');
    socket.write('xyz\r\n');
    const started = performance.now();
    const text = begun + (await rest(socket));
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      [413],
    );
    assert.equal(text.split('HTTP/1.1').length, 2);
    assert.ok(performance.now() - started < 3_000, 'it is not waited for');
  });
});

describe('a request behind the last answer of its connection is not carried out', () => {
  const REFUSED = [
    ['a body that is too large, as it comes', 413, () => postText(UPDATE, 'x'.repeat(4 << 20))],
    ['no Host', 400, () => update('no host').replace('Host: x\r\n', '')],
  ] as const;
  for (const [what, status, request] of REFUSED) {
    test(what, async () => {
      await opened.update(record('untouched'), { mode: 'merge' });
      assert.deepEqual(await answersTo(request() + update('behind it')), [refused(status)]);
      await wait(50);
      assert.equal(await stored(), 'untouched');
    });
  }

  for (const [what, request] of [
    ['a request that wants it to be the last', () => update('the last', 'Connection: close\r\n')],
    ['HTTP/1.0', () => update('the last').replace('HTTP/1.1', 'HTTP/1.0')],
  ] as const) {
    test(`${what}, which is answered itself`, async () => {
      assert.deepEqual(await answersTo(request() + update('behind it')), [{ status: 200, isLast: true }]);
      await wait(50);
      assert.equal(await stored(), 'the last');
    });
  }

  test('an answer that the server ends with', async () => {
    await using ending = await ownServer();
    // As the command line does to what is in flight.
    ending.server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
    const socket = open(ending.port);
    socket.write(update('the last') + update('behind it') + update('behind it'));
    assert.equal(answersIn(await rest(socket)).length, 1);
    await wait(50);
    assert.equal(await stored(), 'the last');
  });

  test('and where it is being carried out already, the refusal in front of it is not the last answer', async () => {
    const files = ['a', 'b', 'c'].map((name) => named(name, 'x', 'x'));
    const parts = Object.entries({ ...opened.credentials, param: '{}' }).map(([name, value]) => named(name, value));
    const body = multipart(...parts, ...files);
    const request = headOf(UPDATE, MULTIPART, body.length) + body.toString('latin1');
    for (let n = 0; n < 5; n++) {
      await opened.update(record('untouched'), { mode: 'merge' });
      const answers = await answersTo(request + update('behind it', 'Connection: close\r\n'));
      await wait(20);
      // It depends on how the bytes arrive.
      const isDone = (await stored()) === 'behind it';
      assert.deepEqual(answers, isDone ? [{ status: 413, isLast: false }, refused(200)] : [refused(413)]);
    }
  });
});

/** A server of its own over the same register, with a body's time. */
async function ownServer(time: BodyTime = BODY_TIME): Promise<{ server: Server; port: number } & AsyncDisposable> {
  const { store, files } = opened.running;
  const options = { ...LIMITS, basePath: '', maxRecords: 0, always200: false, svgImages: false };
  const server = createHttpServer(store, files, options, createLog('error'), time);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a server that ends does not wait for a refused client', () => {
  /** Milliseconds until a server has ended. */
  async function ended(server: Server): Promise<number> {
    const started = performance.now();
    await new Promise((resolve) => server.close(resolve));
    return performance.now() - started;
  }

  test('that is still sending', async () => {
    await using own = await ownServer();
    const socket = open(own.port);
    socket.write(headOf(UPDATE, URLENCODED, 1 << 20));
    socket.write('x');
    const [answer] = await once(socket, 'data');
    const sending = setInterval(() => socket.write('x'), 50);
    const milliseconds = await ended(own.server).finally(() => clearInterval(sending));
    socket.destroy();
    assert.deepEqual(
      answersIn(String(answer)).map(({ status }) => status),
      [413],
    );
    assert.ok(milliseconds < 1_000, `${milliseconds} ms`);
  });

  test('that is refused after the end has begun', async () => {
    await using own = await ownServer();
    const socket = open(own.port);
    socket.write(`${headOf(UPDATE, URLENCODED, null)}1\r\nx\r\n`);
    await once(own.server, 'request');
    const end = ended(own.server);
    const large = 'x'.repeat(LIMITS.maxBody);
    socket.write(`${large.length.toString(16)}\r\n${large}\r\n`);
    const [answer] = answersIn(await rest(socket));
    assert.equal(answer?.status, 413);
    assert.ok((await end) < 1_000);
  });

  for (const [what, request] of [
    ['no HTTP', GARBAGE],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ] as const) {
    test(`that sent ${what} and does not close its side`, async () => {
      await using own = await ownServer();
      const socket = connect({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {}).write(request);
      const text = await rest(socket);
      assert.equal(answersIn(text).length, 1);
      const milliseconds = await ended(own.server);
      socket.destroy();
      assert.ok(milliseconds < 1_000, `${milliseconds} ms`);
    });
  }
});

test('a client that falls silent in a body behind a slow upload is cut off as fast as any', async () => {
  await using own = await ownServer({ silent: 400, small: 60_000 });
  const parts = Object.entries({ ...opened.credentials, mode: 'merge', param: JSON.stringify(record('slow')) });
  const upload = multipart(...parts.map(([name, value]) => named(name, value)), named('p_file', 'x', 'x'));
  const socket = open(own.port);
  socket.write(headOf(UPDATE, MULTIPART, upload.length));
  await wait(100);
  // The file is put on the disk while the next request begins.
  socket.write(Buffer.concat([upload, Buffer.from(headOf(UPDATE, URLENCODED, 50_000))]));
  const started = performance.now();
  const text = await Promise.race([rest(socket), wait(5_000, '', { ref: false })]);
  socket.destroy();
  assert.deepEqual(
    answersIn(text).map(({ status }) => status),
    [200],
  );
  const milliseconds = performance.now() - started;
  assert.ok(milliseconds >= 390 && milliseconds < 2_000, `${milliseconds} ms`);
});
