// Spec 8: limits are not shown; what the operator sets, and what holds in any case. D22.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answersIn, exchange, postText } from './exchange.ts';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const MAX_BODY = 64 * 1024;
const UPDATE = '/webapi/v1/data/update';
let opened: Opened;
before(async () => {
  const definition =
    '{ code: L, fields: [{ id: l_primarykey, type: id }, { id: l_text, type: text, search: partial }] }';
  opened = await openApp(definition, [{ l_primarykey: '1', l_text: '初め' }], { maxBody: MAX_BODY });
});
after(() => opened.running.close());

/** A body of an update of exactly so many bytes. */
function bodyOf(bytes: number): string {
  const head = `${new URLSearchParams(opened.credentials)}&param={"l_primarykey":{"value":"1"},"l_text":{"value":"`;
  return `${head}${'x'.repeat(bytes - head.length - 4)}"}}&`;
}

test('8: a body of as many bytes as the operator allows is read', async () => {
  const { status, json } = await opened.running.post(UPDATE, bodyOf(MAX_BODY));
  assert.equal(status, 200);
  assert.equal(await opened.find({ l_text: json.l_text.value.slice(0, 50) }), '1');
});

test('8: a body that says it is one byte longer is refused before it is read', async () => {
  const request = postText(UPDATE, bodyOf(MAX_BODY + 1));
  const [answer] = answersIn(await exchange(opened.running.url, request.slice(0, request.indexOf('\r\n\r\n') + 4)));
  assert.equal(answer?.status, 413);
  assert.match(answer?.head ?? '', /^X-Error-Code: body_too_large$/m);
  assert.match(answer?.head ?? '', /^Connection: close$/m);
  assert.match(JSON.parse(answer?.body ?? '').rkwa_errmsg[0], /65536/);
});

test('8: a body that does not say how long it is, is refused when it is too long', async () => {
  const body = bodyOf(MAX_BODY + 1);
  const head = `POST ${UPDATE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const [answer] = answersIn(await exchange(opened.running.url, `${head}${body.length.toString(16)}\r\n${body}\r\n`));
  assert.equal(answer?.status, 413);
  assert.equal(JSON.parse(answer?.body ?? '').rkwa_status, 'NG');
});

test('8: the size of a text has no limit but the one of its field and of the body', async () => {
  const text = '漢'.repeat(7_000);
  assert.equal((await opened.update(entries({ l_primarykey: '1', l_text: text }))).json.l_text.value, text);
  assert.equal(await opened.find({ l_text: text.slice(0, 5_000) }), '1');
});

test('8: no rate is limited', async () => {
  const replies = await Promise.all(Array.from({ length: 300 }, () => opened.search({ l_text: '無い' })));
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
});

test('8: a refused body does no harm to the requests that follow', async () => {
  refusal(await opened.update(entries({ l_primarykey: '2' })));
  assert.equal((await opened.search({})).status, 200);
});
