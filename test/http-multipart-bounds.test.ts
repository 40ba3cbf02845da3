// Bounds of multipart requests: what is refused early, how fast a client may send, what memory it takes (D28).
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { refuse } from '../src/errors.ts';
import type { FormLimits } from '../src/http/form.ts';
import { type FormServer, type FormServerOptions, formServer } from './harness/form-server.ts';
import { MULTIPART, multipart, named } from './harness/multipart.ts';

let server: FormServer;
before(async () => {
  server = await formServer();
});
after(() => server.close());

/** Runs a piece of a test against a server of its own. */
async function on(options: FormServerOptions, use: (server: FormServer) => Promise<void>): Promise<void> {
  const other = await formServer(options);
  try {
    await use(other);
    assert.deepEqual(other.receiving(), []);
  } finally {
    await other.close();
  }
}

describe('what is refused early', () => {
  const limits: FormLimits = { maxBody: 2_000, maxFile: 300_000, maxFiles: 3, maxUpload: 500_000 };
  const file = (name: string, size: number) => named(name, 'x'.repeat(size), 'x');
  const CASES = [
    ['a file over maxFile', [file('a', 300_001)], 'file_too_large', 'a', limits.maxFile],
    ['a file at maxFile', [file('a', 300_000)], null],
    ['files over maxUpload', [file('a', 250_000), file('b', 250_001)], 'files_too_large', undefined, limits.maxUpload],
    ['files at maxUpload', [file('a', 250_000), file('b', 250_000)], null],
    ['files over maxFiles', [...'abcd'].map((name) => file(name, 1)), 'too_many_files', undefined, limits.maxFiles],
    [
      'files at maxFiles, beside one that nothing was chosen for',
      [...[...'abc'].map((name) => file(name, 1)), named('d', '', '')],
      null,
    ],
    [
      'parameters over maxBody',
      [named('a', 'x'.repeat(1_000)), named('b', 'x'.repeat(1_000))],
      'body_too_large',
      undefined,
      limits.maxBody,
    ],
    [
      'headers of files over maxBody',
      [...'ab'].map((name) => named(name, '1', 'x'.repeat(1_000))),
      'body_too_large',
      undefined,
      limits.maxBody,
    ],
    ['what stands before the first part', [Buffer.alloc(2_100, 'x\r\n')], 'body_too_large', undefined, limits.maxBody],
    ['a whole body of parameters', [named('a', 'x'.repeat(1_850))], null],
  ] as const;
  for (const [title, parts, code, at, limit] of CASES) {
    test(title, () =>
      on({ limits }, async ({ post }) => {
        for (const body of [multipart(...parts), [multipart(...parts)]]) {
          const { refused } = await post(MULTIPART, body);
          const expected = code === null ? null : [{ code, ...(at === undefined ? {} : { at }), limit }];
          assert.deepEqual(refused, expected);
        }
      }),
    );
  }

  const ANNOUNCED = [
    ['a multipart body with files', MULTIPART, undefined, 502_001, 'files_too_large', limits.maxUpload],
    ['a multipart body without files', MULTIPART, null, 2_001, 'body_too_large', limits.maxBody],
    ['a urlencoded body', 'application/x-www-form-urlencoded', undefined, 2_001, 'body_too_large', limits.maxBody],
  ] as const;
  for (const [title, type, intake, length, code, limit] of ANNOUNCED) {
    test(`by its Content-Length, before anything comes: ${title}`, () =>
      on({ limits, ...(intake === null ? { intake } : {}) }, async ({ port, settled }) => {
        const read = settled();
        const headers = { 'content-type': type, 'content-length': length };
        const outgoing = request({ port, method: 'POST', headers }).on('error', () => {});
        outgoing.flushHeaders();
        assert.deepEqual((await read).refused, [{ code, limit }]);
        outgoing.destroy();
      }));
  }

  test('without a length and without an end: as soon as it is counted', () =>
    on({ limits }, async ({ port, settled }) => {
      const read = settled();
      const outgoing = request({ port, method: 'POST', headers: { 'content-type': MULTIPART } }).on('error', () => {});
      outgoing.write(file('a', 300_001).subarray(0, -2));
      assert.deepEqual((await read).refused, [{ code: 'file_too_large', at: 'a', limit: limits.maxFile }]);
      outgoing.destroy();
    }));

  /** Takes files in by `judge`, which is called with the parameters so far; gives what those were. */
  function judging(judge: (form: ReadonlyMap<string, string>) => boolean) {
    const seen: (readonly [string, string])[][] = [];
    const options: FormServerOptions = {
      intake: (files) => ({
        receive: () => files.receive(),
        async admit(form) {
          seen.push([...form]);
          return judge(form);
        },
      }),
    };
    return { seen, options };
  }

  test('by what admits files, with the parameters before the first', () => {
    const { seen, options } = judging(() => {
      throw refuse('bad_credentials');
    });
    const body = multipart(named('a', '1'), named('f', '1', 'x'), named('b', '2'), named('g', '', 'y'));
    return on(options, async ({ post }) => {
      assert.equal((await post(MULTIPART, body)).refused?.[0]?.code, 'bad_credentials');
      assert.deepEqual(seen, [[['a', '1']]]);
    });
  });

  test('by what admits files, asked for each until it says yes, and for none where no file is', () => {
    const { seen, options } = judging((form) => form.has('b'));
    const [f, g, h] = [...'fgh'].map((name) => named(name, '1', name));
    const body = multipart(...([f, named('a', '1'), g, named('b', '2'), h, named('i', '', 'i')] as Buffer[]));
    return on(options, async ({ post }) => {
      const { files } = await post(MULTIPART, body);
      assert.deepEqual(
        files.map(({ part }) => part),
        ['f', 'g', 'h', 'i'],
      );
      assert.deepEqual(
        seen.splice(0).map((form) => form.map(([name]) => name).join('')),
        ['', 'a', 'ab'],
      );
      await post(MULTIPART, multipart(named('a', '1'), named('f', '', '')));
      assert.deepEqual(seen, []);
    });
  });

  for (const failing of ['write', 'end'] as const) {
    test(`by a store that fails while it takes a file in: ${failing}`, () => {
      let aborted = 0;
      const intake: NonNullable<FormServerOptions['intake']> = (files) => ({
        admit: async () => true,
        async receive() {
          const receiver = await files.receive();
          return {
            write: (bytes) => (failing === 'write' ? Promise.reject(refuse('unavailable')) : receiver.write(bytes)),
            end: async () => {
              await receiver.abort();
              throw refuse('unavailable');
            },
            abort: () => {
              aborted++;
              return receiver.abort();
            },
          };
        },
      });
      return on({ intake }, async ({ post }) => {
        const body = multipart(named('f', 'x'.repeat(1_000_000), 'x'), named('g', '1', 'y'));
        assert.equal((await post(MULTIPART, body)).refused?.[0]?.code, 'unavailable');
        assert.equal(aborted, 1);
      });
    });
  }
});

