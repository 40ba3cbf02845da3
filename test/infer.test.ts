// Inferring a definition from data: types, lengths, choices, field IDs; and that it always reads back.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { App, Field } from '../src/app/app.ts';
import { padDate, startInference } from '../src/app/infer.ts';
import { readDefinition } from '../src/operations/read-definition.ts';

function infer(header: readonly string[], rows: Iterable<readonly string[]>, code = 'A'): App {
  const inference = startInference(header, { code });
  for (const row of rows) inference.add(row);
  const text = inference.finish();
  const read = readDefinition('inferred.yaml', text);
  if ('problems' in read) assert.fail(`${read.problems.join('\n')}\n${text}`);
  return read.app;
}

/** The field inferred from the values of one column. */
function inferColumn(values: readonly string[]): Field {
  const { fields } = infer(
    ['x'],
    values.map((value) => [value]),
  );
  const field = fields[1];
  assert.ok(field);
  return field;
}

describe('types', () => {
  const cases: readonly (readonly [title: string, values: readonly string[], type: string, search: string])[] = [
    ['numbers', ['1', '-2.50', '1,000', '0', '0.5', ''], 'number', 'range'],
    ['postal codes', ['0600001', '1000001'], 'text', 'partial'],
    ['telephone numbers', ['09012345678'], 'text', 'partial'],
    ['telephone numbers with a country code', ['+819012345678'], 'text', 'partial'],
    ['numbers and a word', ['1', '2', 'なし'], 'text', 'partial'],
    ['numbers with an exponent', ['1e5'], 'text', 'partial'],
    ['dates', ['2026-01-05', '2026/01/05', '2026/1/5', ''], 'date', 'range'],
    ['impossible dates', ['2026-02-30'], 'text', 'partial'],
    ['date-times', ['2026-01-05 10:00:00', '2026/01/05 10:00'], 'datetime', 'range'],
    ['times', ['09:30', '23:59:59'], 'time', 'range'],
    ['dates and times mixed', ['2026-01-05', '09:30'], 'text', 'partial'],
    ['line breaks', ['a\nb', 'c'], 'text_area', 'partial'],
    ['long texts', ['あ'.repeat(201)], 'text_area', 'partial'],
    ['200 characters outside the BMP', ['😀'.repeat(200)], 'text', 'partial'],
    ['nothing', ['', ''], 'text', 'partial'],
    ['no rows', [], 'text', 'partial'],
    ['few values, each again', Array.from({ length: 60 }, (_, i) => `区分${i % 3}`), 'dropdown', 'any_of'],
    ['few values in too few rows', Array.from({ length: 49 }, (_, i) => `区分${i % 3}`), 'text', 'partial'],
    ['21 values', Array.from({ length: 210 }, (_, i) => `区分${i % 21}`), 'text', 'partial'],
    ['a value seen once', [...Array.from({ length: 60 }, () => 'x'), 'y'], 'text', 'partial'],
    ['values with commas', Array.from({ length: 60 }, () => 'x,y'), 'text', 'partial'],
    ['values with spaces around', Array.from({ length: 60 }, () => ' x'), 'text', 'partial'],
  ];
  for (const [title, values, type, search] of cases) {
    test(title, () => {
      const field = inferColumn(values);
      assert.deepEqual([field.type, field.search], [type, search]);
    });
  }

  test('choices are listed in the order in which they appear', () => {
    const values = Array.from({ length: 60 }, (_, i) => ['新規', '完了', 'null', '受付'][i % 4] ?? '');
    assert.deepEqual(inferColumn(values).choices, ['新規', '完了', 'null', '受付']);
  });

  test('a text may be longer than the longest seen, by half and in hundreds', () => {
    const lengths = [0, 10, 66, 67, 100, 200].map((length) => inferColumn(['x'.repeat(length)]).maxLength);
    assert.deepEqual(lengths, [100, 100, 100, 200, 200, 300]);
  });

  test('rows may be shorter and longer than the header', () => {
    const app = infer(['x', 'y'], [['1'], ['2', '3', '4'], []]);
    assert.deepEqual(
      app.fields.map((field) => field.type),
      ['id', 'number', 'number'],
    );
  });

  test('padDate completes only dates', () => {
    assert.deepEqual(['2026/1/5', '2026-01-5', '2026/1-5', '26/1/5', 'x'].map(padDate), [
      '2026/01/05',
      '2026-01-05',
      '2026/1-5',
      '26/1/5',
      'x',
    ]);
  });
});

