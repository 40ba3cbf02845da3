// x1/data/insert, upsert, delete, restore, get and history, and x1/table/update (D39), on the engine in use.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Reply } from '../harness/running.ts';
import { entries, type Opened, openApp, refusal } from '../spec/opened.ts';

const definition = (code: string) => `
code: ${code}
fields:
  - { id: r_primarykey, type: id, search: exact }
  - { id: r_name, type: text, search: partial, required: true }
  - { id: r_mail, type: text, search: exact, unique: true }
  - { id: r_code, type: number, search: range, unique: true }
  - { id: r_status, type: dropdown, choices: [新規, 完了], default: 新規, search: any_of }
  - { id: r_tags, type: checkbox, choices: [赤, 青] }
  - { id: r_no, type: auto_number, format: "R-{000}" }
  - { id: r_secret, type: text, protected: true }
  - { id: r_file, type: file }
  - { id: r_image, type: image, list: hidden }
tables:
  - code: r_lines
    fields:
      - { id: l_item, type: text, search: partial, required: true }
      - { id: l_qty, type: number, default: 1 }
      - { id: l_photo, type: image }
  - { code: r_notes, fields: [{ id: n_text, type: text, search: partial }, { id: n_secret, type: text, protected: true }] }
`;

let opened: Opened;
let admin: string;
before(async () => {
  opened = await openApp(definition('R'), [
    { r_primarykey: '1', r_name: '一', r_mail: 'a@x', r_code: '1', r_lines: [{ l_item: '机' }, { l_item: '椅子' }] },
  ]);
  await opened.running.addUser('boss', '上司');
  admin = await opened.running.key('R', 'boss', { admin: true });
});
after(() => opened.running.close());

type Param = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
type Json = any;

function call(operation: string, param?: Param, more: Record<string, string> = {}): Promise<Reply> {
  return opened.running.post(`/webapi/x1/${operation}`, {
    ...opened.credentials,
    ...(param && { param: JSON.stringify(param) }),
    ...more,
  });
}

const row = (values: Record<string, string>) => entries(values);
const get = async (key: string) => (await call('data/get', entries({ r_primarykey: key }), { revision: '1' })).json;
let names = 0;
const fresh = () => ({ r_name: `名 ${++names}`, r_mail: `m${names}@x` });

async function insert(values: Record<string, string>, tables: Param = {}): Promise<Reply['json']> {
  const { json, status, text } = await call('data/insert', { ...entries(values), ...tables });
  assert.equal(status, 200, text);
  return json;
}

test('x1/data/insert: a record with rows, its number, defaults, auto number and system fields', async () => {
  const values = { ...fresh(), r_tags: '赤,青' };
  const json = await insert(values, { r_lines: [row({ l_item: '本', l_qty: '2' }), row({ l_item: '紙' })] });
  assert.equal(json.rkwa_status, 'OK');
  const key = json.r_primarykey.value;
  assert.match(key, /^\d+$/);
  assert.deepEqual([json.r_status.value, json.r_tags.value], ['新規', '赤,青']);
  assert.match(json.r_no.value, /^R-\d{3}$/);
  assert.deepEqual(json.pms_i_usr, { type: 'pms_i_usr', value: { id: 'yamada', name: '山田 太郎' } });
  const whole = await get(key);
  assert.deepEqual(
    whole.r_lines.map((line: Json) => [line.l_item.value, line.l_qty.value]),
    [
      ['本', '2'],
      ['紙', '1'],
    ],
  );
  assert.equal(whole.pms_revision.value, '1');
  assert.equal(await opened.find({ r_name: values.r_name }), key, 'a search finds it');
  assert.equal(await opened.find({ r_lines: { l_item: '本' } }), key, 'by its rows too');
});

test('x1/data/insert: numbers of primary keys and auto numbers go on, and pass keys that were given', async () => {
  const first = Number((await insert(fresh())).r_primarykey.value);
  await insert({ r_primarykey: String(first + 5), ...fresh() });
  assert.equal((await insert(fresh())).r_primarykey.value, String(first + 6));
});

