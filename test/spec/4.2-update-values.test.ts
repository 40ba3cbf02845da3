// Spec 4.2: the values an update takes and refuses; D5, D6, D26, D37, D41, D42, P02.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: W
fields:
  - { id: w_primarykey, type: id, search: exact }
  - { id: text, type: text, maxLength: 5, search: exact }
  - { id: long, type: text, search: suffix }
  - { id: area, type: text_area, search: partial }
  - { id: num, type: number, search: exact }
  - { id: yen, type: number, format: { grouping: true, decimals: 0, prefix: "¥" } }
  - { id: rate, type: number, format: { decimals: 2, suffix: "％" } }
  - { id: day, type: date, search: exact }
  - { id: at, type: datetime, search: exact }
  - { id: clock, type: time, search: exact }
  - { id: file, type: file }
`;
  opened = await openApp(definition, [
    { w_primarykey: '5' },
    { long: '自動' },
    { w_primarykey: '鍵' },
    { long: '自動' },
  ]);
});
after(() => opened.running.close());

const update = (values: Record<string, string>) => opened.update(entries({ w_primarykey: '鍵', ...values }));

const TAKEN: readonly (readonly [title: string, id: string, sent: string, kept: string])[] = [
  ['D41: line breaks and tabs are kept in a text', 'long', ' a\r\nb\nc\rd\te ', ' a\r\nb\nc\rd\te '],
  ['D41: control characters but NUL', 'long', '\u0001\u001b\u007f\u0085', '\u0001\u001b\u007f\u0085'],
  ['D41: full and half width stay what they are', 'long', 'ｶﾞガＡA　 ', 'ｶﾞガＡA　 '],
  ['D41: combining marks stay what they are', 'long', 'か\u3099\u304c e\u0301', 'か\u3099\u304c e\u0301'],
  ['D41: characters beyond the first plane', 'long', '𠮷👨‍👩‍👧‍👦\u{10ffff}', '𠮷👨‍👩‍👧‍👦\u{10ffff}'],
  [
    'D41: characters that JSON and HTML escape',
    'long',
    '"\\/<script>&amp;\u2028\u2029\ufeff',
    '"\\/<script>&amp;\u2028\u2029\ufeff',
  ],
  ['D41: quotes of SQL', 'long', "'; drop table apps; --", "'; drop table apps; --"],
  ['D41: a text area as it is', 'area', '一\r\n二\n\r\n', '一\r\n二\n\r\n'],
  ['D26: as many characters as the limit, in code points', 'text', '𠮷𠮷𠮷𠮷👍', '𠮷𠮷𠮷𠮷👍'],
  ['D5: a date with -', 'day', '2024-02-29', '2024-02-29'],
  ['D5: a date with /', 'day', '2024/02/29', '2024-02-29'],
  ['P02: a datetime without seconds', 'at', '2026/02/01 09:30', '2026-02-01 09:30:00'],
  ['P02: a datetime with T', 'at', '2026-02-01T09:30:15', '2026-02-01 09:30:15'],
  ['P02: a time without seconds', 'clock', '23:59', '23:59:00'],
  ['D6: 30 significant digits', 'num', '-123456789012345.678901234567890', '-123456789012345.678901234567890'],
  ['D6: zeros in front are not significant', 'num', `0000.${'0'.repeat(20)}1`, `0000.${'0'.repeat(20)}1`],
  ['D6: beyond 2^53', 'num', '9007199254740993', '9007199254740993'],
  ['D6: a sign', 'num', '+5', '5'],
  ['D37: the digits as sent, grouping commas aside', 'num', '1,000.10', '1000.10'],
];

for (const [title, id, sent, kept] of TAKEN) {
  test(title, async () => {
    const { status, json } = await update({ [id]: sent });
    assert.deepEqual([status, json[id]?.value], [200, kept], JSON.stringify(json));
    assert.equal((await opened.record('鍵'))[id].value, kept);
    assert.equal(await opened.find({ [id]: sent }), '鍵', 'and it is found by what was sent');
  });
}

const FORMATTED = [
  ['D37: grouping and a prefix', 'yen', '1234567', '¥1,234,567'],
  ['D37: a sign before the prefix', 'yen', '-1234.5', '-¥1,235'],
  ['D37: rounded to nothing', 'yen', '-0.4', '¥0'],
  ['D37: three digits have no comma', 'yen', '999', '¥999'],
  ['D37: decimals are filled', 'rate', '7', '7.00％'],
  ['D37: decimals are rounded exactly', 'rate', '1.005', '1.01％'],
  ['D37: rounding carries over', 'rate', '99.995', '100.00％'],
  ['D37: no rounding of binary fractions', 'rate', '8.575', '8.58％'],
  ['D37: numbers of 30 digits', 'yen', '123456789012345678901234567890', '¥123,456,789,012,345,678,901,234,567,890'],
  ['D37: without a format it is the value', 'num', '0010.00', '0010.00'],
  ['D37: of an empty number the empty string', 'yen', '', ''],
] as const;

for (const [title, id, sent, shown] of FORMATTED) {
  test(title, async () => {
    assert.deepEqual((await update({ [id]: sent })).json[id], { type: 'number', value: sent, value_formatted: shown });
  });
}

const REFUSED: readonly (readonly [title: string, values: Record<string, unknown>, code: string, at: string])[] = [
  ['D26: a field ID that the app does not have', { nowhere: { value: 'x' } }, 'unknown_field', 'nowhere'],
  [
    'D26: __proto__ is a field ID that the app does not have',
    { ['__proto__']: { value: 'x' } },
    'unknown_field',
    '__proto__',
  ],
  ['D26: toString is a field ID that the app does not have', { toString: { value: 'x' } }, 'unknown_field', 'toString'],
  ['D26: an entry without value', { long: {} }, 'value_not_string', 'long'],
  [
    'D26: an entry whose value is inherited from nowhere',
    { long: { ['__proto__']: { value: 'x' } } },
    'value_not_string',
    'long',
  ],
  ['D26: a value that is a number', { num: { value: 5 } }, 'value_not_string', 'num'],
  ['D26: a value that is null', { long: { value: null } }, 'value_not_string', 'long'],
  ['D26: a value that is a list', { long: { value: ['a'] } }, 'value_not_string', 'long'],
  ['D26: a value that is an object', { long: { value: {} } }, 'value_not_string', 'long'],
  ['D26: an entry that is a string', { long: 'x' }, 'entry_not_object', 'long'],
  ['D26: an entry that is null', { long: null }, 'entry_not_object', 'long'],
  ['D26: an entry that is a list', { long: [{ value: 'x' }] }, 'entry_not_object', 'long'],
  ['D26: a text longer than the limit', { text: { value: 'あいうえおか' } }, 'text_too_long', 'text'],
  ['D26: a date that does not exist', { day: { value: '2026-02-30' } }, 'not_a_date', 'day'],
  ['D26: a date that is none', { day: { value: '令和8年2月1日' } }, 'not_a_date', 'day'],
  ['D26: a datetime that is none', { at: { value: '2026-02-01' } }, 'not_a_datetime', 'at'],
  ['D26: a time that is none', { clock: { value: '25:00' } }, 'not_a_time', 'clock'],
  ['D26: a number that is none', { num: { value: '１２' } }, 'not_a_number', 'num'],
  ['D6: no exponent', { num: { value: '1e3' } }, 'not_a_number', 'num'],
  ['D6: no spaces', { num: { value: ' 1' } }, 'not_a_number', 'num'],
  ['D6: commas only between groups of three', { num: { value: '1,00,000' } }, 'not_a_number', 'num'],
  ['D6: no commas behind the point', { num: { value: '0.000,001' } }, 'not_a_number', 'num'],
  ['D6: 31 significant digits', { num: { value: '1000000000000000000000000000000' } }, 'number_too_long', 'num'],
  ['D26: a file ID that does not exist', { file: { value: 'x' } }, 'unknown_file', 'file'],
  ['D41: NUL', { long: { value: 'a\0b' } }, 'bad_character', 'long'],
  ['D41: half of a surrogate pair', { area: { value: '\ud842' } }, 'bad_character', 'area'],
  ['D41: surrogates the wrong way round', { area: { value: '\udfb7\ud842' } }, 'bad_character', 'area'],
  ['D41: NUL in a date', { day: { value: '2026-02-01\0' } }, 'bad_character', 'day'],
];

for (const [title, values, code, at] of REFUSED) {
  test(title, async () => {
    const before = (await opened.search({}, { revision: '1' })).text;
    const refused = refusal(await opened.update({ ...entries({ w_primarykey: '鍵', long: '変えた' }), ...values }));
    assert.deepEqual([refused.code, refused.status, refused.messages.length], [code, 400, 1], refused.messages.join());
    assert.ok(refused.messages[0]?.includes(`「${at}」`), refused.messages.join());
    assert.equal((await opened.search({}, { revision: '1' })).text, before);
  });
}

test('D26: every problem is listed, those of parameters too, and nothing is changed', async () => {
  const before = (await opened.search({}, { revision: '1' })).text;
  const param = {
    text: { value: 'あいうえおか' },
    num: { value: 'x' },
    day: {},
    at: '',
    none: { value: '' },
    long: { value: '\0' },
  };
  const { code, messages } = refusal(await opened.update(param, { mode: 'add', lang: 'de' }));
  for (const name of ['lang', 'mode', 'w_primarykey', 'text', 'num', 'day', 'at', 'none', 'long']) {
    assert.equal(messages.filter((message) => message.includes(`「${name}」`)).length, 1, `${name} in ${messages}`);
  }
  assert.deepEqual([code, messages.length], ['bad_lang', 9]);
  assert.equal((await opened.search({}, { revision: '1' })).text, before);
});

test('D42: a primary key is given when a record is put in, else the next whole number', async () => {
  assert.equal(await opened.find({}), '5 6 鍵 7');
});

test('D42: an update never changes the primary key', async () => {
  await update({ long: '変えた' });
  assert.equal(await opened.find({}), '5 6 鍵 7');
  assert.equal((await opened.update(entries({ w_primarykey: '8', long: '無い' }))).status, 404);
});
