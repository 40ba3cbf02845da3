// Formulas: what they give, what is no formula, what has no answer; every calculated field of a record.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type App, type Field, plainField } from '../src/app/app.ts';
import { evaluateAll } from '../src/formulas/evaluate-all.ts';
import { compileFormula, type Formula, type Scope } from '../src/formulas/formula.ts';
import { readDefinition } from '../src/operations/read-definition.ts';

const FIELDS: Readonly<Record<string, readonly [type: Field['type'], value: string | readonly string[]]>> = {
  price: ['number', '1.50'],
  qty: ['number', '3'],
  none: ['number', ''],
  'unit-price': ['number', '20'],
  '1st': ['text', 'first'],
  and: ['text', 'reserved'],
  sum: ['text', 'a field'],
  zip: ['text', '0123'],
  twelve: ['text', '12'],
  word: ['text', 'あ😀b'],
  empty: ['text', ''],
  due: ['date', '2024-01-31'],
  at: ['datetime', '2024-02-29 23:30:00'],
  noDue: ['date', ''],
  status: ['dropdown', '完了'],
  options: ['checkbox', 'x,y'],
  subtotal: ['calculation', '2.50'],
  grouped: ['calculation', '1,234'],
  holds: ['calculation', 'true'],
  code: ['concatenation', '007'],
  amounts: ['number', ['1.1', '', '2.2', '-3']],
  days: ['date', ['2024-03-01', '2023-12-31', '']],
  nothing: ['number', []],
};

const scope: Scope = {
  field(id) {
    const [type, value] = FIELDS[id] ?? assert.fail(`no field ${id}`);
    return { field: plainField(id, type), value };
  },
};

function compiled(text: string): Formula {
  const formula = compileFormula(text);
  if ('problem' in formula) assert.fail(`${text}: ${formula.problem} at ${formula.position}`);
  return formula;
}

const evaluated = (text: string) => compiled(text).evaluate(scope);

function gives(cases: readonly (readonly [formula: string, result: string])[]): void {
  for (const [formula, result] of cases)
    test(`${formula.replace(/\s+/g, ' ')} → ${result}`, () => assert.equal(evaluated(formula), result));
}

