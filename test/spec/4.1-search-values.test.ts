// Spec 4.1 rules 1 and 3 on numbers, dates, times, auto numbers and users; D5, D6, P01-P03, P11.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: V
fields:
  - { id: v_primarykey, type: id, search: exact }
  - { id: num, type: number, search: range }
  - { id: num_exact, type: number, search: exact }
  - { id: day, type: date, search: range }
  - { id: day_exact, type: date, search: exact }
  - { id: at, type: datetime, search: range }
  - { id: at_exact, type: datetime, search: exact }
  - { id: clock, type: time, search: range }
  - { id: clock_exact, type: time, search: exact }
  - { id: auto, type: auto_number, format: "A-{0}", search: range }
system:
  pms_i_usr: { search: any_of }
  pms_u_usr: { search: exact }
  pms_i_ymd: { search: range }
`;
  opened = await openApp(definition, [
    { v_primarykey: 'a', num: '0.1', num_exact: '1000.10', day: '2024-02-29', day_exact: '2026-02-01', auto: 'A-9' },
    { v_primarykey: 'b', num: '0.3', num_exact: '-0', day: '2024-03-01', auto: 'A-10' },
    {
      v_primarykey: 'c',
      num: '9007199254740993',
      at: '2026-03-31 23:59:59',
      at_exact: '2026-03-31 09:00:00',
      auto: 'A-007',
    },
    {
      v_primarykey: 'd',
      num: '9007199254740992',
      at: '2026-04-01 00:00:00',
      clock: '09:05:00',
      clock_exact: '09:05:00',
      auto: 'A-100',
    },
    { v_primarykey: 'e', num: '-123456789012345678901234567890', clock: '23:59:59', auto: 'B-1' },
    {
      v_primarykey: 'f',
      num: '0.00000000000000000000000000001',
      day: '0001-01-01',
      at: '2026-03-31 00:00:00',
      auto: 'A-8',
    },
  ]);
  const { running } = opened;
  await running.addUser('sato', '山田 太郎');
  await running.put('V', [{ v_primarykey: 'g', day: '9999-12-31', auto: 'A-11' }], 'sato');
});
after(() => opened.running.close());

const FOUND: readonly (readonly [title: string, param: Record<string, unknown>, keys: string])[] = [
  ['D6: a range compares decimals exactly', { num: '0.1', num_to: '0.3' }, 'a b'],
  ['D6: a range compares beyond 2^53 exactly', { num: '9007199254740993' }, 'c'],
  ['D6: an upper bound beyond 2^53', { num: '5', num_to: '9007199254740992' }, 'd'],
  ['D6: negative numbers of 30 digits', { num_to: '-123456789012345678901234567890' }, 'e'],
  ['D6: nothing is below the smallest', { num_to: '-123456789012345678901234567891' }, ''],
  ['D6: very small numbers are not zero', { num: '0.000000000000000000000000000001', num_to: '0.01' }, 'f'],
  ['D6: grouping commas and a sign in a bound', { num: '+9,007,199,254,740,993' }, 'c'],
  ['P01: exact compares numbers, not digits', { num_exact: '1,000.1' }, 'a'],
  ['P01: exact, leading and trailing zeros', { num_exact: '01000.1000' }, 'a'],
  ['P01: exact, zero has no sign', { num_exact: '0' }, 'b'],
  ['P01: exact, another number', { num_exact: '1000.11' }, ''],
  ['P01: exact on a date written with /', { day_exact: '2026/02/01' }, 'a'],
  ['P01: exact on a datetime, without seconds and with T', { at_exact: '2026/03/31T09:00' }, 'c'],
  ['P01: exact on a time without seconds', { clock_exact: '09:05' }, 'd'],
  ['D5: a bound of a date may be written with /', { day: '2024/02/29', day_to: '2024/02/29' }, 'a'],
  ['D5: the first and the last year', { day_to: '0001-01-01' }, 'f'],
  ['D5: dates in a range', { day: '2024-03-01' }, 'b g'],
  ['P02: a date alone as lower bound is its first second', { at: '2026-03-31' }, 'c d f'],
  ['P02: a date alone as upper bound is its last second', { at_to: '2026-03-31' }, 'c f'],
  ['P02: a datetime as bound, without seconds', { at: '2026-03-31 00:01', at_to: '2026-04-01 00:00' }, 'c d'],
  ['P02: times in a range', { clock: '09:05:00', clock_to: '23:59' }, 'd'],
  ['P02: times in a range, to the last second', { clock: '09:06' }, 'e'],
  ['P03: digits compare as numbers', { auto: 'A-9', auto_to: 'A-11' }, 'a b g'],
  ['P03: leading zeros of a run make no difference', { auto: 'A-7', auto_to: 'A-007' }, 'c'],
  ['P03: what is no digit compares by code points', { auto: 'A-12' }, 'd e'],
  ['P03: any text is a bound', { auto: 'B' }, 'e'],
  ['P11: users are searched by ID', { pms_i_usr: 'sato' }, 'g'],
  ['P11: any of several IDs', { pms_i_usr: 'sato, yamada' }, 'a b c d e f g'],
  ['P11: the whole of the ID', { pms_i_usr: 'sat' }, ''],
  ['P11: not the name', { pms_u_usr: '山田 太郎' }, ''],
  ['P11: exact on the updating user', { pms_u_usr: 'yamada' }, 'a b c d e f'],
  [
    '2.2 type pms_i_ymd: a range on it takes a date alone',
    { pms_i_ymd: '2000-01-01', pms_i_ymd_to: '9999-12-31' },
    'a b c d e f g',
  ],
];

for (const [title, param, keys] of FOUND) {
  test(title, async () => assert.equal(await opened.find(param), keys));
}

const REFUSED: readonly (readonly [title: string, id: string, keyword: string, code: string])[] = [
  ['D5: 29 February of a year that has none', 'day', '2023-02-29', 'not_a_date'],
  ['D5: 29 February 1900', 'day_to', '1900/02/29', 'not_a_date'],
  ['D5: month 13', 'day', '2023-13-01', 'not_a_date'],
  ['D5: day 0', 'day', '2023-01-00', 'not_a_date'],
  ['D5: mixed separators', 'day', '2023-01/02', 'not_a_date'],
  ['D5: no leading zeros', 'day', '2023-1-2', 'not_a_date'],
  ['D5: full-width digits', 'day', '２０２３-01-02', 'not_a_date'],
  ['D5: spaces around', 'day', ' 2023-01-02', 'not_a_date'],
  ['P01: exact on a number refuses what is none', 'num_exact', '千', 'not_a_number'],
  ['P01: exact on a date refuses what is none', 'day_exact', '2026-02', 'not_a_date'],
  ['P01: exact on a time refuses what is none', 'clock_exact', '9:05', 'not_a_time'],
  ['P02: a datetime that does not exist', 'at', '2026-02-30 10:00', 'not_a_datetime'],
  ['P02: 24:00 is no time', 'at_exact', '2026-02-01 24:00', 'not_a_datetime'],
  ['P02: a time zone is not read', 'at', '2026-02-01T10:00:00Z', 'not_a_datetime'],
  ['P02: fractions of a second are not read', 'clock', '10:00:00.5', 'not_a_time'],
  ['D6: an exponent', 'num', '1e3', 'not_a_number'],
  ['D6: wrong grouping', 'num', '10,00', 'not_a_number'],
  ['D6: no digit before the point', 'num', '.5', 'not_a_number'],
  ['D6: no digit after the point', 'num_to', '5.', 'not_a_number'],
  ['D6: full-width digits', 'num', '１０', 'not_a_number'],
  ['D6: not a number at all', 'num', 'NaN', 'not_a_number'],
  ['D6: 31 significant digits', 'num', '1234567890123456789012345678901', 'number_too_long'],
];

for (const [title, id, keyword, code] of REFUSED) {
  test(title, async () => {
    const refused = refusal(await opened.search({ [id]: keyword }));
    assert.deepEqual([refused.code, refused.messages.length], [code, 1]);
    assert.ok(refused.messages[0]?.includes(`「${id}」`), refused.messages.join());
  });
}