/** Bytes of memory that are in use, once what nobody holds is given back. */
function held(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  // Buffers are given back by the one after the one that finds them unused.
  for (let times = 0; times < 3; times++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('large files', () => {
  const CHUNK = randomBytes(1 << 20);
  const begun = named('f', '', 'x').subarray(0, -2);

  test('a store that is slow keeps the client waiting', () => {
    let taken = 0;
    const gate = Promise.withResolvers<void>();
    const intake: NonNullable<FormServerOptions['intake']> = (files) => ({
      admit: async () => true,
      async receive() {
        const receiver = await files.receive();
        return {
          ...receiver,
          async write(bytes) {
            taken += bytes.length;
            await gate.promise;
            await receiver.write(bytes);
          },
        };
      },
    });
    return on({ intake }, async ({ port, settled }) => {
      const read = settled();
      const body = multipart(named('f', Buffer.alloc(64 << 20, CHUNK), 'x'));
      const socket = connect(port, '127.0.0.1');
      const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${body.length}\r\n\r\n`;
      socket.write(head);
      let accepted = 0;
      for (let at = 0; at < body.length; at += CHUNK.length) {
        const piece = body.subarray(at, at + CHUNK.length);
        socket.write(piece, () => {
          accepted += piece.length;
        });
      }
      while (taken === 0) await wait(5);
      await wait(200);
      assert.ok(taken <= 1 << 17, `${taken} bytes were taken`);
      assert.ok(accepted < 32 << 20, `${accepted} bytes were sent`);
      gate.resolve();
      assert.equal((await read).files[0]?.size, 64 << 20);
      assert.equal(accepted, body.length);
      socket.destroy();
    });
  });

  test('300 MB pass through without filling the memory', async () => {
    const read = server.settled();
    const hash = createHash('sha256');
    const outgoing = request({ port: server.port, method: 'POST', headers: { 'content-type': MULTIPART } });
    outgoing.write(begun);
    let base = 0;
    let most = 0;
    for (let sent = 0; sent < 300; sent++) {
      // What the process needs for any upload is there after the first of them.
      if (sent === 20) base = process.memoryUsage.rss();
      hash.update(CHUNK);
      if (!outgoing.write(CHUNK)) await once(outgoing, 'drain');
      most = Math.max(most, process.memoryUsage.rss());
    }
    outgoing.end(multipart(Buffer.from('\r\n')));
    const [response] = await once(outgoing, 'response');
    response.resume();
    const { files, refused } = await read;
    assert.deepEqual([refused, files[0]?.size, files[0]?.digest], [null, 300 << 20, hash.digest('hex')]);
    assert.ok(most - base < 100 << 20, `${(most - base) >> 20} MiB more`);
  });

  for (const [type, before, after] of [
    [MULTIPART, named('a', '').subarray(0, -2), multipart(Buffer.from('\r\n'))],
    ['application/x-www-form-urlencoded', 'a=', ''],
  ] as const) {
    test(`a body in pieces of a byte takes no more memory than its size asks for: ${type}`, async () => {
      const read = server.settled();
      const socket = connect(server.port, '127.0.0.1');
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const chunk = (bytes: string | Buffer) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
      socket.write(chunk(before));
      const pieces = Buffer.from(chunk('x').repeat(10_000));
      const base = held();
      for (let sent = 0; sent < 20; sent++) if (!socket.write(pieces)) await once(socket, 'drain');
      // The server is to have read them before the memory is looked at.
      await wait(500);
      const more = held() - base;
      socket.write(`${after === '' ? '' : chunk(after)}0\r\n\r\n`);
      assert.equal((await read).form[0]?.[1].length, 200_000);
      assert.ok(more < 8 << 20, `${more} bytes more`);
      socket.destroy();
    });
  }
});