describe('field IDs', () => {
  const idsAndNames = (app: App): unknown => app.fields.map((field) => [field.id, field.name.ja]);

  test('a header that can be an ID is one; any other is the name', () => {
    const app = infer(['city', '住所', 'pms_x', 'city', '', 'a b', '__proto__'], [], 'ADDR');
    assert.deepEqual(idsAndNames(app), [
      ['addr_primarykey', undefined],
      ['city', undefined],
      ['column_2', '住所'],
      ['column_3', 'pms_x'],
      ['column_4', 'city'],
      ['column_5', undefined],
      ['column_6', 'a b'],
      ['__proto__', undefined],
    ]);
    assert.deepEqual([app.primaryKey.type, app.primaryKey.search], ['id', 'exact']);
  });

  test('a column that ends in _primarykey is the primary key, where it stands', () => {
    const app = infer(['x', 'ord_primarykey', 'y_primarykey'], [['1', '2', '3']]);
    assert.deepEqual(
      app.fields.map((field) => [field.id, field.type]),
      [
        ['x', 'number'],
        ['ord_primarykey', 'id'],
        ['y_primarykey', 'number'],
      ],
    );
    assert.deepEqual(idsAndNames(infer(['受注_primarykey'], [])), [['a_primarykey', '受注_primarykey']]);
  });

  test('D19: a header that is the upper bound of a range gets another ID', () => {
    const app = infer(['due', 'due_to', '日', 'column_3_to'], [['2026-01-05', '2026-01-06', '2026-01-07', 'x']]);
    assert.deepEqual(idsAndNames(app), [
      ['a_primarykey', undefined],
      ['due', undefined],
      ['column_2', 'due_to'],
      ['column_3_2', '日'],
      ['column_3_to', undefined],
    ]);
  });

  test('the primary key is made of the app code, cut to fit, and never reserved', () => {
    assert.equal(infer(['x'], [], 'C'.repeat(64)).primaryKey.id, `${'c'.repeat(53)}_primarykey`);
    assert.equal(infer(['x'], [], 'PMS_1').primaryKey.id, 'app_primarykey');
    assert.equal(infer(['x'], [], '007').code, '007');
  });
});

test('memory does not grow with the rows', () => {
  const inference = startInference(['x'], { code: 'A' });
  for (let row = 0; row < 200_000; row++) inference.add([`value ${row}`]);
  assert.ok(inference.finish().length < 200);
});

test('what is inferred always reads back, whatever the data', () => {
  const header = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(
      'x',
      'x_to',
      'column_1',
      'column_2',
      'column_2_to',
      'column_2_2',
      'a_primarykey',
      'b_primarykey',
      'pms_i_ymd',
      'rkwa_status',
      'true',
      '__proto__',
      'é\u2028',
      '\ud800',
      '受注_primarykey',
    ),
  );
  const cell = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(
      '',
      '1',
      '2.5',
      '007',
      '2026-01-05',
      '2026/1/5',
      '09:30',
      '2026-01-05 09:30',
      'a\nb',
      'null',
      '~',
      '- x',
      'x: y',
      '# z',
      '"',
      "'",
      '\\',
      '\u0085',
      '\u007f',
      '\ufeff',
      '[',
      '&a',
      '*a',
      '!t',
      '%',
      '@',
      '\ud800',
      '\0',
    ),
  );
  const code = fc.constantFrom('A', 'a', 'PMS_', 'true', '12', '-', '_', 'X'.repeat(64), '__proto__');
  const data = fc
    .array(header, { minLength: 0, maxLength: 6 })
    .chain((names) =>
      fc.tuple(
        fc.constant(names),
        fc.array(fc.array(cell, { maxLength: names.length + 1 }), { maxLength: 5 }),
        fc.constantFrom(1, 60),
      ),
    );
  fc.assert(
    fc.property(code, data, (appCode, [names, rows, times]) => {
      const app = infer(names, Array.from({ length: times }, () => rows).flat(), appCode);
      assert.equal(app.code, appCode);
      const hasKey = names.some((name) => name.endsWith('_primarykey'));
      assert.equal(app.fields.length, names.length + (hasKey ? 0 : 1));
    }),
    { numRuns: 2000 },
  );
});