test('x1/data/insert: a primary key that is there is a 409 and changes nothing', async () => {
  const before = await get('1');
  const { code, status } = refusal(await call('data/insert', entries({ r_primarykey: '1', ...fresh() })));
  assert.deepEqual([code, status], ['record_exists', 409]);
  assert.deepEqual(await get('1'), before);
});

const BAD: readonly (readonly [string, Param, readonly string[]])[] = [
  ['a required field that is missing', {}, ['required_value']],
  ['a required field that is empty', entries({ r_name: '' }), ['required_value']],
  ['a value that is no choice', entries({ r_name: 'x', r_status: '無い' }), ['not_a_choice']],
  ['several choices where one is meant', entries({ r_name: 'x', r_status: '新規,完了' }), ['not_a_choice']],
  ['one of several that is no choice', entries({ r_name: 'x', r_tags: '赤,黄' }), ['not_a_choice']],
  ['an unknown field', entries({ r_name: 'x', r_none: 'x' }), ['unknown_field']],
  ['rows that are no array', { ...entries({ r_name: 'x' }), r_lines: {} }, ['rows_not_array']],
  ['a row that is no object', { ...entries({ r_name: 'x' }), r_lines: ['x'] }, ['entry_not_object']],
  ['a row without its required field', { ...entries({ r_name: 'x' }), r_lines: [{}] }, ['required_value']],
  ['a row with an unknown field', { ...entries({ r_name: 'x' }), r_notes: [row({ r_name: 'x' })] }, ['unknown_field']],
  [
    'a row that is made of one that is not there',
    { ...entries({ r_name: 'x' }), r_notes: [row({ pms_row: '1' })] },
    ['unknown_row'],
  ],
  ['a file that is not there', entries({ r_name: 'x', r_file: '無い' }), ['unknown_file']],
];
for (const [what, param, codes] of BAD) {
  test(`x1/data/insert: ${what} is refused, and nothing is put in`, async () => {
    const before = (await call('dataset/count')).json.count;
    const { code, messages } = refusal(await call('data/insert', param));
    assert.deepEqual([code], codes);
    assert.ok(messages.length >= 1);
    assert.equal((await call('dataset/count')).json.count, before);
  });
}

test('x1/data/insert: all problems are told at once, each naming its field', async () => {
  const param = { ...entries({ r_status: '無い', r_code: 'x' }), r_lines: [row({ l_qty: 'y' })] };
  const { messages } = refusal(await call('data/insert', param));
  for (const at of ['r_name', 'r_status', 'r_code', 'r_lines[1].l_item', 'r_lines[1].l_qty']) {
    assert.ok(
      messages.some((message) => message.includes(`「${at}」`)),
      `${at} in ${messages.join('\n')}`,
    );
  }
});

test('unique: a clash is a 409 naming the field, on insert, on update of both kinds and on upsert', async () => {
  const taken = { r_mail: 'a@x', r_code: '1.0' };
  for (const [id, value] of Object.entries(taken)) {
    const other = await insert(fresh());
    const key = other.r_primarykey.value;
    const asked = [
      call('data/insert', entries({ ...fresh(), [id]: value })),
      opened.update(entries({ r_primarykey: key, r_name: 'x', [id]: value }), { mode: 'merge' }),
      call('data/upsert', entries({ r_primarykey: key, [id]: value })),
    ];
    for (const reply of await Promise.all(asked)) {
      const { code, status, messages } = refusal(reply);
      assert.deepEqual([code, status], ['not_unique', 409]);
      assert.ok(messages[0]?.includes(`「${id}」`), messages.join());
    }
    assert.equal((await get(key))[id].value, other[id].value);
  }
});

