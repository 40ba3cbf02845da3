// Formulas against other ways to calculate: whole numbers of a small unit, the calendar of JavaScript; and whatever text they are given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainField } from '../../src/app/app.ts';
import { parseNumber } from '../../src/fields/number.ts';
import { compileFormula, type Scope } from '../../src/formulas/formula.ts';
import { compareDecimals, scaled } from './plain-filter.ts';

const PLACES = 20;

function evaluated(text: string, fields: Readonly<Record<string, string>> = {}) {
  const formula = compileFormula(text);
  if ('problem' in formula) assert.fail(`${text}: ${formula.problem}`);
  return formula.evaluate({ field: (id) => ({ field: plainField(id, 'number'), value: fields[id] ?? '' }) });
}

const decimal = fc.tuple(fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }), fc.nat(5)).map(([units, places]) => {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
  const point = digits.length - places;
  const text = places === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return units < 0n ? `-${text}` : text;
});

/** An expression of sums, differences and products, and its value in units of 10^-PLACES. */
const expression = fc.letrec<{ tree: readonly [text: string, units: bigint]; leaf: readonly [string, bigint] }>(
  (tie) => ({
    leaf: decimal.map((text): readonly [string, bigint] => [text, scaled(text, PLACES)]),
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie('leaf'),
      fc.tuple(tie('tree'), fc.constantFrom('+', '-', '*'), decimal).map(([[left, a], operator, right]) => {
        const b = scaled(right, PLACES);
        const value = operator === '+' ? a + b : operator === '-' ? a - b : (a * b) / 10n ** BigInt(PLACES);
        return [`(${left}) ${operator} (${right})`, value] as const;
      }),
    ),
  }),
).tree;

test('sums, differences and products are exact to the last digit', () => {
  let checked = 0;
  fc.assert(
    fc.property(expression, ([text, units]) => {
      const result = evaluated(text);
      if (typeof result !== 'string') return;
      // More digits than a result keeps are rounded; those are looked at below.
      const digits = (units < 0n ? -units : units).toString().replace(/0+$/, '').length;
      if (digits > 30) return;
      checked++;
      assert.equal(scaled(result, PLACES), units, text);
      assert.equal(parseNumber(result), result);
      assert.ok(!/\..*0$|^-0$/.test(result), result);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(checked > 1_000);
});

test('a quotient is the nearest number of 30 digits, away from zero where two are as near', () => {
  const whole = fc.bigInt({ min: 1n, max: 10n ** 15n });
  fc.assert(
    fc.property(whole, whole, fc.boolean(), (a, b, negative) => {
      const result = evaluated(`${negative ? '-' : ''}a / b`, { a: String(a), b: String(b) });
      assert.ok(typeof result === 'string');
      assert.equal(result.startsWith('-'), negative);
      let places = 0;
      while (a * 10n ** BigInt(places) < 10n ** 29n * b) places++;
      const nearest = (2n * a * 10n ** BigInt(places) + b) / (2n * b);
      assert.equal(scaled(negative ? result.slice(1) : result, places), nearest, `${a} / ${b} = ${result}`);
    }),
    { numRuns: 2_000 },
  );
});

test('times what was divided by is what was there, and comparisons are by value', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const fields = { a, b };
      if (scaled(b, 5) !== 0n)
        assert.equal(evaluated('a / b * b = a and a % b + floor(a / b) * b = a', fields), 'true');
      const sign = compareDecimals(a, b);
      assert.equal(evaluated('a < b', fields), String(sign < 0));
      assert.equal(evaluated('a = b', fields), String(sign === 0));
      assert.equal(evaluated('max(a, b) = if(a >= b, a, b)', fields), 'true');
    }),
    { numRuns: 2_000 },
  );
});

test('rounding is that of whole numbers', () => {
  fc.assert(
    fc.property(decimal, fc.integer({ min: 0, max: 5 }), (a, digits) => {
      const units = scaled(a, 5);
      const step = 10n ** BigInt(5 - digits);
      const size = units < 0n ? -units : units;
      const below = units >= 0n ? size / step : -((size + step - 1n) / step);
      const nearest = ((2n * size + step) / (2n * step)) * (units < 0n ? -1n : 1n);
      const check = (name: string, expected: bigint) => {
        const result = evaluated(`${name}(a, ${digits})`, { a });
        assert.equal(typeof result === 'string' && scaled(result, 5), expected * step, `${name}(${a}, ${digits})`);
      };
      check('floor', below);
      check('ceil', below * step === units ? below : below + 1n);
      check('round', nearest);
    }),
    { numRuns: 2_000 },
  );
});

