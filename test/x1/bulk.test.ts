// x1/data/bulk (D39), on the engine in use.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { line, sendBulk } from '../harness/bulk.ts';
import { entries, type Opened, openApp, refusal } from '../spec/opened.ts';

const definition = `
code: B
fields:
  - { id: b_primarykey, type: id, search: exact }
  - { id: b_name, type: text, search: partial, required: true }
  - { id: b_mail, type: text, search: exact, unique: true }
  - { id: b_note, type: text }
tables:
  - { code: b_rows, fields: [{ id: w_text, type: text, search: exact }] }
`;

let opened: Opened;
before(async () => {
  opened = await openApp(definition, [
    { b_primarykey: 'a', b_name: '甲', b_mail: 'a@x', b_note: '註' },
    { b_primarykey: 'b', b_name: '乙', b_note: '註' },
    { b_primarykey: 'c', b_name: '丙' },
  ]);
});
after(() => opened.running.close());

const bulk = (lines: readonly string[] | string, more: Record<string, string> = {}, asFile = true) =>
  sendBulk(opened.running.url, { ...opened.credentials, ...more }, lines, asFile);

const parsed = ({ lines }: { lines: readonly string[] }) => lines.map((of) => JSON.parse(of));
const count = async () =>
  (await opened.running.post('/webapi/x1/dataset/count', { ...opened.credentials })).json.count as number;

test('x1/data/bulk: a line each of insert, update, merge, upsert and delete, an envelope for each', async () => {
  const answer = await bulk([
    line('insert', { b_primarykey: 'n1', b_name: '新' }, { b_rows: [entries({ w_text: '行' })] }),
    line('update', { b_primarykey: 'a', b_name: '甲二' }),
    line('merge', { b_primarykey: 'b', b_name: '乙二' }),
    line('upsert', { b_mail: 'new@x', b_name: '丁' }, {}, { key: 'b_mail' }),
    line('delete', { b_primarykey: 'c' }),
  ]);
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson;charset=UTF-8');
  const lines = parsed(answer);
  assert.deepEqual(
    lines.map(({ rkwa_status }) => rkwa_status),
    Array(5).fill('OK'),
    answer.text,
  );
  assert.deepEqual(
    [lines[0].b_primarykey.value, lines[1].b_primarykey.value, lines[4].b_primarykey],
    ['n1', 'a', undefined],
  );
  const [a, b] = [await opened.record('a'), await opened.record('b')];
  assert.deepEqual(
    [a.b_name.value, a.b_note.value, a.b_mail.value],
    ['甲二', '', ''],
    'an update empties what is absent',
  );
  assert.deepEqual([b.b_name.value, b.b_note.value], ['乙二', '註'], 'a merge keeps it');
  assert.equal(await opened.find({ b_primarykey: 'c' }), '');
  assert.equal(await opened.find({ b_rows: { w_text: '行' } }), 'n1');
  assert.equal(await opened.find({ b_mail: 'new@x' }), lines[3].b_primarykey.value);
});

test('x1/data/bulk: a line that is refused does not stand against the others', async () => {
  const before = await count();
  const answer = await bulk(
    [
      line('insert', { b_primarykey: 'm1', b_name: '一' }),
      '{',
      '[]',
      '{"insert":{},"delete":{}}',
      line('insert', { b_name: '' }),
      line('insert', { b_primarykey: 'm1', b_name: '又' }),
      line('delete', { b_primarykey: '無い' }),
      '',
      line('insert', { b_primarykey: 'm2', b_name: '二', b_mail: 'new@x' }),
      line('insert', { b_primarykey: 'm3', b_name: '三' }),
    ],
    { lang: 'en' },
  );
  const lines = parsed(answer);
  assert.deepEqual(
    lines.map(({ rkwa_status }) => rkwa_status),
    ['OK', 'NG', 'NG', 'NG', 'NG', 'NG', 'NG', 'NG', 'OK'],
    answer.text,
  );
  assert.match(lines[1].rkwa_errmsg[0], /not valid JSON/);
  assert.match(lines[5].rkwa_errmsg[0], /already/);
  assert.match(lines[7].rkwa_errmsg[0], /b_mail/);
  assert.deepEqual(
    [lines[1].code, lines[5].code, lines[7].code, lines[0].code],
    ['line_not_json', 'record_exists', 'not_unique', undefined],
  );
  assert.equal(await count(), before + 2);
});