test('unique: empty values do not clash, and a record keeps its own', async () => {
  const one = await insert({ r_name: '空' });
  await insert({ r_name: '空' });
  assert.equal(
    (await opened.update(entries({ r_primarykey: '1', r_name: '一', r_mail: 'a@x', r_code: '1' }))).status,
    200,
  );
  assert.equal(one.r_mail.value, '');
});

test('unique: of many that put the same value in at once, one does', async () => {
  const value = `race-${Date.now()}@x`;
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => call('data/insert', entries({ r_name: 'x', r_mail: value }))),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200, 409]));
});

test('x1/data/upsert: by primary key puts in or changes, absent fields keep their values', async () => {
  const key = 'U-1';
  const first = await call('data/upsert', {
    ...entries({ r_primarykey: key, ...fresh(), r_tags: '赤' }),
    r_notes: [row({ n_text: '初め' })],
  });
  assert.equal(first.status, 200, first.text);
  const second = await call('data/upsert', entries({ r_primarykey: key, r_name: '変えた' }));
  assert.deepEqual([second.json.r_name.value, second.json.r_tags.value], ['変えた', '赤']);
  const whole = await get(key);
  assert.deepEqual([whole.r_notes.length, whole.pms_revision.value], [1, '2']);
});

test('x1/data/upsert: by a unique field', async () => {
  const mail = `u${++names}@x`;
  const first = await call('data/upsert', entries({ r_mail: mail, r_name: '一度目' }), { key: 'r_mail' });
  assert.equal(first.status, 200, first.text);
  const second = await call('data/upsert', entries({ r_mail: mail, r_name: '二度目' }), { key: 'r_mail' });
  assert.equal(second.json.r_primarykey.value, first.json.r_primarykey.value);
  assert.equal(second.json.r_name.value, '二度目');
  const number = await call('data/upsert', entries({ r_code: '01.00', r_name: '数' }), { key: 'r_code' });
  assert.equal(number.json.r_primarykey.value, '1', '1 and 01.00 are one number');
  assert.equal(refusal(await call('data/upsert', entries({ r_name: 'x' }), { key: 'r_name' })).code, 'bad_key');
  assert.equal(
    refusal(await call('data/upsert', entries({ r_name: 'x' }), { key: 'r_mail' })).code,
    'missing_primary_key',
  );
});

test('x1: revision=1 tells the revision that was written: 1 where the record is new', async () => {
  const values = fresh();
  const first = await call('data/upsert', entries({ r_primarykey: 'V', ...values }), { revision: '1' });
  const second = await call('data/upsert', entries({ r_primarykey: 'V', r_name: '次' }), { revision: '1' });
  assert.deepEqual([first.json.pms_revision.value, second.json.pms_revision.value], ['1', '2']);
  const param = { ...entries({ r_primarykey: 'never' }), pms_revision: { value: '1' } };
  assert.equal(refusal(await call('data/upsert', param)).code, 'unknown_record');
});

test('x1/data/upsert: an outdated revision is a 409', async () => {
  const { r_primarykey } = await insert(fresh());
  const param = { ...entries({ r_primarykey: r_primarykey.value, r_name: 'x' }), pms_revision: { value: '7' } };
  assert.equal(refusal(await call('data/upsert', param)).code, 'revision_conflict');
});

test('x1: a protected field is filled when the record is put in, and never after', async () => {
  const { r_primarykey, r_secret } = await insert({ ...fresh(), r_secret: '秘' });
  assert.equal(r_secret.value, '秘');
  const changed = await call('data/upsert', entries({ r_primarykey: r_primarykey.value, r_secret: '変' }));
  assert.equal(changed.json.r_secret.value, '秘');
});

