// Spec 4.1 rules 1-4: condition values by search method; D13, D14, D16-D18.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: C
fields:
  - { id: c_primarykey, type: id, search: exact }
  - { id: partial, type: text, search: partial }
  - { id: exact, type: text, search: exact }
  - { id: prefix, type: text, search: prefix }
  - { id: suffix, type: text, search: suffix }
  - { id: any_text, type: text_area, search: any_of }
  - { id: any_choice, type: checkbox, choices: [赤, 青, 緑], search: any_of }
  - { id: amount, type: number, search: range }
  - { id: hidden, type: text, search: hidden }
  - { id: folded, type: text, search: partial, fold: true }
  - { id: folded_exact, type: text, search: exact, fold: true }
  - { id: folded_suffix, type: text, search: suffix, fold: true }
  - { id: folded_choice, type: dropdown, search: any_of, fold: true }
  - { id: __proto__, type: text, search: exact }
  - { id: constructor, type: text, search: partial }
tables:
  - code: rows
    fields:
      - { id: r_item, type: text, search: partial }
      - { id: r_qty, type: number, search: range }
      - { id: r_hidden, type: text }
  - { code: more, fields: [{ id: m_kind, type: radio, search: any_of }] }
`;
  const same = (text: string) => ({ partial: text, exact: text, prefix: text, suffix: text, any_text: text });
  opened = await openApp(definition, [
    {
      c_primarykey: 'a',
      ...same('東京都'),
      any_choice: '赤,青',
      amount: '10',
      rows: [
        { r_item: '机', r_qty: '1' },
        { r_item: '椅子', r_qty: '9' },
      ],
    },
    {
      c_primarykey: 'b',
      ...same('京都府'),
      any_choice: '赤青',
      amount: '-2.5',
      rows: [{ r_item: '机', r_qty: '9' }],
      more: [{ m_kind: '未完了' }],
    },
    { c_primarykey: 'c', ...same('100%_*\\\'"'), any_choice: '緑', amount: '0', more: [{ m_kind: '完了' }] },
    {
      c_primarykey: 'd',
      ...same('がか\u3099𠮷👍🏽'),
      folded: 'ガッツPｏｓｅ',
      folded_exact: 'ヴｧイオリン',
      folded_suffix: '㈱ＡＢＣ',
      folded_choice: 'ﾊﾟﾝ',
    },
    { c_primarykey: 'e', ...same('a\r\nb\tA'), ['__proto__']: '原型', constructor: '構築子', hidden: '秘' },
  ]);
});
after(() => opened.running.close());

const FOUND: readonly (readonly [title: string, param: Record<string, unknown>, keys: string])[] = [
  ['4.1 rule 1: partial match, two kanji anywhere', { partial: '京都' }, 'a b'],
  ['4.1 rule 1: partial match, one kanji', { partial: '京' }, 'a b'],
  ['4.1 rule 1: partial match, the whole value', { partial: '東京都' }, 'a'],
  ['4.1 rule 1: partial match, longer than the value', { partial: '東京都庁' }, ''],
  ['4.1 rule 1: partial match does not split at commas', { partial: '東京,京都' }, ''],
  ['4.1 rule 1: partial match across a line break', { partial: 'a\r\nb' }, 'e'],
  ['4.1 rule 1: partial match, a tab', { partial: '\tA' }, 'e'],
  ['4.1 rule 1: exact match, the whole value', { exact: '京都府' }, 'b'],
  ['4.1 rule 1: exact match, a part does not match', { exact: '京都' }, ''],
  ['4.1 rule 1: prefix match, the beginning', { prefix: '東京' }, 'a'],
  ['4.1 rule 1: prefix match, not the middle', { prefix: '京都' }, 'b'],
  ['4.1 rule 1: suffix match, the end', { suffix: '都' }, 'a'],
  ['4.1 rule 1: suffix match, the middle does not match', { suffix: '京' }, ''],
  ['4.1 rule 2: any of the keywords, one of them', { any_text: '東京,大阪' }, 'a'],
  ['4.1 rule 2: any of the keywords, several of them', { any_text: '大阪,東京,府' }, 'a b'],
  ['4.1 rule 2: any of the keywords, none of them', { any_text: '大阪,名古屋' }, ''],
  ['4.1 rule 2: more than eight keywords', { any_text: '一,二,三,四,五,六,七,八,九,府,都' }, 'a b'],
  ['4.1 rule 3: a lower bound alone, greater or equal', { amount: '0' }, 'a c'],
  ['4.1 rule 3: an upper bound alone, less or equal', { amount_to: '0' }, 'b c'],
  ['4.1 rule 3: both bounds together', { amount: '-2.50', amount_to: '9.99' }, 'b c'],
  ['4.1 rule 3: both bounds at one value', { amount: '10', amount_to: '10.0' }, 'a'],
  ['4.1 rule 3: a lower bound above the upper one finds nothing', { amount: '5', amount_to: '1' }, ''],
  ['4.1 rule 3: records without a value are in no range', { amount: '-999' }, 'a b c'],
  ['4.1 rule 3: records without a value are in no range, nor below an upper bound', { amount_to: '999' }, 'a b c'],
  ['4.1 parameter param: a table code holds conditions on rows', { rows: { r_item: '椅' } }, 'a'],
  ['4.1 parameter param: a range on rows', { rows: { r_qty: '5', r_qty_to: '9' } }, 'a b'],
  ['4.1 parameter param: __proto__ is a key as any other', { ['__proto__']: '原型' }, 'e'],
  ['4.1 parameter param: constructor is a key as any other', { constructor: '築' }, 'e'],
  ['D13: conditions are joined by AND', { partial: '京都', any_choice: '青' }, 'a'],
  ['D13: conditions that no record meets together', { partial: '京都', amount: '100' }, ''],
  ['D13: one row must meet all conditions on its table', { rows: { r_item: '机', r_qty: '9' } }, 'b'],
  [
    'D13: rows of two tables, and the form',
    { rows: { r_item: '机' }, more: { m_kind: '未完了' }, amount_to: '0' },
    'b',
  ],
  [
    'D14: an empty string is no condition',
    { partial: '', exact: '', any_text: '', amount: '', amount_to: '' },
    'a b c d e',
  ],
  ['D14: an empty string beside a condition', { partial: '', exact: '京都府' }, 'b'],
  ['D14: an empty string, or no condition at all, on a table', { rows: { r_item: '' }, more: {} }, 'a b c d e'],
  ['D16: keywords are trimmed, empty ones dropped', { any_text: ' 府 ,, ,' }, 'b'],
  ['D16: nothing but commas is no condition', { any_text: ', ,' }, 'a b c d e'],
  ['D16: on a text a keyword may be anywhere', { any_text: '京' }, 'a b'],
  ['D16: on choices a keyword is a whole choice', { any_choice: '青' }, 'a'],
  ['D16: on choices, one of several', { any_choice: '緑, 青' }, 'a c'],
  ['D16: on choices, a part of one is no choice', { any_choice: '赤青,みどり' }, 'b'],
  ['D16: on choices in rows, 完了 does not find 未完了', { more: { m_kind: '完了' } }, 'c'],
  ['D17: % has no meaning', { partial: '%' }, 'c'],
  ['D17: _ has no meaning', { prefix: '100%_' }, 'c'],
  ['D17: _ matches no other character', { partial: '東_都' }, ''],
  ['D17: * has no meaning', { suffix: '*\\\'"' }, 'c'],
  ['D17: * at the end of a keyword is no wildcard', { partial: '京*' }, ''],
  ['D17: \\ has no meaning', { any_text: '\\' }, 'c'],
  ['D17: quotes have no meaning', { exact: '100%_*\\\'"' }, 'c'],
  ['D17: " alone has no meaning', { partial: '"' }, 'c'],
  ['D17: code points, a composed character is not a decomposed one', { partial: 'か\u3099' }, 'd'],
  ['D17: code points, a composed character', { prefix: '\u304c' }, 'd'],
  ['D17: code points, a character beyond the first plane', { partial: '𠮷' }, 'd'],
  ['D17: code points, an emoji without its modifier', { partial: '👍' }, 'd'],
  ['D17: code points, an emoji with its modifier', { suffix: '👍🏽' }, 'd'],
  ['D17: case matters without fold', { suffix: 'a' }, ''],
  ['D17: width matters without fold', { partial: '１００' }, ''],
  ['D17: kana matter without fold', { partial: 'ガ' }, ''],
  ['D17: with fold, letter case makes no difference', { folded: 'POSE' }, 'd'],
  ['D17: with fold, width makes no difference', { folded: 'ｶﾞｯﾂ' }, 'd'],
  ['D17: with fold, hiragana and katakana make no difference', { folded: 'がっつp' }, 'd'],
  ['D17: with fold, exact', { folded_exact: 'ゔぁいおりん' }, 'd'],
  ['D17: with fold, suffix', { folded_suffix: '株)abc' }, 'd'],
  ['D17: with fold, a choice', { folded_choice: 'ごはん,パン' }, 'd'],
];

for (const [title, param, keys] of FOUND) test(title, async () => assert.equal(await opened.find(param), keys));

test('D13: conditions on a table work whether or not tablecode is given', async () => {
  for (const more of [{}, { tablecode: 'rows' }, { tablecode: 'more' }]) {
    const { json } = await opened.search({ rows: { r_item: '椅' } }, more);
    const [records] = Object.values(json).slice(3) as { c_primarykey: { value: string } }[][];
    assert.deepEqual(
      records?.map((record) => record.c_primarykey.value),
      ['a'],
    );
  }
});

const REFUSED: readonly (readonly [title: string, param: Record<string, unknown>, code: string, at: string])[] = [
  [
    '4.1 rule 4: a field hidden in the search settings is no condition',
    { hidden: '秘' },
    'field_not_searchable',
    'hidden',
  ],
  ['4.1 rule 4: a hidden field is refused even with an empty value', { hidden: '' }, 'field_not_searchable', 'hidden'],
  ['4.1 rule 4: a hidden field of a table', { rows: { r_hidden: '秘' } }, 'field_not_searchable', 'rows.r_hidden'],
  [
    '4.1 rule 4: a system field that the search settings do not show',
    { pms_i_usr: 'yamada' },
    'field_not_searchable',
    'pms_i_usr',
  ],
  ['D18: a field that the app does not have', { 居ない: 'x' }, 'unknown_field', '居ない'],
  ['D18: a name of JavaScript that is no field', { hasOwnProperty: 'x' }, 'unknown_field', 'hasOwnProperty'],
  ['D18: an upper bound of a field without a range', { exact_to: 'x' }, 'unknown_field', 'exact_to'],
  ['D18: a field of a table outside of it', { r_item: '机' }, 'unknown_field', 'r_item'],
  ['D18: a field of the form inside a table', { rows: { exact: 'x' } }, 'unknown_field', 'rows.exact'],
  ['D18: a table code that the app does not have', { lines: { r_item: '机' } }, 'unknown_table_code', 'lines'],
  ['D18: a table inside a table', { rows: { more: { m_kind: 'x' } } }, 'unknown_field', 'rows.more'],
  ['D18: a string for a table', { rows: '机' }, 'conditions_not_object', 'rows'],
  ['D18: a list for a table', { rows: [{ r_item: '机' }] }, 'conditions_not_object', 'rows'],
  ['D18: a number for a string', { amount: 5 }, 'condition_not_string', 'amount'],
  ['D18: null for a string', { partial: null }, 'condition_not_string', 'partial'],
  ['D18: an object for a string', { partial: { value: 'x' } }, 'condition_not_string', 'partial'],
  ['D18: a list for a string', { any_text: ['a', 'b'] }, 'condition_not_string', 'any_text'],
  ['D18: a lower bound that is no number', { amount: '十' }, 'not_a_number', 'amount'],
  ['D18: an upper bound that is no number', { amount_to: '1e3' }, 'not_a_number', 'amount_to'],
  ['D18: a bound on rows that is no number', { rows: { r_qty_to: '0x1' } }, 'not_a_number', 'rows.r_qty_to'],
  ['D41: a keyword with NUL', { partial: 'a\0' }, 'bad_character', 'partial'],
  ['D41: a keyword with half of a surrogate pair', { exact: '\ud842' }, 'bad_character', 'exact'],
];

for (const [title, param, code, at] of REFUSED) {
  test(title, async () => {
    const refused = refusal(await opened.search(param));
    assert.deepEqual([refused.code, refused.status, refused.messages.length], [code, 400, 1]);
    assert.ok(refused.messages[0]?.includes(`「${at}」`), refused.messages.join());
  });
}

test('D18: all problems of a request are reported at once, in the order in which they were sent', async () => {
  const param = {
    nowhere: 'x',
    hidden: 'y',
    amount: 'z',
    amount_to: '二',
    partial: 7,
    rows: { r_qty: 'q', none: '' },
    lines: {},
  };
  const more = { limit: '0', revision: '2', lang: 'fr', tablecode: 'tables' };
  const { code, messages } = refusal(await opened.search(param, more));
  const names = [
    'lang',
    'limit',
    'revision',
    'tablecode',
    'nowhere',
    'hidden',
    'amount',
    'amount_to',
    'partial',
    'lines',
  ];
  for (const name of [...names, 'rows.r_qty', 'rows.none']) {
    assert.equal(messages.filter((message) => message.includes(`「${name}」`)).length, 1, `${name} in ${messages}`);
  }
  assert.equal(messages.length, 12);
  assert.equal(code, 'bad_lang');
});
