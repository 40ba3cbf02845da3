// Spec 4.1 and 8: results of any size; D22, D23, P10.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Opened, openApp, refusal } from './opened.ts';

const COUNT = 1300;
let opened: Opened;
let capped: Opened;
const definition = `
code: P
fields:
  - { id: p_primarykey, type: id, search: exact }
  - { id: p_text, type: text, search: partial }
  - { id: p_number, type: number, search: range }
tables:
  - { code: p_rows, fields: [{ id: p_row, type: text, search: exact }] }
`;
const records = Array.from({ length: COUNT }, (_, index) => ({
  p_primarykey: `鍵${COUNT - index}`,
  p_text: `件名 ${index % 2 === 0 ? '偶数' : '奇数'}`,
  p_number: String(index),
  p_rows: [{ p_row: `行${index % 10}` }],
}));
before(async () => {
  opened = await openApp(definition, records);
  capped = await openApp(definition, records.slice(0, 6), { maxRecords: 5 });
});
after(() => Promise.all([opened.running.close(), capped.running.close()]));

const keysOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `鍵${COUNT - from - index}`).join(' ');

// Around the sizes at which an answer is sent in one piece, or in pages.
const SIZES = [1, 199, 200, 201, 255, 256, 257, 511, 512, 513, COUNT];
for (const size of SIZES) {
  const title = 'D22: a result of any size comes whole and in order';
  test(`${title}, ${size} records`, async () => {
    assert.equal(await opened.find({ p_number_to: String(size - 1) }), keysOf(0, size));
  });
}

test('D22: a long result is as valid as a short one, with rows and revisions', async () => {
  const { text, json, headers } = await opened.search({}, { tablecode: 'p_rows', revision: '1' });
  assert.equal(json.p_rows.length, COUNT);
  assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8');
  assert.ok(
    text.endsWith(
      '"p_rows":[{"p_row":{"type":"text","value":"行9"}}],"pms_revision":{"type":"pms_revision","value":"1"}}]}',
    ),
  );
  assert.deepEqual(Object.keys(json), ['rkwa_status', 'rkwa_errorcount', 'rkwa_errmsg', 'p_rows']);
});

test('D22: the cap that the operator sets refuses a longer result, and no shorter one', async () => {
  const { code, messages } = refusal(await capped.search({}));
  assert.equal(code, 'too_many_records');
  assert.match(messages[0] ?? '', /5/);
  assert.equal((await capped.find({ p_number: '1' })).split(' ').length, 5);
});

test('D22: a search with limit is not capped', async () => {
  assert.equal((await capped.find({}, { limit: '6' })).split(' ').length, 6);
});

const PAGES = [
  ['D23: limit and after page through all records', {}, 7],
  ['D23: pages of hundreds', {}, 250],
  ['D23: pages longer than what is sent in one piece', {}, 700],
  ['D23: pages of what a partial match finds', { p_text: '偶数' }, 100],
  ['D23: pages of what a range finds', { p_number: '100', p_number_to: '399' }, 50],
  ['D23: pages of what rows find', { p_rows: { p_row: '行3' } }, 13],
  ['D23: pages of what two conditions find', { p_text: '奇数', p_number: '3' }, 300],
] as const;

for (const [title, param, limit] of PAGES) {
  test(title, async () => {
    const whole = await opened.find(param);
    const keys: string[] = [];
    let after: string | null = '';
    do {
      const more: Record<string, string> = { limit: String(limit), ...(after === '' ? {} : { after }) };
      const { json } = await opened.search(param, more);
      assert.ok(json.P.length <= limit && json.P.length > 0);
      for (const record of json.P) keys.push(record.p_primarykey.value);
      after = json.rkwa_next;
      if (after !== null) assert.deepEqual([json.P.length, after], [limit, keys.at(-1)]);
    } while (after !== null);
    assert.equal(keys.join(' '), whole);
  });
}

test('D23: rkwa_next only where limit is sent', async () => {
  assert.equal('rkwa_next' in (await opened.search({ p_number_to: '3' })).json, false);
  assert.equal('rkwa_next' in (await opened.search({ p_number_to: '3' }, { after: '鍵1300' })).json, false);
  assert.equal((await opened.search({ p_number_to: '3' }, { limit: '3' })).json.rkwa_next, '鍵1298');
  assert.equal((await opened.search({ p_number_to: '3' }, { limit: '4' })).json.rkwa_next, null);
  assert.equal((await opened.search({ p_number_to: '3' }, { limit: '10000' })).json.rkwa_next, null);
});

test('D23: after without limit gives all that follow', async () => {
  assert.equal(await opened.find({}, { after: '鍵1000' }), keysOf(301, COUNT));
});

test('D23: nothing after the last record is no match, with rkwa_next null', async () => {
  const { json } = await opened.search({}, { after: '鍵1', limit: '5' });
  assert.equal(json.rkwa_errorcount, 1);
  assert.equal(json.rkwa_next, null);
  assert.equal((await opened.search({}, { after: '鍵1' })).json.rkwa_errorcount, 1);
});

test('D23: revision=1 adds pms_revision to every record, revision=0 does not', async () => {
  const { text } = await opened.search({ p_primarykey: '鍵9' }, { revision: '1' });
  assert.ok(text.endsWith(',"pms_revision":{"type":"pms_revision","value":"1"}}]}'), text);
  assert.equal((await opened.search({ p_primarykey: '鍵9' }, { revision: '0' })).text.includes('pms_revision'), false);
});

const WRONG = [
  ['D23: limit 0', { limit: '0' }, 'bad_limit'],
  ['D23: limit above 10000', { limit: '10001' }, 'bad_limit'],
  ['D23: limit that is no whole number', { limit: '1.5' }, 'bad_limit'],
  ['D23: limit below zero', { limit: '-1' }, 'bad_limit'],
  ['D23: limit in full-width digits', { limit: '１０' }, 'bad_limit'],
  ['D23: revision other than 0 and 1', { revision: 'yes' }, 'bad_revision'],
  ['P10: an after that no record has', { after: '鍵0', limit: '5' }, 'unknown_after'],
  ['P10: an after that no record has, without limit', { after: '鍵0' }, 'unknown_after'],
  ['P10: an after that no record has, with a long limit', { after: '鍵0', limit: '1000' }, 'unknown_after'],
] as const;

for (const [title, more, code] of WRONG) {
  test(title, async () => {
    const refused = refusal(await opened.search({}, more));
    assert.deepEqual([refused.code, refused.status, refused.messages.length], [code, 400, 1]);
    assert.ok(
      refused.messages[0]?.includes(`「${code === 'unknown_after' ? 'after' : Object.keys(more)[0]}」`),
      refused.messages.join(),
    );
  });
}

test('P10: rkwa_next is the last member', async () => {
  for (const limit of ['2', '500']) {
    const { json, text } = await opened.search({}, { limit });
    assert.equal(Object.keys(json).at(-1), 'rkwa_next');
    assert.ok(text.endsWith(`}],"rkwa_next":"鍵${COUNT + 1 - Number(limit)}"}`), text.slice(-100));
  }
  const none = await opened.search({ p_text: 'ない' }, { limit: '2' });
  assert.ok(none.text.endsWith(',"rkwa_next":null}'), none.text);
});