describe('the functions as the reference has them', () => {
  const page = readFileSync(new URL('../docs/reference/definition.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| ([a-z].*\)) \| .* \| `(.+)` \| `(.*)` \|$/gm)];
  for (const [, name, example = '', result] of rows) {
    test(`${name}: ${example} → ${result}`, () => assert.equal(evaluated(example), result));
  }

  test('there is every function, and nothing else', () => {
    const documented = rows.flatMap(([, names = '']) => Array.from(names.matchAll(/(\w+)\(/g), ([, name]) => name));
    const unknown = compileFormula('nosuchfunction()');
    assert.ok('problem' in unknown);
    const [, known = ''] = /expected one of (.*)$/.exec(unknown.problem) ?? [];
    assert.deepEqual(known.split(', ').toSorted(), documented.toSorted());
  });
});

describe('numbers are exact', () => {
  gives([
    ['0.1 + 0.2', '0.3'],
    ['0.1 + 0.2 = 0.3', 'true'],
    ['10 / 3 * 3', '10'],
    ['1/3 + 1/3 + 1/3 = 1', 'true'],
    ['10 / 3', '3.33333333333333333333333333333'],
    ['2 / 3', '0.666666666666666666666666666667'],
    ['-2 / 3', '-0.666666666666666666666666666667'],
    ['200000 / 3', '66666.6666666666666666666666667'],
    ['1 / 3000', '0.000333333333333333333333333333333'],
    ['123456789012345678901234567890 - 1', '123456789012345678901234567889'],
    ['1.00375 ^ 420', '4.81653233758332695204504417521'],
    ['0.1 ^ 401', '0'],
    ['-0.0', '0'],
    ['7 % 3', '1'],
    ['-7 % 3', '2'],
    ['7 % -3', '-2'],
    ['5.5 % 2', '1.5'],
    ['round(-2.5)', '-3'],
    ['round(2.4999)', '2'],
    ['round(1250, -2)', '1300'],
    ['floor(2.999, 2)', '2.99'],
    ['ceil(2.001, 2)', '2.01'],
    ['ceil(-2.5)', '-2'],
    ['floor(10 / 3 * 3)', '10'],
  ]);

  test('one digit more than a result has before its point is too many', () => {
    assert.equal(evaluated('10 ^ 29'), `1${'0'.repeat(29)}`);
    assert.deepEqual(evaluated('10 ^ 30'), { fault: 'the result has more than 30 digits before the point' });
    assert.deepEqual(evaluated(`${'9'.repeat(30)} + 0.6`), {
      fault: 'the result has more than 30 digits before the point',
    });
  });
});

describe('operators', () => {
  gives([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['10 - 2 - 3', '5'],
    ['2 ^ 3 ^ 2', '512'],
    ['-2 ^ 2', '-4'],
    ['2 ^ -2', '0.25'],
    ['2 * -3', '-6'],
    ['1 & 2 + 3', '15'],
    ['"a" & "b" = "ab"', 'true'],
    ['not 1 = 2 and 2 = 2', 'true'],
    ['1 = 1 or 1 = 2 and 1 = 3', 'true'],
    ['(1 = 1 or 1 = 2) and 1 = 3', 'false'],
    ['true or 1 / 0 = 1', 'true'],
    ['FALSE AND 1 / 0 = 1', 'false'],
    ['If(NOT false, Round(1.5), 0)', '2'],
    ['"say ""yes"""', 'say "yes"'],
    ["'it''s'", "it's"],
    ['1\n+\t1', '2'],
    ['"a" < "b"', 'true'],
    ['"\uff61" < "😀"', 'true'],
    ['"a" < "ab"', 'true'],
    ['1 < 1', 'false'],
    ['1 <= 1', 'true'],
    ['2 >= 3', 'false'],
    ['1 <> 2', 'true'],
  ]);
});

describe('fields, by their types', () => {
  gives([
    ['price', '1.50'],
    ['price + 0', '1.5'],
    ['price & "円"', '1.50円'],
    ['price * qty', '4.5'],
    ['[unit-price] / 8', '2.5'],
    ['[1st]', 'first'],
    ['[and]', 'reserved'],
    ['sum', 'a field'],
    ['zip & "-4567"', '0123-4567'],
    ['zip = "123"', 'false'],
    ['zip = 123', 'true'],
    ['zip = status', 'false'],
    ['zip = 1 or "abc" = 1', 'false'],
    ['twelve + 1', '13'],
    ['"2" < "12"', 'false'],
    ['twelve > qty', 'true'],
    ['subtotal * 2', '5'],
    ['subtotal & ""', '2.50'],
    ['grouped + 1', '1235'],
    ['grouped & ""', '1,234'],
    ['if(holds, 1, 2)', '1'],
    ['code', '007'],
    ['len(code)', '3'],
    ['code + 1', '8'],
    ['status = "完了"', 'true'],
    ['options & ""', 'x,y'],
    ['left(word, 2)', 'あ😀'],
    ['right(word, 9)', 'あ😀b'],
    ['mid(word, 2, 1)', '😀'],
    ['len(word)', '3'],
    ['upper(word)', 'あ😀B'],
    ['trim("\u3000a\u3000")', 'a'],
    ['due < "2024-02-01"', 'true'],
    ['year(due) & month(due) & day(due)', '2024131'],
    ['day(at)', '29'],
    ['addmonths(due, 1)', '2024-02-29'],
    ['addmonths(due, -11)', '2023-02-28'],
    ['addmonths(due, 12)', '2025-01-31'],
    ['adddays(at, 1)', '2024-03-01 23:30:00'],
    ['days(due, at)', '29'],
    ['days(at, due)', '-29'],
    ['max(due, "2024-02-01")', '2024-02-01'],
    ['min("10:00:00", "09:59:59")', '09:59:59'],
    ['text(price, "0.0")', '1.5'],
    ['text(-1234.5, "¥#,##0 税込")', '-¥1,235 税込'],
  ]);
});

describe('the values of a table over its rows', () => {
  gives([
    ['sum(amounts)', '0.3'],
    ['avg(amounts)', '0.1'],
    ['count(amounts)', '3'],
    ['min(amounts)', '-3'],
    ['max(amounts)', '2.2'],
    ['max(days)', '2024-03-01'],
    ['min(days)', '2023-12-31'],
    ['count(days)', '2'],
    ['sum(amounts, 1, price)', '2.8'],
    ['sum(nothing)', '0'],
    ['avg(nothing)', ''],
    ['max(nothing)', ''],
    ['count(nothing)', '0'],
  ]);

  test('are taken only by the functions that take them', () => {
    const fault = { fault: 'amounts has a value in every row; a function such as sum takes those' };
    assert.deepEqual(evaluated('amounts + 1'), fault);
    assert.deepEqual(evaluated('sum(amounts * 2)'), fault);
    assert.deepEqual(evaluated('round(amounts)'), fault);
  });
});

describe('what is empty', () => {
  gives([
    ['none', ''],
    ['none + 1', ''],
    ['1 - none', ''],
    ['none / 0', ''],
    ['-none', ''],
    ['round(none)', ''],
    ['sum(none, 1)', '1'],
    ['none & "x"', 'x'],
    ['empty & empty', ''],
    ['none = ""', 'true'],
    ['none = empty', 'true'],
    ['none = 0', 'false'],
    ['none <> 0', 'true'],
    ['none < 1', 'false'],
    ['none >= 1', 'false'],
    ['not none', 'true'],
    ['if(none, 1, 2)', '2'],
    ['if(none < 1, none, "")', ''],
    ['len(none)', '0'],
    ['left(empty, 2)', ''],
    ['left(word, none)', ''],
    ['year(noDue)', ''],
    ['days(noDue, due)', ''],
    ['adddays(due, none)', ''],
    ['date(2024, none, 1)', ''],
    ['text(none, "0.00")', ''],
    ['replace(word, empty, "x")', 'あ😀b'],
  ]);
});

describe('what has no answer', () => {
  const cases: readonly (readonly [formula: string, fault: string])[] = [
    ['1 / 0', 'division by zero'],
    ['1 % 0', 'division by zero'],
    ['0 ^ -1', 'division by zero'],
    ['word + 1', '"あ😀b" is no number'],
    ['due * 2', '"2024-01-31" is no number'],
    ['sum(1, "x")', '"x" is no number'],
    ['max(due, 5)', '"2024-01-31" is no number'],
    ['max("a", "b")', '"a" is no number'],
    ['"x" < 1', '"x" is no number'],
    ['(1 = 1) + 1', 'a condition stands where a number is needed'],
    ['(1 = 1) < (1 = 2)', 'a condition stands where a number is needed'],
    ['if(1, 2, 3)', '"1" stands where a condition is needed'],
    ['not word', '"あ😀b" stands where a condition is needed'],
    ['2 ^ 0.5', 'an exponent is no whole number from -1000000 to 1000000'],
    ['9 ^ 9 ^ 9', 'an exponent is no whole number from -1000000 to 1000000'],
    ['9 ^ 999999', 'a number has more than 500 digits'],
    ['round(1, 0.5)', '"0.5" is no whole number from -400 to 400'],
    ['left("a", -1)', '"-1" is no whole number from 0 to 1000000'],
    ['mid("a", 0, 1)', '"0" is no whole number from 1 to 1000000'],
    ['text(1, "0.0.0")', '"0.0.0" is no format; expected one such as #,##0.00'],
    ['year(word)', '"あ😀b" is no date'],
    ['year(5)', '"5" is no date'],
    ['date(2023, 2, 29)', '2023-02-29 is no date'],
    ['adddays("9999-12-31", 1)', '10000-01-01 is no date'],
    ['addmonths("0001-01-31", -1)', '0000-12-31 is no date'],
    ['adddays(due, 1.5)', '"1.5" is no whole number from -4000000 to 4000000'],
  ];
  for (const [formula, fault] of cases) {
    test(`${formula}: ${fault}`, () => assert.deepEqual(evaluated(formula), { fault }));
  }
});

describe('what is no formula', () => {
  const cases: readonly (readonly [formula: string, problem: string, position: number])[] = [
    ['', 'the formula ends; expected a value', 1],
    ['1 +', 'the formula ends; expected a value', 4],
    ['(1', 'the formula ends; expected ")"', 3],
    ['1)', '")" is not possible; expected an operator', 2],
    ['1 2', '"2" is not possible; expected an operator', 3],
    ['2x', '"x" is not possible; expected an operator', 2],
    ['= 1', '"=" is not possible; expected a value', 1],
    ['+1', '"+" is not possible; expected a value', 1],
    ['1..2', '"." is not possible', 2],
    ['a; b', '";" is not possible', 2],
    ['a := 1', '":" is not possible', 3],
    ['a.b', '"." is not possible', 2],
    ['[a', 'the field ID has no closing ]', 1],
    ['"a', 'the text has no closing "', 1],
    ['and', '"and" is not possible; expected a value', 1],
    ['1 < 2 < 3', 'a comparison after another, which begins at character 3; expected "and"', 7],
    ['round()', '")" is not possible; expected a value', 7],
    ['round(1, 2, 3)', 'round is given 3 values; expected 1 to 2', 1],
    ['if(true, 1)', 'if is given 2 values; expected 3', 1],
    ['today() + sume(1)', 'there is no function today; expected one of if, sum, avg', 1],
    ['sume(1)', 'there is no function sume; did you mean sum?', 1],
    ['constructor()', 'there is no function constructor; expected one of', 1],
    [`1 + ${'9'.repeat(31)}`, 'a number of more than 30 digits', 5],
    [`1${' '.repeat(2_000)}`, 'longer than 2000 characters', 2_001],
    [`${'('.repeat(50)}1${')'.repeat(50)}`, 'nested more than 50 deep', 51],
  ];
  for (const [formula, problem, position] of cases) {
    test(`${formula.slice(0, 40)}: ${problem}`, () => {
      const found = compileFormula(formula);
      assert.ok('problem' in found, 'it is one');
      assert.equal(found.problem.slice(0, problem.length), problem);
      assert.equal(found.position, position);
    });
  }
});

test('a formula says which fields it names, and where', () => {
  const formula = compiled('sum(amounts, price) + [unit-price] * price');
  assert.deepEqual(formula.fields, ['amounts', 'price', 'unit-price']);
  assert.deepEqual(
    formula.uses.map(({ id, position, overRows }) => [id, position, overRows]),
    [
      ['amounts', 5, true],
      ['price', 14, true],
      ['unit-price', 23, false],
      ['price', 38, false],
    ],
  );
});

test('no formula of a hostile author holds up the process', () => {
  const deep = 48;
  const long = (part: string, last: string) => part.repeat(Math.floor((2_000 - last.length) / part.length)) + last;
  const hostile = [
    '('.repeat(2_000),
    '-'.repeat(2_000),
    'not '.repeat(500),
    '"'.repeat(1_999),
    `${'2^'.repeat(deep)}2`,
    `${'9^'.repeat(2)}9`,
    '0.999999999999999999999999999999 ^ 999999',
    '(1 + 1 / 3 ^ 400) ^ 1000000',
    long('a+', 'a'),
    long('a*', 'a'),
    long('t&', 't'),
    long('a/7+', '1'),
    long('1/a+', '1'),
    long('a%7%', '3'),
    long('(2/3+1/7)^999999*', '1'),
    long('round(a/7,400)+', '1'),
    long('len(t)+', '1'),
    long('upper(t)=', 't').replaceAll('=upper', '&upper'),
    `${'replace('.repeat(deep)}t${',"a","bb")'.repeat(deep)}`,
    `${'replace('.repeat(deep)}t${',"a","b")'.repeat(deep)}`,
    `sum(${long('rows,', 'rows)').slice(4)}`,
  ];
  const rows = Array.from({ length: 20_000 }, (_, index) => `${index}.${index}`);
  const given: Scope = {
    field(id) {
      if (id === 'rows') return { field: plainField(id, 'number'), value: rows };
      const text = id === 't';
      const value = text ? 'a'.repeat(32_768) : '123456789012345678901234567.891';
      return { field: plainField(id, text ? 'text' : 'number'), value };
    },
  };
  for (const text of hostile) {
    const started = performance.now();
    const formula = compileFormula(text);
    if ('evaluate' in formula) formula.evaluate(given);
    const took = performance.now() - started;
    assert.ok(took < 3_000, `${text.slice(0, 40)}: ${took} ms`);
  }
});

describe('every calculated field of a record', () => {
  const DEFINITION = `code: ORDERS
fields:
  - { id: o_primarykey, type: id }
  - { id: o_title, type: concatenation, formula: '"No. " & o_primarykey & ": " & o_total', maxLength: 20 }
  - { id: o_total, type: calculation, formula: o_net * (1 + o_tax / 100) }
  - { id: o_net, type: calculation, formula: sum(l_amount) }
  - { id: o_tax, type: number }
tables:
  - code: lines
    fields:
      - { id: l_share, type: calculation, formula: 'round(l_amount / o_net * 100, 1) & "%"' }
      - { id: l_price, type: number }
      - { id: l_qty, type: number }
      - { id: l_amount, type: calculation, formula: l_price * l_qty }
  - code: notes
    fields:
      - { id: n_text, type: text }
`;
  function appOf(text: string): App {
    const read = readDefinition('app.yaml', text);
    return 'app' in read ? read.app : assert.fail(read.problems.join('\n'));
  }
  const app = appOf(DEFINITION);
  const system = ['u', '2026-01-01 00:00:00', 'u', '2026-01-01 00:00:00'];
  const notes = [['x']];

  test('rows before the form that sums them, and the form before the rows that take part of it', () => {
    const lines = [
      ['', '0.1', '3', 'sent'],
      ['', '2.5', '', 'old'],
      ['', '0.3', '3', ''],
    ];
    const calculated = evaluateAll(app, ['7', '', '', '', '10', ...system], [lines, notes]);
    assert.deepEqual(calculated.values, ['7', 'No. 7: 1.32', '1.32', '1.2', '10', ...system]);
    assert.deepEqual(calculated.rows[0], [
      ['25%', '0.1', '3', '0.3'],
      ['%', '2.5', '', ''],
      ['75%', '0.3', '3', '0.9'],
    ]);
    assert.equal(calculated.rows[1], notes);
    assert.deepEqual(calculated.faults, []);
    assert.deepEqual(lines[0], ['', '0.1', '3', 'sent']);
    const again = evaluateAll(app, calculated.values, calculated.rows);
    assert.equal(again.rows[0], calculated.rows[0]);
    assert.deepEqual(again.values, calculated.values);
  });

  test('a field without an answer is empty, and so is what needs it; the fault names field, row and reason', () => {
    const calculated = evaluateAll(app, ['7', 'x', 'x', 'x', '10', ...system], [[['', '0', '0', '']], []]);
    assert.deepEqual(calculated.values.slice(0, 5), ['7', 'No. 7: 0', '0', '0', '10']);
    assert.deepEqual(calculated.rows[0], [['', '0', '0', '0']]);
    assert.deepEqual(calculated.faults, [{ field: 'l_share', row: 1, message: 'l_share in row 1: division by zero' }]);
  });

  test('a result longer than its field may be is none', () => {
    const { values, faults } = evaluateAll(app, ['1234567890123456', '', '', '', '', ...system], [[], []]);
    assert.equal(values[1], '');
    assert.deepEqual(faults, [
      { field: 'o_title', row: null, message: 'o_title: the result is longer than 20 characters' },
    ]);
  });

  test('an app without formulas gives back what it was given', () => {
    const plain = appOf('code: A\nfields: [{ id: a_primarykey, type: id }]');
    const values = ['1', ...system];
    const rows: string[][][] = [];
    const calculated = evaluateAll(plain, values, rows);
    assert.equal(calculated.values, values);
    assert.equal(calculated.rows, rows);
  });

  test('a long chain of fields is evaluated in its order', () => {
    const count = 800;
    const fields = Array.from({ length: count }, (_, index) => {
      const next = index === count - 1 ? '1' : `f${index + 1} + 1`;
      return `  - { id: f${index}, type: calculation, formula: ${next === '1' ? "'1'" : next} }\n`;
    });
    const chain = appOf(`code: A\nfields:\n  - { id: a_primarykey, type: id }\n${fields.join('')}`);
    const { values } = evaluateAll(chain, ['1', ...fields.map(() => ''), ...system], []);
    assert.equal(values[1], String(count));
  });
});