test('x1/table/update: rows are changed, put in, taken out and put in another order; fields stay', async () => {
  const { r_primarykey } = await insert(fresh(), {
    r_lines: ['甲', '乙', '丙'].map((item) => row({ l_item: item, l_qty: '5' })),
    r_notes: [row({ n_text: '残る' })],
  });
  const key = r_primarykey.value;
  const before = await get(key);
  const rows = [row({ pms_row: '3' }), row({ l_item: '新' }), row({ pms_row: '1', l_qty: '9' })];
  const { status, text } = await call('table/update', { ...entries({ r_primarykey: key }), r_lines: rows });
  assert.equal(status, 200, text);
  const after = await get(key);
  assert.deepEqual(
    after.r_lines.map((line: Json) => [line.l_item.value, line.l_qty.value]),
    [
      ['丙', '5'],
      ['新', '1'],
      ['甲', '9'],
    ],
  );
  assert.deepEqual([after.r_name, after.r_notes], [before.r_name, before.r_notes]);
  assert.equal(await opened.find({ r_primarykey: key, r_lines: { l_item: '乙' } }), '');
  assert.equal(await opened.find({ r_primarykey: key, r_lines: { l_item: '新' } }), key);
});

test('x1/table/update: a protected field of a row is filled when the row is put in, and never after', async () => {
  const key = (await insert(fresh(), { r_notes: [row({ n_text: '甲', n_secret: '秘' })] })).r_primarykey.value;
  const rows = [row({ pms_row: '1', n_text: '乙', n_secret: '変' }), row({ n_text: '新', n_secret: '新秘' })];
  await call('table/update', { ...entries({ r_primarykey: key }), r_notes: rows });
  const { r_notes } = await get(key);
  assert.deepEqual(
    r_notes.map((of: Json) => [of.n_text.value, of.n_secret.value]),
    [
      ['乙', '秘'],
      ['新', '新秘'],
    ],
  );
});

test('x1/table/update: a record as it was read can be sent back; without rows it is refused', async () => {
  const { r_lines, ...rest } = await get('1');
  const back = await call('table/update', {
    ...Object.fromEntries(Object.entries(rest).filter(([id]) => !id.startsWith('rkwa'))),
    r_lines,
  });
  assert.equal(back.status, 200, back.text);
  assert.equal(refusal(await call('table/update', entries({ r_primarykey: '1' }))).code, 'rows_not_array');
  assert.equal(
    refusal(await call('table/update', { ...entries({ r_primarykey: '無い' }), r_lines: [] })).code,
    'unknown_record',
  );
});

test('x1: files come with a new record and its rows', async () => {
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#0c0' } })
    .png()
    .toBuffer();
  const form = new FormData();
  const param = { ...entries(fresh()), r_lines: [row({ l_item: '甲' }), row({ l_item: '乙' })] };
  for (const [name, value] of Object.entries({ ...opened.credentials, param: JSON.stringify(param) }))
    form.set(name, value);
  form.set('r_file', new File(['中身'], '書.txt'));
  form.set('l_photo_2', new File([new Uint8Array(png)], '写真.png'));
  const { json, status, text } = await opened.running.post('/webapi/x1/data/insert', form);
  assert.equal(status, 200, text);
  const whole = await get(json.r_primarykey.value);
  assert.deepEqual(
    [whole.r_file.filename, whole.r_lines[0].l_photo.filename, whole.r_lines[1].l_photo.filename],
    ['書.txt', '', '写真.png'],
  );
  form.set('l_photo_9', new File([new Uint8Array(png)], 'x.png'));
  form.set('param', JSON.stringify(entries(fresh())));
  assert.equal(refusal(await opened.running.post('/webapi/x1/data/insert', form)).code, 'unknown_row');
});

