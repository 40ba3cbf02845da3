// Files in a reply: ranges, conditions, headers, whatever the file's name and type, and sources that break.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { openDiskStore } from '../src/files/disk.ts';
import type { FileStore } from '../src/files/file-store.ts';
import { replyContent } from '../src/http/content.ts';
import { attachment } from '../src/http/disposition.ts';
import { lingering } from '../src/http/linger.ts';
import { replyRefused } from '../src/http/reply.ts';
import type { Content } from '../src/operations/answer.ts';
import { refusedBy } from '../src/operations/refused.ts';

const SIZE = 1_000_003;
const bytes = randomBytes(SIZE);
const folder = mkdtempSync(join(tmpdir(), 'daicho-content-'));
let files: FileStore;
let server: Server;
let whole: Content;
/** What the server replies with, and what became of it. */
let content: Content;
let outcome: Promise<unknown>;

async function kept(name: string, type: string, data: Buffer): Promise<Content> {
  const receiver = await files.receive();
  await receiver.write(Buffer.from(data));
  const received = await receiver.end();
  await files.keep(received);
  const { digest, size } = received;
  const read: Content['read'] = async (range) => {
    const stream = await files.read(digest, range);
    assert.ok(stream !== null);
    return stream;
  };
  return { kind: 'content', name, type, size, etag: `"${digest}"`, read };
}

