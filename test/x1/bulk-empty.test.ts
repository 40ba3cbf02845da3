// x1/data/bulk into an app without records, all lines or none (D39): what is many is put in aside, on SQLite.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BulkReply, line, sendBulk } from '../harness/bulk.ts';
import { entries, type Opened, openApp, refusal } from '../spec/opened.ts';

const definition = (code: string) => `
code: ${code}
fields:
  - { id: f_primarykey, type: id, search: exact }
  - { id: f_no, type: auto_number, search: exact }
  - { id: f_name, type: text, search: partial, required: true }
  - { id: f_mail, type: text, search: exact, unique: true }
  - { id: f_rank, type: text, default: 並, search: exact }
  - { id: f_note, type: text_area }
  - { id: f_sum, type: calculation, formula: "sum(r_amount)", search: exact }
tables:
  - code: f_rows
    fields:
      - { id: r_text, type: text, search: partial }
      - { id: r_amount, type: number, search: range }
`;

/** So long that some hundred lines are many. */
const NOTE = '註'.repeat(3_000);
const row = (text: string, amount: string) => entries({ r_text: text, r_amount: amount });
/** Lines that put in, change what was put in, take out, and put in again. */
const LINES = Array.from({ length: 150 }, (_, n) => [
  line(
    'insert',
    { f_primarykey: `k${n}`, f_name: `名前 ${n}`, f_mail: `${n}@x`, f_note: NOTE },
    { f_rows: [row('一', String(n)), row('二', '0.5')] },
  ),
  ...(n % 3 === 0 ? [line('insert', { f_name: '番号を貰う' })] : []),
  ...(n % 5 === 0 ? [line('merge', { f_primarykey: `k${n}`, f_rank: '上' }, { f_rows: [row('三', '7')] })] : []),
  ...(n % 7 === 0 ? [line('delete', { f_primarykey: `k${n}` })] : []),
  ...(n % 14 === 0 ? [line('insert', { f_primarykey: `k${n}`, f_name: '戻る', f_mail: `${n}@x` })] : []),
  ...(n % 11 === 0 ? [line('upsert', { f_mail: `${n}@x`, f_name: '上書き' }, {}, { key: 'f_mail' })] : []),
]).flat();

let opened: Opened;
before(async () => {
  opened = await openApp(definition('FILLED'), []);
});
after(() => opened.running.close());

async function appWith(code: string) {
  const { running } = opened;
  if (code !== 'FILLED') await running.define(definition(code));
  const credentials = { appcode: code, appkey: await running.key(code, 'yamada', { update: true, admin: true }) };
  const post = (operation: string, param: object) =>
    running.post(`/webapi/x1/${operation}`, { ...credentials, param: JSON.stringify(param) });
  return {
    post,
    bulk: (lines: readonly string[], more: Record<string, string> = {}) =>
      sendBulk(running.url, { ...credentials, lang: 'en', ...more }, lines),
    count: async () => (await post('dataset/count', {})).json.count as number,
    async all() {
      const { json } = await running.search(credentials);
      return json.rkwa_errorcount === 0 ? json : null;
    },
  };
}

/** Without what differs by the moment and the app. */
const plain = (json: object) =>
  JSON.stringify(json)
    .replace(/"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"/g, '""')
    .replace(/"(FILLED|ONE_BY_ONE)/g, '"');
const statuses = ({ lines }: BulkReply) => lines.map((of) => JSON.parse(of).rkwa_status).join(' ');

test('x1/data/bulk: atomic=1 fills an empty app as line by line does, with its history and its numbers', async () => {
  const [filled, oneByOne] = [await appWith('FILLED'), await appWith('ONE_BY_ONE')];
  const together = await filled.bulk(LINES, { atomic: '1' });
  assert.equal(together.status, 200, together.text.slice(0, 500));
  const apart = await oneByOne.bulk(LINES);
  assert.equal(statuses(together), LINES.map(() => 'OK').join(' '));
  assert.equal(plain(together.lines), plain(apart.lines));
  const found = await filled.all();
  assert.ok(found.FILLED.length > 150);
  assert.equal(plain(found.FILLED), plain((await oneByOne.all()).ONE_BY_ONE));
  for (const key of ['k0', 'k5', 'k7', 'k11', 'k14', 'k1']) {
    const param = entries({ f_primarykey: key });
    const [a, b] = [await filled.post('data/history', param), await oneByOne.post('data/history', param)];
    assert.deepEqual([a.status, plain(a.json)], [b.status, plain(b.json)], key);
  }
  const next = line('insert', { f_name: '次' });
  assert.equal(plain((await filled.bulk([next])).lines), plain((await oneByOne.bulk([next])).lines));
  // Not empty any more.
  const more = LINES.map((of) => of.replace(/"k(\d)/, '"m$1').replace('@x', '@y'));
  assert.equal((await filled.bulk(more, { atomic: '1' })).status, 200);
});

test('x1/data/bulk: what atomic=1 refuses leaves an empty app as it was, to its numbers and its history', async () => {
  const app = await appWith('REFUSED');
  await app.bulk([line('insert', { f_primarykey: 'old', f_name: '旧' }), line('delete', { f_primarykey: 'old' })]);
  const wrong = await app.bulk([...LINES, line('insert', { f_primarykey: 'k1', f_name: '又' })], { atomic: '1' });
  assert.equal(wrong.status, 409);
  const { rkwa_errmsg: messages } = JSON.parse(wrong.text);
  assert.equal(messages.length, 1);
  assert.match(messages[0], new RegExp(`^Line ${LINES.length + 1}: `, 'i'));
  assert.equal(await app.count(), 0);
  assert.equal(refusal(await app.post('data/history', entries({ f_primarykey: 'k0' }))).code, 'unknown_record');
  const { json } = await app.post('data/insert', entries({ f_name: '初' }));
  assert.deepEqual([json.f_primarykey.value, json.f_no.value], ['1', '2'], 'after the numbers that were given out');
  assert.equal((await app.post('data/restore', entries({ f_primarykey: 'old' }))).status, 200);
  assert.equal(await app.count(), 2);
});
