// Spec 4: method, content types and parameters of both operations; D2-D4, D35.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Reply } from '../harness/running.ts';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const SEARCH = '/webapi/v1/dataset/search';
const UPDATE = '/webapi/v1/data/update';
const FORM = 'application/x-www-form-urlencoded';

let opened: Opened;
let query: string;
before(async () => {
  const definition = `
code: R
fields:
  - { id: r_primarykey, type: id, search: exact }
  - { id: r_text, type: text, search: partial }
tables:
  - { code: r_rows, fields: [{ id: r_row, type: text, search: exact }] }
`;
  opened = await openApp(definition, [{ r_primarykey: '1', r_text: '始め' }]);
  query = new URLSearchParams(opened.credentials).toString();
});
after(() => opened.running.close());

async function send(path: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(opened.running.url + path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text || 'null') };
}

const post = (body: string | Buffer<ArrayBuffer>, type = FORM, path = SEARCH) =>
  send(path, { method: 'POST', body, headers: { 'content-type': type } });

/** A multipart body with the boundary `x`, with parts named and filled as given. */
function multipart(parts: readonly (readonly [name: string, value: string | Buffer])[]): Buffer<ArrayBuffer> {
  const pieces = parts.flatMap(([name, value]) => [
    Buffer.from(`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(value as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from('--x--\r\n')]);
}
const MULTIPART = 'multipart/form-data; boundary=x';

test('4: both operations take POST with application/x-www-form-urlencoded', async () => {
  assert.equal((await post(query)).json.rkwa_status, 'OK');
  const param = encodeURIComponent('{"r_primarykey":{"value":"1"},"r_text":{"value":"a+b c&d=e%20京"}}');
  const { json } = await post(`${query}&param=${param}`, FORM, UPDATE);
  assert.equal(json.r_text.value, 'a+b c&d=e%20京');
});

test('4: + is a space, and a percent-encoded + is a +', async () => {
  const param = '%7B"r_primarykey":%7B"value":"1"%7D,"r_text":%7B"value":"一+二%2B三"%7D%7D';
  assert.equal((await post(`${query}&param=${param}`, FORM, UPDATE)).json.r_text.value, '一 二+三');
});

test('4: both operations take POST with multipart/form-data', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries(opened.credentials)) form.set(name, value);
  form.set('param', JSON.stringify(entries({ r_primarykey: '1', r_text: '部分\r\n--境界\r\n𠮷 "\'' })));
  const update = await opened.running.post(UPDATE, form);
  assert.equal(update.json.r_text.value, '部分\r\n--境界\r\n𠮷 "\'');
  form.delete('param');
  assert.equal((await opened.running.post(SEARCH, form)).json.R[0].r_text.value, '部分\r\n--境界\r\n𠮷 "\'');
});

test('D35: Content-Type is exactly application/json;charset=UTF-8', async () => {
  const replies = [
    await post(query),
    await post(''),
    await post(`${query}&param={}`, FORM, UPDATE),
    await post('', 'text/plain'),
  ];
  for (const { headers } of replies) assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8');
});

const TYPES = [
  ['D3: upper case', 'Application/X-WWW-Form-URLEncoded', 200],
  ['D3: a charset of UTF-8', `${FORM}; charset=utf-8`, 200],
  ['D3: a charset of UTF-8 in quotes, without a space', `${FORM};charset="UTF-8"`, 200],
  ['D3: another charset', `${FORM}; charset=Shift_JIS`, 415],
  ['D3: JSON', 'application/json', 415],
  ['D3: text', 'text/plain;charset=UTF-8', 415],
  ['D3: multipart of another kind', 'multipart/mixed; boundary=x', 415],
  ['D3: an empty type', '', 415],
] as const;

for (const [title, type, status] of TYPES) {
  test(title, async () => {
    for (const path of [SEARCH, UPDATE]) {
      const reply = await post(path === SEARCH ? query : `${query}&param={"r_primarykey":{"value":"1"}}`, type, path);
      assert.equal(reply.status, status, reply.text);
      if (status === 415) assert.equal(refusal(reply).code, 'unsupported_media_type');
    }
  });
}

test('D3: a compressed body is refused', async () => {
  const headers = { 'content-type': FORM, 'content-encoding': 'gzip' };
  assert.equal(refusal(await send(SEARCH, { method: 'POST', body: query, headers })).status, 415);
});

for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
  const title = 'D3: only POST is served';
  test(`${title}, ${method} is refused with Allow`, async () => {
    for (const path of [SEARCH, UPDATE]) {
      const reply = await send(`${path}?${query}`, { method });
      const { code, status, messages } = refusal(reply);
      assert.deepEqual([code, status, reply.headers.get('allow')], ['wrong_method', 405, 'POST']);
      assert.match(messages[0] ?? '', new RegExp(method));
    }
  });
}

test('D3: HEAD is refused too, without a body', async () => {
  const { status, headers, text } = await send(SEARCH, { method: 'HEAD' });
  assert.deepEqual([status, headers.get('allow'), text], [405, 'POST', '']);
});

test('D4: parameters in the query of the URL are not parameters', async () => {
  assert.equal(
    refusal(await send(`${SEARCH}?${query}`, { method: 'POST', body: '', headers: { 'content-type': FORM } })).code,
    'missing_parameter',
  );
  assert.equal((await post(query, FORM, `${SEARCH}?lang=9`)).status, 200);
});

const IGNORED = [
  '__proto__=1',
  'constructor=%7B%7D',
  'toString=',
  'nocache=1&_=2',
  '=empty',
  '%E4%BB%96=%F0%9F%91%8D',
  '&&',
  'flag',
];
for (const sent of IGNORED) {
  const title = 'D4: an unknown parameter is ignored';
  test(`${title}, ${sent}`, async () => assert.equal((await post(`${sent}&${query}`)).text, (await post(query)).text));
}

test('D4: required parameters that are missing or empty are all named', async () => {
  const { code, messages } = refusal(await post('appcode=&lang=ja', FORM, UPDATE));
  assert.equal(code, 'missing_parameter');
  assert.deepEqual(
    messages.map((message) => /「(\w+)」/.exec(message)?.[1]),
    ['appcode', 'appkey', 'param'],
  );
});

test('D4: the same parameter twice is an error, once for each name, in both content types', async () => {
  const { code, status, messages } = refusal(
    await post(`${query}&lang=0&appcode=R&lang=1&lang=2&__proto__=1&__proto__=1`),
  );
  assert.deepEqual([code, status, messages.length], ['repeated_parameter', 400, 3]);
  for (const name of ['lang', 'appcode', '__proto__'])
    assert.ok(messages.some((message) => message.includes(`「${name}」`)));
  const form = new FormData();
  for (const [name, value] of Object.entries(opened.credentials)) form.append(name, value);
  for (const value of ['{}', '{}']) form.append('param', value);
  assert.equal(refusal(await opened.running.post(SEARCH, form)).code, 'repeated_parameter');
});

const PARAMS = [
  ["D2: \\' is accepted beside what JSON allows", '{"r_text":"it\\\'s"}', null],
  ['D2: every escape of JSON', '{"r_text":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u4EAC\\ud842\\udfb7"}', null],
  ['D2: space around and between', ' \r\n\t{ "r_text" : "x" } ', null],
  ['D2: no JSON', '{r_text:"x"}', ['param_not_json', '2']],
  ['D2: single quotes', "{'r_text':'x'}", ['param_not_json', '2']],
  ['D2: a comma too many', '{"r_text":"x",}', ['param_not_json', '15']],
  ['D2: an escape that JSON does not have', '{"r_text":"\\x41"}', ['param_not_json', '12']],
  ['D2: an unfinished text', '{"r_text":"京', ['param_not_json', '13']],
  ['D2: a raw line break in a string', '{"r_text":"a\nb"}', ['param_not_json', '13']],
  ['D2: something behind the object', '{} {}', ['param_not_json', '4']],
  ['D2: a byte order mark', '\ufeff{}', ['param_not_json', '1']],
  ['D2: a list', '[{}]', ['param_not_object', 'param']],
  ['D2: a string', '"{}"', ['param_not_object', 'param']],
  ['D2: null', 'null', ['param_not_object', 'param']],
  ['D2: a key given twice', '{"r_text":"x","r_text":"y"}', ['param_repeated_key', 'r_text']],
  ['D2: a key given twice, where', '{"r_text":"x","r_text":"y"}', ['param_repeated_key', '15']],
  ['D2: a key given twice, written differently', '{"r_text":"x","\\u0072_text":"y"}', ['param_repeated_key', 'r_text']],
  ['D2: a key given twice in a table', '{"r_rows":{"r_row":"x","r_row":""}}', ['param_repeated_key', 'r_row']],
  ['D2: __proto__ given twice', '{"__proto__":"x","__proto__":"y"}', ['param_repeated_key', '__proto__']],
  ['D2: nested too deeply', `{"r_text":${'['.repeat(17)}${']'.repeat(17)}}`, ['param_too_deep', '16']],
  ['D2: nested very deeply', '{"a":'.repeat(50_000), ['param_too_deep', '16']],
] as const;

for (const [title, param, problem] of PARAMS) {
  test(title, async () => {
    const reply = await opened.running.post(SEARCH, { ...opened.credentials, param });
    if (problem === null) return assert.equal(reply.json.rkwa_status, 'OK', reply.text);
    const { code, status, messages } = refusal(reply);
    assert.deepEqual([code, status, messages.length], [problem[0], 400, 1]);
    assert.ok(messages[0]?.includes(problem[1]), messages.join());
  });
}

const BROKEN = Buffer.from([0x93, 0x8c, 0x8b, 0x9e]);
const ENCODINGS = [
  ['D2: percent-encoded bytes that are no UTF-8, where', 'r_memo=%93%8C&', 'r_memo'],
  ['D2: a percent sign without digits, where', 'r_memo=100%&', 'r_memo'],
  ['D2: percent-encoded surrogates are no UTF-8', 'r_memo=%ED%A1%82&', 'r_memo'],
  ['D2: overlong UTF-8', 'r_memo=%C0%80&', 'r_memo'],
  ['D2: CP932 bytes as they are, where', Buffer.concat([Buffer.from('r_memo='), BROKEN, Buffer.from('&')]), 'r_memo'],
] as const;

for (const [title, sent, name] of ENCODINGS) {
  test(title, async () => {
    const reply = await post(Buffer.concat([Buffer.from(sent as string), Buffer.from(query)]));
    const { code, messages } = refusal(reply);
    assert.deepEqual([code, messages.length], ['bad_encoding', 1]);
    assert.ok(messages[0]?.includes(`「${name}」`), messages.join());
  });
}

test('D2: UTF-8 bytes as they are need no percent-encoding', async () => {
  assert.equal((await post(Buffer.from(`${query}&param={"r_text":"無い𠮷"}`))).json.r_text, '無い𠮷');
});

test('D2: a part that is not UTF-8 is named', async () => {
  const { appcode, appkey } = opened.credentials;
  const body = multipart([
    ['appcode', appcode],
    ['r_memo', BROKEN],
    ['appkey', appkey],
  ]);
  const { code, messages } = refusal(await post(body, MULTIPART));
  assert.deepEqual([code, messages.length], ['bad_encoding', 1]);
  assert.ok(messages[0]?.includes('「r_memo」'), messages.join());
});

const MULTIPARTS = [
  ['D3: multipart without a boundary', 'multipart/form-data', '--x--\r\n'],
  ['D3: multipart without a part', 'multipart/form-data; boundary=x', ''],
  ['D3: multipart with another boundary', 'multipart/form-data; boundary=x', '--y\r\n\r\n--y--\r\n'],
  [
    'D3: multipart that ends early',
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="lang"\r\n\r\nja',
  ],
] as const;

for (const [title, type, body] of MULTIPARTS) {
  test(title, async () => assert.equal(refusal(await post(body, type)).code, 'malformed_body'));
}

test('D3: parts without a name are no parameters, and do no harm', async () => {
  const part = '--x\r\nContent-Disposition: form-data\r\n\r\nv\r\n';
  const file = '--x\r\nContent-Disposition: form-data; filename="a.txt"\r\n\r\nv\r\n';
  const type = 'multipart/form-data; boundary=x';
  assert.equal(refusal(await post(`${part}${part}--x--\r\n`, type)).code, 'missing_parameter');
  assert.equal(refusal(await post(`${file}--x--\r\n`, type)).code, 'file_part_refused');
});

test('D3: more parameters than anyone sends are refused', async () => {
  const many = Array.from({ length: 1001 }, (_, index) => `p${index}=1`).join('&');
  assert.equal(refusal(await post(many)).code, 'malformed_body');
});