before(async () => {
  files = openDiskStore(folder);
  whole = await kept('a.bin', 'application/pdf', bytes);
  content = whole;
  server = createServer((req, res) => {
    req.resume();
    outcome = replyContent(req, res, content).then(
      () => 'handed over',
      (error: unknown) => {
        replyRefused(res, refusedBy(error, 'en'), false, lingering());
        return error;
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await files.close();
  rmSync(folder, { recursive: true });
});

const port = () => (server.address() as AddressInfo).port;

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function get(headers: Record<string, string> = {}, of: Content = whole): Promise<Got> {
  content = of;
  const sent = request({ port: port(), host: '127.0.0.1', method: 'POST', headers, agent: false });
  sent.end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

/** `first` and `last` of what came; they and the status are the range. */
function isPart(got: Got, first: number, last: number): void {
  assert.equal(got.status, 206);
  assert.equal(got.headers['content-range'], `bytes ${first}-${last}/${SIZE}`);
  assert.equal(got.headers['content-length'], String(last - first + 1));
  assert.ok(got.body.equals(bytes.subarray(first, last + 1)));
}

function isWhole(got: Got): void {
  assert.equal(got.status, 200);
  assert.equal(got.headers['content-range'], undefined);
  assert.equal(got.headers['content-length'], String(SIZE));
  assert.ok(got.body.equals(bytes));
}

describe('a file in a reply', () => {
  test('whole, byte for byte, with what a client needs to keep it and to ask for parts', async () => {
    const got = await get();
    isWhole(got);
    assert.equal(await outcome, 'handed over');
    const { 'content-type': type, 'accept-ranges': ranges, etag, 'cache-control': cache } = got.headers;
    assert.deepEqual([type, ranges, etag, cache], ['application/pdf', 'bytes', whole.etag, 'private, no-cache']);
    assert.equal(got.headers['x-content-type-options'], 'nosniff');
    assert.equal(got.headers['content-security-policy'], 'sandbox');
    assert.equal(got.headers['content-disposition'], `attachment; filename="a.bin"; filename*=UTF-8''a.bin`);
  });

  test('an empty one', async () => {
    const empty = await kept('empty', 'text/plain', Buffer.alloc(0));
    for (const range of [undefined, 'bytes=-5']) {
      const got = await get(range === undefined ? {} : { range }, empty);
      assert.deepEqual([got.status, got.headers['content-length'], got.body.length], [200, '0', 0]);
    }
    assert.equal((await get({ range: 'bytes=0-' }, empty)).status, 416);
  });
});

describe('a range of a file', () => {
  const last = SIZE - 1;
  const parts: readonly (readonly [string, number, number])[] = [
    ['bytes=0-0', 0, 0],
    ['bytes=0-', 0, last],
    ['bytes=7-99', 7, 99],
    ['bytes=300000-700000', 300_000, 700_000],
    ['bytes=999999-', 999_999, last],
    [`bytes=${last}-${last}`, last, last],
    ['bytes=10-99999999999999999999', 10, last],
    ['bytes=-1', last, last],
    ['bytes=-500', SIZE - 500, last],
    ['bytes=-99999999', 0, last],
    ['BYTES=1-2', 1, 2],
    ['bytes= 1-2 ', 1, 2],
  ];
  for (const [range, first, end] of parts) {
    test(`${range}: those bytes, with 206`, async () => isPart(await get({ range }), first, end));
  }

  for (const range of [
    'bytes=0-1,5-6',
    'bytes=5-4',
    'bytes=-',
    'bytes=',
    'bytes=a-b',
    'bytes=1',
    'pages=0-1',
    'bytes=0x1-2',
    '1-2',
  ]) {
    test(`${range}: the whole file`, async () => isWhole(await get({ range })));
  }

  for (const range of [`bytes=${SIZE}-`, `bytes=${SIZE}-${SIZE + 5}`, 'bytes=99999999999999999999-', 'bytes=-0']) {
    test(`${range}: refused with 416 and the size`, async () => {
      const { status, headers, body } = await get({ range });
      assert.deepEqual([status, headers['content-range']], [416, `bytes */${SIZE}`]);
      assert.equal(headers['x-error-code'], 'range_not_satisfiable');
      assert.equal(headers['content-type'], 'application/json;charset=UTF-8');
      assert.equal(JSON.parse(body.toString()).rkwa_errorcount, 1);
    });
  }

  test('If-Range: the range for the same ETag, the whole for another, a weak one or a date', async () => {
    const range = 'bytes=1-2';
    isPart(await get({ range, 'if-range': whole.etag }), 1, 2);
    for (const other of ['"other"', `W/${whole.etag}`, 'Sat, 01 Aug 2026 00:00:00 GMT']) {
      isWhole(await get({ range, 'if-range': other }));
    }
    isWhole(await get({ range: `bytes=${SIZE}-`, 'if-range': '"other"' }));
  });
});

describe('a file that the client has', () => {
  test('304 without content where If-None-Match names its ETag', async () => {
    const unread: Content = {
      ...whole,
      read: async () => {
        throw new Error('read for nothing');
      },
    };
    for (const named of [whole.etag, `W/${whole.etag}`, `"a", ${whole.etag}`, '*']) {
      const { status, headers, body } = await get({ 'if-none-match': named, range: 'bytes=1-2' }, unread);
      assert.deepEqual([status, body.length, headers.etag], [304, 0, whole.etag], named);
      assert.equal(headers['cache-control'], 'private, no-cache');
      assert.equal(headers['content-length'], undefined);
    }
  });

  test('the file where it names others', async () => {
    for (const named of ['"a"', whole.etag.slice(1, -1), `"${whole.etag.slice(1, -1)}.small"`, '']) {
      isWhole(await get({ 'if-none-match': named }));
    }
  });
});

describe('the type of a file', () => {
  const told = async (type: string) => (await get({ range: 'bytes=0-0' }, { ...whole, type })).headers['content-type'];

  test('as it was sent, without a charset', async () => {
    const types = [
      'image/png',
      'text/plain',
      'text/csv',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.ms-excel.sheet.macroEnabled.12',
    ];
    for (const type of types) assert.equal(await told(type), type);
  });

  test('bytes where a browser would run it, or where it is no type', async () => {
    const types = [
      'text/html',
      'Text/HTML',
      'application/xhtml+xml',
      'image/svg+xml',
      'text/xml',
      'application/xml',
      'application/xml-dtd',
      'application/rss+xml',
      'text/xsl',
      'text/javascript',
      'application/x-javascript',
      'application/ecmascript',
      'multipart/x-mixed-replace',
      '',
      'text',
      'text/',
      '/plain',
      'text/plain; charset=utf-8',
      'text/plain\r\nSet-Cookie: a=b',
      'text/plain/plain',
      '文書/plain',
    ];
    for (const type of types) assert.equal(await told(type), 'application/octet-stream', type);
  });
});

describe('the name of a file', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['plain.txt', 'plain.txt', 'plain.txt'],
    ['請求書 10月.pdf', '___ 10_.pdf', '%E8%AB%8B%E6%B1%82%E6%9B%B8%2010%E6%9C%88.pdf'],
    ['say "hi".txt', 'say _hi_.txt', 'say%20%22hi%22.txt'],
    ['a\r\nSet-Cookie: a=b', 'a__Set-Cookie_ a=b', 'a%0D%0ASet-Cookie%3A%20a%3Db'],
    ['../../etc/passwd', '.._.._etc_passwd', '..%2F..%2Fetc%2Fpasswd'],
    ['..\\a', '.._a', '..%5Ca'],
    ['100%.txt', '100_.txt', '100%25.txt'],
    ["it's (1)*.txt", "it's (1)_.txt", 'it%27s%20%281%29%2A.txt'],
    ['😀.png', '_.png', '%F0%9F%98%80.png'],
    ['\0\x7f', '__', '%00%7F'],
    ['', 'file', 'file'],
    ['　 ', 'file', 'file'],
  ];
  for (const [name, plain, encoded] of cases) {
    test(`${JSON.stringify(name)}: in ASCII for old clients, whole for others`, async () => {
      const { headers } = await get({ range: 'bytes=0-0' }, { ...whole, name });
      assert.equal(headers['content-disposition'], `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`);
      assert.equal(headers['set-cookie'], undefined);
    });
  }

  test('what is encoded is the whole name again', () => {
    for (let code = 0; code < 0x3000; code += 200) {
      const name = Array.from({ length: 200 }, (_, index) => String.fromCharCode(code + index)).join('');
      const [, encoded = ''] = /filename\*=UTF-8''([\w!#$&+\-.^`|~%]+)$/.exec(attachment(name)) ?? [];
      assert.equal(decodeURIComponent(encoded), name);
    }
  });

  test('of a name of thousands of kanji its end is told: a header has an end', async () => {
    const { status, headers } = await get({}, { ...whole, name: `${'縦'.repeat(5_000)}.pdf` });
    assert.equal(status, 200);
    assert.equal(
      headers['content-disposition'],
      `attachment; filename="${'_'.repeat(251)}.pdf"; filename*=UTF-8''${'%E7%B8%A6'.repeat(251)}.pdf`,
    );
  });
});

describe('what breaks on the way', () => {
  /** Sends, and gives how the body ended: its bytes, or an error. */
  const ending = (of: Content) =>
    get({}, of).then(
      (got) => got.body.length,
      (error: NodeJS.ErrnoException) => error.code,
    );

  const from = (read: () => Readable): Content => ({ ...whole, read: async () => read() });

  test('a content that cannot be opened is refused before anything is sent', async () => {
    const none: Content = {
      ...whole,
      read: async () => {
        throw new Error('missing');
      },
    };
    const { status, headers } = await get({}, none);
    assert.deepEqual([status, headers['x-error-code']], [500, 'internal_error']);
    assert.equal(headers.etag, undefined);
    assert.match(String(await outcome), /missing/);
  });

  test('an error midway, too few bytes or too many end the connection: the client sees that it is not whole', async () => {
    async function* midway() {
      yield bytes.subarray(0, 100_000);
      throw new Error('the disk is gone');
    }
    assert.equal(await ending(from(() => Readable.from(midway()))), 'ECONNRESET');
    assert.match(String(await outcome), /the disk is gone/);
    assert.equal(await ending(from(() => Readable.from([bytes.subarray(0, SIZE - 1)]))), 'ECONNRESET');
    assert.match(String(await outcome), /1 of the 1000003 bytes of a content are missing/);
    assert.equal(await ending(from(() => Readable.from([bytes.subarray(0, 9), bytes]))), 'ECONNRESET');
    assert.match(String(await outcome), /more than its 1000003 bytes/);
    isWhole(await get());
  });

  test('a source that ends itself without a word', async () => {
    const source = new Readable({ read() {} });
    source.push(bytes.subarray(0, 100_000));
    setTimeout(() => source.destroy(), 50);
    assert.equal(await ending(from(() => source)), 'ECONNRESET');
    assert.match(String(await outcome), /900003 of the 1000003 bytes/);
  });

  test('a client that goes away ends the source, and is no fault', async () => {
    let source: Readable | undefined;
    let given = 0;
    const endless = {
      ...whole,
      size: 1e12,
      read: async () => {
        source = new Readable({
          read() {
            given += SIZE;
            this.push(bytes);
          },
        });
        return source;
      },
    };
    content = endless;
    const sent = request({ port: port(), host: '127.0.0.1', method: 'POST', agent: false });
    sent.on('error', () => {});
    sent.end();
    const [response] = await once(sent, 'response');
    await once(response, 'readable');
    // It reads no more: so the source waits too.
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(given < 50 * SIZE, `${given} bytes were read ahead`);
    sent.destroy();
    assert.equal(await outcome, 'handed over');
    assert.ok(source?.destroyed);
  });

  test('a client that went away before the content is open ends the source', async () => {
    const source = new Readable({ read() {} });
    let open = (_: Readable) => {};
    const opening = new Promise<Readable>((resolve) => {
      open = resolve;
    });
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    content = {
      ...whole,
      read: () => {
        asked();
        return opening;
      },
    };
    const sent = request({ port: port(), host: '127.0.0.1', method: 'POST', agent: false });
    sent.on('error', () => {});
    sent.end();
    await isAsked;
    sent.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    open(source);
    assert.equal(await outcome, 'handed over');
    assert.ok(source.destroyed);
  });
});