test('x1/data/bulk: atomic=1 does all lines or none, and names the lines that are wrong', async () => {
  const before = await count();
  const refused = await bulk(
    [
      line('insert', { b_primarykey: 'q1', b_name: '一' }),
      line('insert', { b_primarykey: 'q1', b_name: '又' }),
      line('merge', { b_primarykey: 'a', b_name: '変' }),
      line('insert', { b_nam: 'x' }),
    ],
    { atomic: '1' },
  );
  assert.equal(refused.status, 409);
  const { rkwa_errmsg: messages, rkwa_status } = JSON.parse(refused.text);
  assert.equal(rkwa_status, 'NG');
  assert.ok(messages[0].startsWith('2 行目: ') && messages.some((message: string) => message.startsWith('4 行目: ')));
  assert.equal(await count(), before);
  assert.equal(await opened.find({ b_name: '変' }), '');
  const done = await bulk(
    [line('insert', { b_primarykey: 'q1', b_name: '一' }), line('delete', { b_primarykey: 'q1' })],
    { atomic: '1' },
  );
  assert.deepEqual(
    parsed(done).map(({ rkwa_status: status }) => status),
    ['OK', 'OK'],
    done.text,
  );
  assert.equal(await count(), before);
});

test('x1/data/bulk: lines as a parameter, CR LF, without an end, characters of several bytes', async () => {
  const text = `${line('upsert', { b_primarykey: 'p1', b_name: '髙橋 🗾' })}\r\n${line('upsert', { b_primarykey: 'p2', b_name: '二' })}`;
  const answer = await bulk(text, {}, false);
  assert.deepEqual(
    parsed(answer).map(({ rkwa_status }) => rkwa_status),
    ['OK', 'OK'],
    answer.text,
  );
  assert.equal((await opened.record('p1')).b_name.value, '髙橋 🗾');
});

test('x1/data/bulk: many lines, and updates of others meanwhile', async () => {
  const before = await count();
  const many = Array.from({ length: 3_000 }, (_, index) =>
    line('insert', { b_primarykey: `k${index}`, b_name: `名 ${index}`, b_mail: `k${index}@x` }),
  );
  const [answer, updated] = await Promise.all([
    bulk(many),
    opened.update(entries({ b_primarykey: 'b', b_name: '間' }), { mode: 'merge' }),
  ]);
  assert.equal(updated.status, 200);
  assert.equal(answer.lines.length, 3_000);
  assert.ok(answer.lines.every((of) => of.startsWith('{"rkwa_status":"OK"')));
  assert.equal(await count(), before + 3_000);
  assert.equal(await opened.find({ b_mail: 'k2999@x' }), 'k2999');
  assert.deepEqual(await opened.running.register.check(['B'], () => {}), []);
});

test('x1/data/bulk: several of them, line by line, leave others their turns', async () => {
  const many = (name: string) =>
    Array.from({ length: 3_000 }, (_, index) => line('insert', { b_primarykey: `${name}${index}`, b_name: '多' }));
  const ended: string[] = [];
  const bulks = ['v', 'w'].map(async (name) => {
    const { lines } = await bulk(many(name));
    ended.push(name);
    return lines.length;
  });
  for (let n = 0; n < 3; n++) {
    const { status } = await opened.update(entries({ b_primarykey: 'b', b_name: `間 ${n}` }), { mode: 'merge' });
    assert.equal(status, 200);
    ended.push('update');
  }
  assert.deepEqual(await Promise.all(bulks), [3_000, 3_000]);
  assert.deepEqual(ended.slice(0, 3), ['update', 'update', 'update']);
});

test('x1/data/bulk: a line that is too long, or no UTF-8, is refused and the next is done', async () => {
  const long = line('insert', { b_name: 'x'.repeat(1 << 20) });
  const answer = await bulk([long, line('upsert', { b_primarykey: 'p3', b_name: '三' })]);
  assert.deepEqual(
    parsed(answer).map(({ rkwa_status, code }) => code ?? rkwa_status),
    ['line_too_long', 'OK'],
  );
  const form = new FormData();
  for (const [name, value] of Object.entries(opened.credentials)) form.set(name, value);
  form.set(
    'lines',
    new Blob([Buffer.from('{"merge":"\xff"}\n', 'latin1'), line('delete', { b_primarykey: 'p3' })]),
    'lines',
  );
  const response = await fetch(`${opened.running.url}/webapi/x1/data/bulk`, { method: 'POST', body: form });
  const codes = (await response.text())
    .trim()
    .split('\n')
    .map((of) => JSON.parse(of).code);
  assert.deepEqual(codes, ['bad_encoding', undefined]);
});

test('x1/data/bulk: without lines, with another file, or without the right, it is refused', async () => {
  const post = (more: Record<string, string>) =>
    opened.running.post('/webapi/x1/data/bulk', { ...opened.credentials, ...more });
  assert.equal(refusal(await post({})).code, 'missing_parameter');
  assert.equal(refusal(await post({ lines: '', atomic: 'x' })).code, 'bad_atomic');
  await opened.running.addUser('reader', '読');
  const appkey = await opened.running.key('B', 'reader', {});
  assert.equal(refusal(await post({ lines: line('delete', { b_primarykey: 'a' }), appkey })).code, 'no_right');
});