test('x1/data/delete: the record is gone; restore brings it back with its rows and history', async () => {
  const values = fresh();
  const { r_primarykey } = await insert(values, { r_lines: [row({ l_item: '消' })] });
  const key = r_primarykey.value;
  await opened.update(entries({ r_primarykey: key, r_name: '二' }), { mode: 'merge' });
  const before = await get(key);
  const deleted = await call('data/delete', entries({ r_primarykey: key }));
  assert.equal(deleted.text, '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null}');
  assert.equal(refusal(await call('data/get', entries({ r_primarykey: key }))).code, 'unknown_record');
  assert.equal(await opened.find({ r_primarykey: key }), '');
  assert.equal(await opened.find({ r_lines: { l_item: '消' } }), '');
  assert.equal(refusal(await call('data/delete', entries({ r_primarykey: key }))).code, 'unknown_record');
  assert.equal(refusal(await call('data/restore', entries({ r_primarykey: key }))).code, 'no_right');
  const restored = await call('data/restore', entries({ r_primarykey: key }), { appkey: admin });
  assert.equal(restored.status, 200, restored.text);
  const after = await get(key);
  assert.deepEqual([after.r_name, after.r_lines, after.r_no], [before.r_name, before.r_lines, before.r_no]);
  assert.deepEqual(
    [after.pms_revision.value, after.pms_u_usr.value.id, after.pms_i_usr],
    ['3', 'boss', before.pms_i_usr],
  );
  assert.equal(await opened.find({ r_lines: { l_item: '消' } }), key);
});

test('x1/data/delete: the place of a deleted record is not given to another, nor its history', async () => {
  const one = (await insert(fresh())).r_primarykey.value;
  await call('data/delete', entries({ r_primarykey: one }));
  const two = (await insert(fresh())).r_primarykey.value;
  await opened.running.put('R', [{ r_primarykey: 'loaded', r_name: '積' }]);
  for (const key of [two, 'loaded']) {
    const { history } = (await call('data/history', entries({ r_primarykey: key }))).json;
    assert.deepEqual(
      history.map(({ action }: { action: string }) => action),
      ['insert'],
    );
  }
  const back = await call('data/restore', entries({ r_primarykey: one }), { appkey: admin });
  assert.equal(back.status, 200, back.text);
});

test('x1/data/restore: not over a record that has the primary key, or a unique value, by now', async () => {
  const values = fresh();
  const key = (await insert(values)).r_primarykey.value;
  await call('data/delete', entries({ r_primarykey: key }));
  const other = await insert({ ...fresh(), r_mail: values.r_mail });
  assert.equal(
    refusal(await call('data/restore', entries({ r_primarykey: key }), { appkey: admin })).code,
    'not_unique',
  );
  await call('data/delete', entries({ r_primarykey: other.r_primarykey.value }));
  await insert({ r_primarykey: key, ...fresh() });
  assert.equal(
    refusal(await call('data/restore', entries({ r_primarykey: key }), { appkey: admin })).code,
    'record_exists',
  );
});

test('x1/data/restore: a record that an update without its fields had emptied, with the rows that were replaced', async () => {
  const { r_primarykey } = await insert(
    { ...fresh(), r_tags: '青', r_code: '4711' },
    { r_lines: [row({ l_item: '元' })] },
  );
  const key = r_primarykey.value;
  const before = await get(key);
  await call('table/update', { ...entries({ r_primarykey: key }), r_lines: [row({ l_item: '後' })] });
  await opened.update(entries({ r_primarykey: key, r_name: '空' }));
  assert.equal((await get(key)).r_code.value, '');
  const restored = await call('data/restore', entries({ r_primarykey: key }), { appkey: admin, version: '1' });
  assert.equal(restored.status, 200, restored.text);
  const after = await get(key);
  for (const id of ['r_name', 'r_mail', 'r_code', 'r_tags', 'r_lines']) assert.deepEqual(after[id], before[id], id);
  assert.equal(after.pms_revision.value, '4');
  assert.equal(await opened.find({ r_code: '4711', r_code_to: '4711' }), key);
  const no = refusal(await call('data/restore', entries({ r_primarykey: key }), { appkey: admin, version: '99' }));
  assert.equal(no.code, 'unknown_version');
});

