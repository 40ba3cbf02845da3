// Spec 4.2: the table of what an update does to each kind of field, a test per row.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: K
fields:
  - { id: k_primarykey, type: id, search: exact }
  - { id: secret, type: text, protected: true, search: exact }
  - { id: secret_number, type: number, protected: true }
  - { id: secret_file, type: file, protected: true }
  - { id: auto, type: auto_number, format: "N-{000}", search: exact }
  - { id: dropdown, type: dropdown, choices: [新規, 完了], search: any_of }
  - { id: checkbox, type: checkbox, choices: [赤, 青], search: any_of }
  - { id: radio, type: radio, choices: [はい, いいえ], search: exact }
  - { id: list, type: list, choices: [東, 西], search: any_of }
  - { id: first, type: text }
  - { id: last, type: text }
  - { id: whole, type: concatenation, search: partial }
  - { id: price, type: number }
  - { id: total, type: calculation, search: exact }
  - { id: day, type: date }
  - { id: fixed, type: text, default: 既定, required: true }
tables:
  - code: rows
    fields:
      - { id: item, type: text, search: exact }
      - { id: qty, type: number }
`;
  const rows = [
    { item: '机', qty: '1' },
    { item: '椅子', qty: '2' },
  ];
  opened = await openApp(definition, [
    { k_primarykey: '1', secret: '守る', secret_number: '5', dropdown: '新規', fixed: '値', day: '2026-01-01', rows },
  ]);
});
after(() => opened.running.close());

const update = (values: Record<string, string>) => opened.update(entries({ k_primarykey: '1', ...values }));

const IGNORED = [
  ['4.2 table data-protected: a submitted value is ignored', 'secret', '漏らす', '守る'],
  [
    '4.2 table data-protected: a submitted value that could not be read is ignored too',
    'secret_number',
    '数ではない',
    '5',
  ],
  ['4.2 table data-protected: a submitted file ID is ignored too', 'secret_file', '無い', ''],
  ['4.2 table data-protected: an empty value does not delete', 'secret', '', '守る'],
  ['4.2 table auto-numbering: a submitted value is ignored', 'auto', 'N-999', 'N-001'],
  ['4.2 table auto-numbering: an empty value does not delete', 'auto', '', 'N-001'],
] as const;

for (const [title, id, sent, kept] of IGNORED) {
  test(title, async () => {
    const { json, status } = await update({ [id]: sent, first: '姓' });
    assert.deepEqual([status, json[id].value, json.first.value], [200, kept, '姓']);
    assert.equal((await opened.record('1'))[id].value, kept);
  });
}

test('4.2 table data-protected: an entry that is no object is ignored as well, as is its absence', async () => {
  const { json } = await opened.update({ k_primarykey: { value: '1' }, secret: 5, auto: null });
  assert.deepEqual([json.secret.value, json.auto.value], ['守る', 'N-001']);
  assert.equal(await opened.find({ secret: '守る', auto: 'N-001' }), '1');
});

const CHOICES = [
  [
    '4.2 table drop-down, check box, radio button, selection list: a drop-down takes a defined choice',
    'dropdown',
    '完了',
  ],
  [
    '4.2 table drop-down, check box, radio button, selection list: a drop-down takes any other value',
    'dropdown',
    '保留 ①',
  ],
  [
    '4.2 table drop-down, check box, radio button, selection list: a check box takes several values',
    'checkbox',
    '青,紫,赤',
  ],
  [
    '4.2 table drop-down, check box, radio button, selection list: a radio button takes any other value',
    'radio',
    'わからない👍',
  ],
  [
    '4.2 table drop-down, check box, radio button, selection list: a selection list takes any other value',
    'list',
    '南,北',
  ],
] as const;

for (const [title, id, sent] of CHOICES) {
  test(title, async () => {
    assert.equal((await update({ [id]: sent })).json[id].value, sent);
    assert.equal(await opened.find({ [id]: sent }), '1', 'and it is found by that value');
  });
}

const DERIVED = [
  [
    '4.2 table string concatenation, calculation: nothing is concatenated',
    { first: '山田', last: '太郎', whole: '別の文字列' },
  ],
  ['4.2 table string concatenation, calculation: nothing is calculated', { price: '100', total: '合計は 7' }],
  ['4.2 table string concatenation, calculation: deleted when absent', { first: '山田', last: '太郎', price: '100' }],
] as const;

for (const [title, values] of DERIVED) {
  test(title, async () => {
    const sent: Record<string, string> = values;
    const { json } = await update(sent);
    assert.equal(json.whole.value, sent.whole ?? '');
    assert.equal(json.total.value, sent.total ?? '');
  });
}

test('4.2 table any field shown in the form but absent from the request: updated with empty data, whatever its kind', async () => {
  await update({
    dropdown: '新規',
    checkbox: '赤',
    radio: 'はい',
    list: '東',
    first: 'あ',
    whole: 'い',
    price: '1',
    total: '2',
    day: '2026-01-01',
  });
  const { json } = await update({});
  for (const id of ['dropdown', 'checkbox', 'radio', 'list', 'first', 'last', 'whole', 'price', 'total', 'day']) {
    assert.equal(json[id].value, '', id);
  }
  assert.equal(json.price.value_formatted, '');
  assert.equal(await opened.find({ radio: 'はい' }), '');
});

test('4.2 table any field shown in the form but absent from the request: neither default nor required fills it', async () => {
  assert.equal((await update({})).json.fixed.value, '');
});

const rowsOf = async () => JSON.stringify((await opened.record('1', { tablecode: 'rows' })).rows);

const TABLE_DATA = [
  ['4.2 table table fields of an app that has a table: an entry under the table code changes nothing', { rows: [] }],
  [
    '4.2 table table fields of an app that has a table: rows under the table code change nothing',
    { rows: [{ item: { value: '棚' } }] },
  ],
  [
    '4.2 table table fields of an app that has a table: an object under the table code changes nothing',
    { rows: { value: '' } },
  ],
] as const;

for (const [title, values] of TABLE_DATA) {
  test(title, async () => {
    const before = await rowsOf();
    const { status, json } = await opened.update({ k_primarykey: { value: '1' }, ...values });
    assert.deepEqual([status, 'rows' in json], [200, false]);
    assert.equal(await rowsOf(), before);
    assert.equal(await opened.find({ rows: { item: '棚' } }), '');
  });
}

test('4.2 table table fields of an app that has a table: they cannot be named beside the fields of the form', async () => {
  const before = await rowsOf();
  const { messages } = refusal(await update({ item: '棚', item_1: '棚' }));
  assert.equal(messages.length, 2);
  assert.equal(await rowsOf(), before);
});
