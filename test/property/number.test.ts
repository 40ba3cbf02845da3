// Numbers are kept, compared and shown exactly: against whole-number arithmetic (D6, D37).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { datetime } from '../../src/fields/datetime.ts';
import { formatNumber, MAX_DIGITS, number, numberOrder, parseNumber } from '../../src/fields/number.ts';
import { compareDecimals, scaled } from './plain-filter.ts';

const digits = (maxLength: number) =>
  fc.array(fc.constantFrom(...'0012345678999'), { minLength: 1, maxLength }).map((some) => some.join(''));

/** Decimals of at most 30 digits, often with zeros on either side. */
const decimal = fc
  .tuple(fc.constantFrom('', '', '-'), digits(15), fc.oneof(fc.constant(''), digits(15)), fc.nat(4), fc.nat(40))
  .map(([sign, whole, fraction, zeros, deep]) => {
    if (fraction === '') return `${sign}${'0'.repeat(zeros)}${whole}`;
    return deep > 30 ? `${sign}0.${'0'.repeat(deep)}${fraction}` : `${sign}${'0'.repeat(zeros)}${whole}.${fraction}`;
  });

/** A number close to another: one unit of its last place away, or the same written differently. */
const pair = decimal.chain((a) =>
  fc.tuple(
    fc.constant(a),
    fc.oneof(
      decimal,
      fc.constantFrom(
        a,
        `${a}${a.includes('.') ? '0' : '.0'}`,
        a.startsWith('-') ? a.slice(1) : `-${a}`,
        a.replace(/\d$/, (d) => String((Number(d) + 1) % 10)),
      ),
    ),
  ),
);

const codePointOrder = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('the order form compares as the numbers do', () => {
  fc.assert(
    fc.property(pair, ([a, b]) => {
      assert.equal(
        Math.sign(codePointOrder(numberOrder(a), numberOrder(b))),
        Math.sign(compareDecimals(a, b)),
        `${a} ${b}`,
      );
    }),
    { numRuns: 20_000 },
  );
});

test('the order form of numbers from both ends of what can be kept', () => {
  const nines = '9'.repeat(MAX_DIGITS);
  const tiny = `0.${'0'.repeat(400)}1`;
  const inOrder = [`-${nines}`, '-10', '-9.99', '-1', '-0.1', `-${tiny}`, '0', tiny, '0.1', '1', '9.99', '10', nines];
  for (const [index, a] of inOrder.entries()) {
    assert.equal(parseNumber(a), a);
    for (const [other, b] of inOrder.entries()) {
      assert.equal(Math.sign(codePointOrder(numberOrder(a), numberOrder(b))), Math.sign(index - other), `${a} ${b}`);
    }
  }
});

test('a number is kept with its digits as they were sent, sign + and grouping commas aside', () => {
  fc.assert(
    fc.property(decimal, fc.boolean(), (value, plus) => {
      const signed = plus && !value.startsWith('-') ? `+${value}` : value;
      assert.equal(parseNumber(signed), value);
      const [whole = '', fraction] = value.split('.') as [string, string?];
      const grouped = whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
      assert.equal(parseNumber(fraction === undefined ? grouped : `${grouped}.${fraction}`), value);
    }),
    { numRuns: 2_000 },
  );
});

test('what is no plain decimal, or too long, is refused', () => {
  for (const sent of [
    '',
    ' 1',
    '1 ',
    '1e3',
    '.5',
    '5.',
    '--1',
    '+-1',
    '1,00',
    '1,0000',
    ',1',
    '1,',
    '0x1',
    '１',
    '1.2.3',
    'NaN',
    '1.000,5',
  ]) {
    assert.deepEqual(parseNumber(sent), { code: 'not_a_number' }, sent);
  }
  assert.deepEqual(parseNumber('9'.repeat(31)), { code: 'number_too_long', limit: 30 });
  assert.equal(parseNumber(`${'0'.repeat(50)}${'9'.repeat(30)}`), `${'0'.repeat(50)}${'9'.repeat(30)}`);
});

/** What a number looks like in a format, from the whole number of its smallest shown unit. */
function plainFormat(
  value: string,
  grouping: boolean,
  decimals: number | null,
  prefix: string,
  suffix: string,
): string {
  const given = value.split('.')[1]?.length ?? 0;
  const places = decimals ?? given;
  let units = scaled(value, Math.max(given, places));
  const negative = units < 0n;
  if (negative) units = -units;
  if (given > places) {
    const step = 10n ** BigInt(given - places);
    units = (2n * units + step) / (2n * step);
  }
  const all = units.toString().padStart(places + 1, '0');
  const point = all.length - places;
  let whole = all.slice(0, point);
  if (grouping) {
    const groups: string[] = [];
    for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end));
    whole = groups.join(',');
  }
  const fraction = places === 0 ? '' : `.${all.slice(point)}`;
  return `${negative && units > 0n ? '-' : ''}${prefix}${whole}${fraction}${suffix}`;
}

test('a number is shown rounded half away from zero, grouped, between prefix and suffix', () => {
  const affix = fc.constantFrom('', '¥', '$&', ' 円', '-');
  fc.assert(
    fc.property(
      decimal,
      fc.boolean(),
      fc.option(fc.nat(30)),
      affix,
      affix,
      (value, grouping, decimals, prefix, suffix) => {
        assert.equal(
          formatNumber(value, { grouping, decimals, prefix, suffix }),
          plainFormat(value, grouping, decimals, prefix, suffix),
          value,
        );
      },
    ),
    { numRuns: 10_000 },
  );
  assert.equal(formatNumber('', { grouping: true, decimals: 2, prefix: '¥', suffix: '' }), '');
});

test('what lies in a range of numbers lies in one of the buckets that the range touches', () => {
  const { bucket, buckets } = number;
  assert.ok(bucket !== undefined && buckets !== undefined);
  const near = fc
    .tuple(fc.integer({ min: -2_000, max: 200_000 }), fc.constantFrom('', '.5', '.0', '.999'))
    .map((parts) => parts.join(''));
  const value = fc.oneof(near, near, decimal);
  let found = 0;
  fc.assert(
    fc.property(value, value, value, (a, b, c) => {
      const [from = '', between = '', to = ''] = [a, b, c].sort(compareDecimals).map(numberOrder);
      const touched = buckets(from, to);
      if (touched === null) return;
      found++;
      for (const order of [from, between, to]) assert.ok(touched.includes(bucket(order)), `${a} ${b} ${c}`);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(found > 100);
});

test('what lies in a range of dates lies in one of the months that the range touches', () => {
  const day = fc
    .tuple(
      fc.constantFrom('0001', '0099', '2023', '2024', '9999'),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 28 }),
    )
    .map(([year, month, date]) => `${year}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`);
  const { bucket, buckets } = datetime;
  assert.ok(bucket !== undefined && buckets !== undefined);
  fc.assert(
    fc.property(day, day, day, fc.constantFrom('', ' 23:59:59'), (a, b, c, time) => {
      const [from = '', between = '', to = ''] = [a, b, c].sort().map((date) => date + time);
      const touched = buckets(from, to);
      if (touched === null) return;
      for (const moment of [from, between, to]) assert.ok(touched.includes(bucket(moment)), `${a} ${b} ${c}`);
    }),
    { numRuns: 5_000 },
  );
});