test('dates move as the calendar does', () => {
  const DAY = 86_400_000;
  const text = (time: number) => new Date(time).toISOString().slice(0, 10);
  const day = fc
    .integer({ min: Date.parse('0100-01-01') / DAY, max: Date.parse('9950-01-01') / DAY })
    .map((n) => n * DAY);
  fc.assert(
    fc.property(day, fc.integer({ min: -3_000, max: 3_000 }), (time, count) => {
      const from = text(time);
      const to = text(time + count * DAY);
      assert.equal(evaluated(`adddays("${from}", ${count})`), to);
      assert.equal(evaluated(`days("${from}", "${to}")`), String(count));
      const months = count % 500;
      const first = new Date(`${from.slice(0, 7)}-01`);
      first.setUTCMonth(first.getUTCMonth() + months);
      const last = new Date(first);
      last.setUTCMonth(last.getUTCMonth() + 1, 0);
      first.setUTCDate(Math.min(Number(from.slice(8)), last.getUTCDate()));
      assert.equal(evaluated(`addmonths("${from}", ${months})`), text(first.getTime()));
    }),
    { numRuns: 2_000 },
  );
});

/** Texts that look like formulas, most of them wrong ones. */
const formulaLike = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(...'+-*/%^&=<>(),'.split(''), '<=', '<>', ' and ', ' or ', 'not ', 'true'),
      },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          'a',
          'b',
          'c',
          'rows',
          '[a-b]',
          '1',
          '0',
          '0.5',
          '99999999999',
          '"x"',
          '""',
          "'2024-01-31'",
        ),
      },
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          ...'if sum avg count min max round floor ceil abs text concat len left right mid upper lower trim replace year date days adddays addmonths __proto__ toString'
            .split(' ')
            .map((name) => `${name}(`),
        ),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

const value = fc.oneof(
  decimal,
  fc.constantFrom(
    '',
    '0',
    '2024-02-29',
    '2024-02-29 10:00:00',
    'true',
    '1,000',
    '-',
    `0.${'0'.repeat(399)}1`,
    '9'.repeat(30),
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

/** Well-formed formulas over all functions and operators. */
const formula = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      'a',
      'b',
      'c',
      'sum(rows)',
      'max(rows)',
      '0',
      '1',
      '2',
      '0.5',
      '1000000',
      '"x"',
      '""',
      '"2024-01-31"',
      'true',
    ),
    fc
      .tuple(tie('tree'), fc.constantFrom(...'+-*/%^&=<>'.split(''), '<>', '<=', ' and ', ' or '), tie('tree'))
      .map(([left, operator, right]) => `(${left})${operator}(${right})`),
    fc
      .tuple(
        fc.constantFrom('abs', 'round', 'floor', 'len', 'upper', 'trim', 'year', 'day', '-', 'not ', 'sum'),
        tie('tree'),
      )
      .map(([name, inside]) => `${name}(${inside})`),
    fc
      .tuple(
        fc.constantFrom('left', 'right', 'text', 'days', 'adddays', 'addmonths', 'round', 'ceil', 'min', 'concat'),
        tie('tree'),
        tie('tree'),
      )
      .map(([name, one, other]) => `${name}(${one}, ${other})`),
    fc
      .tuple(fc.constantFrom('if', 'replace', 'mid', 'date', 'avg'), tie('tree'), tie('tree'), tie('tree'))
      .map(([name, one, two, three]) => `${name}(${one}, ${two}, ${three})`),
  ),
})).tree;

const MOST_TIME = 2_000;
const types = fc.constantFrom('number', 'text', 'calculation', 'date', 'checkbox');

test('whatever the text and the values are: a result that can be kept, a fault or a problem, and soon', () => {
  let results = 0;
  let faults = 0;
  let problems = 0;
  fc.assert(
    fc.property(
      fc.oneof(formulaLike, { weight: 3, arbitrary: formula }, fc.string({ unit: 'binary', maxLength: 100 })),
      fc.array(fc.tuple(types, value), { minLength: 4, maxLength: 4 }),
      (text, [a, b, c, d]) => {
        const started = performance.now();
        const compiled = compileFormula(text);
        if ('problem' in compiled) {
          problems++;
          assert.ok(compiled.problem !== '' && compiled.position >= 1 && compiled.position <= text.length + 1);
          return;
        }
        const given = new Map([
          ['a', a],
          ['b', b],
          ['c', c],
        ]);
        const scope: Scope = {
          field(id) {
            const [type, one] = given.get(id) ?? d ?? assert.fail();
            const rows = [one, a?.[1] ?? '', b?.[1] ?? ''];
            return { field: plainField(id, type), value: id === 'rows' ? rows : one };
          },
        };
        const result = compiled.evaluate(scope);
        assert.ok(performance.now() - started < MOST_TIME, text);
        assert.deepEqual(compiled.evaluate(scope), result);
        if (typeof result === 'string') results++;
        else faults++;
        if (typeof result === 'string') assert.ok(result.length <= 32_768 && result.isWellFormed(), text);
        else assert.match(result.fault, /\S/);
      },
    ),
    { numRuns: 4_000 },
  );
  assert.ok(
    results > 300 && faults > 300 && problems > 300,
    `${results} results, ${faults} faults, ${problems} problems`,
  );
});
