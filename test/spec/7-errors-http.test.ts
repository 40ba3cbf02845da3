// Spec 7 and 4: the envelope whatever comes over the socket, also what is not HTTP; D3, D33, D35.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { answersIn, exchange, postText } from './exchange.ts';
import { type Opened, openApp } from './opened.ts';

const SEARCH = '/webapi/v1/dataset/search';
let opened: Opened;
let always: Opened;
let query: string;
before(async () => {
  const definition =
    '{ code: T, fields: [{ id: t_primarykey, type: id, search: exact }, { id: t_text, type: text, search: partial }] }';
  opened = await openApp(definition, [{ t_text: '最初' }]);
  always = await openApp(definition, [{ t_text: '最初' }], { always200: true });
  query = new URLSearchParams(opened.credentials).toString();
});
after(() => Promise.all([opened.running.close(), always.running.close()]));

const CHUNKED = `POST ${SEARCH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n`;
const RAW = [
  ['7 rule 1: what is not HTTP at all', 'こんにちは\r\n\r\n', 400, 'malformed_request'],
  [
    '7 rule 1: an HTTP version that does not exist',
    `POST ${SEARCH} HTTP/9.9\r\nHost: x\r\n\r\n`,
    400,
    'malformed_request',
  ],
  ['7 rule 1: no Host', `POST ${SEARCH} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`, 400, 'malformed_request'],
  [
    '7 rule 1: headers beyond every size',
    `POST ${SEARCH} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    400,
    'malformed_request',
  ],
  [
    '7 rule 1: a header without a colon',
    `POST ${SEARCH} HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`,
    400,
    'malformed_request',
  ],
  [
    '7 rule 1: a length that is no number',
    `POST ${SEARCH} HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n`,
    400,
    'malformed_request',
  ],
  [
    '7 rule 1: two lengths',
    `POST ${SEARCH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    400,
    'malformed_request',
  ],
  ['7 rule 1: chunked and a length', `${CHUNKED}Content-Length: 3\r\n\r\nabc`, 400, 'malformed_request'],
  ['7 rule 1: broken chunks', `${CHUNKED}\r\n3\r\nabc\r\nxyz\r\n`, 400, 'malformed_request'],
  [
    '7 rule 1: an Expect that nobody knows does not keep the envelope away',
    postText(SEARCH, '', 'Expect: tea\r\n'),
    400,
    'missing_parameter',
  ],
  [
    '7 rule 1: an Upgrade that nobody offers',
    postText(SEARCH, '', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    400,
    'missing_parameter',
  ],
  [
    'D3: no Content-Type',
    `POST ${SEARCH} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    415,
    'unsupported_media_type',
  ],
  [
    'D3: CONNECT is a method like any other',
    'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    405,
    'wrong_method',
  ],
  ['D3: TRACE is a method like any other', `TRACE ${SEARCH} HTTP/1.1\r\nHost: x\r\n\r\n`, 405, 'wrong_method'],
  ['D3: OPTIONS for the whole server', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'unknown_path'],
] as const;

for (const [title, request, status, code] of RAW) {
  test(title, async () => {
    for (const [app, expected] of [
      [opened, status],
      [always, 200],
    ] as const) {
      const [answer, ...more] = answersIn(await exchange(app.running.url, request));
      assert.ok(answer, 'an answer came');
      assert.deepEqual([answer.status, more.length], [expected, 0], answer.head);
      assert.match(answer.head, /^Content-Type: application\/json;charset=UTF-8$/m);
      assert.match(answer.head, new RegExp(`^X-Error-Code: ${code}$`, 'm'));
      if (code === 'wrong_method') assert.match(answer.head, /^Allow: POST$/m);
      const envelope = JSON.parse(answer.body);
      assert.deepEqual(Object.keys(envelope), ['rkwa_status', 'rkwa_errorcount', 'rkwa_errmsg']);
      assert.deepEqual([envelope.rkwa_status, envelope.rkwa_errorcount], ['NG', envelope.rkwa_errmsg.length]);
    }
  });
}

test('D35: the header is written exactly so', async () => {
  const [answer] = answersIn(await exchange(opened.running.url, postText(SEARCH, query)));
  assert.ok(answer?.head.includes('\r\nContent-Type: application/json;charset=UTF-8\r\n'), String(answer?.head));
});

test('4: requests sent one behind the other without waiting are answered in their order', async () => {
  const texts = ['最初', '無い', '最', '', '{'];
  const requests = texts.map((text) => {
    const param = text === '{' ? text : JSON.stringify({ t_text: text });
    return postText(SEARCH, `${query}&param=${encodeURIComponent(param)}`);
  });
  const text = await exchange(opened.running.url, requests.join(''), (received) => answersIn(received).length === 5);
  const counts = answersIn(text).map(({ status, body }) => [status, JSON.parse(body).rkwa_errorcount]);
  assert.deepEqual(counts, [
    [200, 0],
    [200, 1],
    [200, 0],
    [200, 0],
    [400, 1],
  ]);
});

test('4: a body in many small chunks, split inside a character', async () => {
  const body = Buffer.from(`${query}&param={"t_text":"最初"}`);
  const chunks = Array.from(body, (byte) =>
    Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
  );
  const [answer] = answersIn(
    await exchange(
      opened.running.url,
      Buffer.concat([Buffer.from(`${CHUNKED}\r\n`), ...chunks, Buffer.from('0\r\n\r\n')]),
    ),
  );
  assert.equal(JSON.parse(answer?.body ?? '').rkwa_errorcount, 0);
});

test('4: HTTP/1.0 without a Host is served', async () => {
  const request = postText(SEARCH, query).replace('HTTP/1.1\r\nHost: x', 'HTTP/1.0');
  const [answer] = answersIn(await exchange(opened.running.url, request));
  assert.equal(answer?.status, 200);
});

test('4: a client that leaves in the middle of its request changes nothing and stops nobody', async () => {
  const update = postText('/webapi/v1/data/update', `${query}&param={"t_primarykey":{"value":"1"}}`);
  for (const cut of [10, 100, update.length - 1]) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(opened.running.url).port), '127.0.0.1', () =>
        socket.end(update.slice(0, cut)),
      );
      socket.on('error', () => {}).on('close', () => resolve());
      socket.resume();
    });
  }
  assert.equal(await opened.find({ t_text: '最初' }), '1');
  const faults = opened.running.log.filter((line) => / (?:error|warn) /.test(line));
  assert.deepEqual(faults, []);
});