test('x1/data/history: a deletion stays in it when the record is restored', async () => {
  const key = (await insert(fresh())).r_primarykey.value;
  await call('data/delete', entries({ r_primarykey: key }));
  const param = { ...entries({ r_primarykey: key }), pms_revision: { value: '9' } };
  await call('data/restore', param, { appkey: admin });
  const { history } = (await call('data/history', entries({ r_primarykey: key }))).json;
  const seen = history.map((item: Json) => [item.action, item.pms_revision.value]);
  assert.deepEqual(seen, [
    ['restore', '2'],
    ['delete', '1'],
    ['insert', '1'],
  ]);
  assert.equal(
    refusal(await call('data/restore', { ...param }, { appkey: admin, version: '1' })).code,
    'revision_conflict',
  );
});

test('x1/data/history: the versions, newest first: when, who, what changed', async () => {
  const { r_primarykey, r_name } = await insert(fresh(), { r_lines: [row({ l_item: '甲' })] });
  const key = r_primarykey.value;
  await opened.update(entries({ r_primarykey: key, r_name: '次', r_tags: '赤' }), { mode: 'merge' });
  await call('table/update', { ...entries({ r_primarykey: key }), r_lines: [] }, { appkey: admin });
  await call('data/delete', entries({ r_primarykey: key }), { appkey: admin });
  const { json, text } = await call('data/history', entries({ r_primarykey: key }));
  assert.equal(json.rkwa_status, 'OK', text);
  const seen = json.history.map((item: Json) => [item.action, item.pms_revision.value, item.changed]);
  assert.deepEqual(seen, [
    ['delete', '3', []],
    ['update', '3', ['r_lines']],
    ['update', '2', ['r_name', 'r_tags']],
    ['insert', '1', []],
  ]);
  const [deletion, third, , first] = json.history;
  assert.deepEqual([deletion.pms_u_usr.value.id, third.record.pms_u_usr.value.id], ['boss', 'boss']);
  assert.deepEqual([first.record.r_name, first.record.r_lines.length, third.record.r_lines.length], [r_name, 1, 0]);
  const paged = await call('data/history', entries({ r_primarykey: key }), { limit: '1', after: '3' });
  assert.deepEqual(
    [paged.json.history.length, paged.json.history[0].pms_revision.value, paged.json.next],
    [1, '2', '2'],
  );
});

test('x1/dataset/count: the same conditions as a search, the number only', async () => {
  const all = (await call('dataset/count')).json.count;
  assert.equal(all, (await opened.find({})).split(' ').length);
  assert.equal((await call('dataset/count', { r_mail: 'a@x' })).json.count, 1);
  assert.equal((await call('dataset/count', { r_mail: '無い' })).json.count, 0);
  assert.equal(refusal(await call('dataset/count', { r_none: '' })).code, 'unknown_field');
});

test('x1/app/definition: the form as the caller may see it', async () => {
  const { app } = (await call('app/definition')).json;
  assert.deepEqual([app.code, app.primaryKey, app.rights], ['R', 'r_primarykey', { update: true, admin: false }]);
  const mail = app.fields.find(({ id }: { id: string }) => id === 'r_mail');
  assert.deepEqual([mail.type, mail.search, mail.unique, mail.required], ['text', 'exact', true, false]);
  assert.deepEqual(
    app.tables.map(({ code }: { code: string }) => code),
    ['r_lines', 'r_notes'],
  );
});

test('x1: who may not update may not put in, delete or restore', async () => {
  await opened.running.addUser('reader', '読');
  const appkey = await opened.running.key('R', 'reader', {});
  for (const operation of ['data/insert', 'data/upsert', 'data/delete', 'data/restore', 'table/update']) {
    assert.equal(
      refusal(await call(operation, entries({ r_primarykey: '1' }), { appkey })).code,
      'no_right',
      operation,
    );
  }
  for (const operation of ['data/get', 'data/history']) {
    assert.equal((await call(operation, entries({ r_primarykey: '1' }), { appkey })).status, 200, operation);
  }
});

test('x1: everything derived agrees afterwards', async () => {
  assert.deepEqual(await opened.running.register.check(['R'], () => {}), []);
});
