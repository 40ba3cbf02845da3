// The definition of an app: what is read, what is refused, with which message and in which line; and its schema.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type App, FIELD_TYPES, type Field, plainField, SYSTEM_FIELDS } from '../src/app/app.ts';
import { define } from '../src/app/define.ts';
import { readDefinition } from '../src/operations/read-definition.ts';

const EXAMPLE = `code: ORDERS                          # app code
name: { ja: 受注, en: Orders }
recordsKey: orders
state: production                     # production | maintenance | preparation
fold: false
everyone: false
fields:
  - { id: ord_primarykey, type: id }
  - { id: ord_no, type: auto_number, format: "ORD-{YYYY}-{00000}", search: prefix }
  - { id: ord_customer, type: text, name: { ja: 顧客, en: Customer }, maxLength: 200, search: partial }
  - { id: ord_note, type: text_area, search: any_of, list: hidden }
  - { id: ord_status, type: dropdown, choices: [新規, 受付, 完了], search: any_of }
  - { id: ord_amount, type: number, format: { grouping: true, decimals: 2, prefix: "¥" }, search: range }
  - { id: ord_due, type: date, search: range }
  - { id: ord_margin, type: number, protected: true, search: hidden }
tables:
  - code: ord_lines
    fields:
      - { id: line_product, type: text, search: exact }
      - { id: line_qty, type: number, search: range }
`;

const primaryKey = plainField('ord_primarykey', 'id');
const EXPECTED: App = {
  code: 'ORDERS',
  name: { ja: '受注', en: 'Orders' },
  recordsKey: 'orders',
  state: 'production',
  everyone: false,
  fields: [
    primaryKey,
    { ...plainField('ord_no', 'auto_number'), autoNumberFormat: 'ORD-{YYYY}-{00000}', search: 'prefix' },
    {
      ...plainField('ord_customer', 'text'),
      name: { ja: '顧客', en: 'Customer' },
      maxLength: 200,
      search: 'partial',
    },
    { ...plainField('ord_note', 'text_area'), search: 'any_of', list: 'hidden' },
    { ...plainField('ord_status', 'dropdown'), choices: ['新規', '受付', '完了'], search: 'any_of' },
    {
      ...plainField('ord_amount', 'number'),
      numberFormat: { grouping: true, decimals: 2, prefix: '¥', suffix: '' },
      search: 'range',
    },
    { ...plainField('ord_due', 'date'), search: 'range' },
    { ...plainField('ord_margin', 'number'), protected: true },
  ],
  primaryKey,
  tables: [
    {
      code: 'ord_lines',
      name: {},
      fields: [
        { ...plainField('line_product', 'text'), search: 'exact' },
        { ...plainField('line_qty', 'number'), search: 'range' },
      ],
    },
  ],
  system: SYSTEM_FIELDS.map((id) => plainField(id, id)),
};

function appOf(text: string): App {
  const read = readDefinition('app.yaml', text);
  if ('problems' in read) assert.fail(read.problems.join('\n'));
  return read.app;
}

function problemsOf(text: string): readonly string[] {
  const read = readDefinition('app.yaml', text);
  return 'problems' in read ? read.problems : [];
}

/** A definition with one more field, whose line is 4. */
function withField(field: string): string {
  return `code: A\nfields:\n  - { id: a_primarykey, type: id }\n  - ${field}\n`;
}

/** The one problem of a definition. */
function onlyProblem(text: string): string {
  const problems = problemsOf(text);
  assert.equal(problems.length, 1, problems.join('\n') || 'no problem');
  return problems[0] ?? '';
}

/** Parsed JSON as the tree that `define` reads. */
function treeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(treeOf);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, treeOf(member)]));
}

describe('what is read', () => {
  test('the example of an order register', () => {
    const read = readDefinition('orders.yaml', EXAMPLE);
    assert.deepEqual(read, { app: EXPECTED, source: EXAMPLE });
  });

  test('JSON is read as YAML is, with spaces, tabs, CRLF or a byte order mark', () => {
    const json = {
      code: 'A',
      name: '受注😀',
      fields: [
        { id: 'a_primarykey', type: 'id' },
        { id: 'b', type: 'number', format: { suffix: '円' } },
      ],
    };
    const app = appOf(
      'code: A\nname: 受注😀\nfields:\n- {id: a_primarykey, type: id}\n- {id: b, type: number, format: {suffix: 円}}\n',
    );
    for (const indent of [undefined, 2, '\t']) {
      const text = JSON.stringify(json, null, indent);
      assert.deepEqual(appOf(text), app);
      assert.deepEqual(appOf(`\ufeff${text.replaceAll('\n', '\r\n')}`), app);
    }
  });

  test('D11: the records key is the app code unless it is set', () => {
    assert.equal(appOf('code: A\nfields: [{ id: a_primarykey, type: id }]').recordsKey, 'A');
    assert.equal(appOf('code: A\nrecordsKey: b\nfields: [{ id: a_primarykey, type: id }]').recordsKey, 'b');
  });

  test('D17: a field folds as the app says unless it says otherwise', () => {
    const app = appOf(`fold: true\n${withField('{ id: b, type: text, fold: false }')}  - { id: c, type: text }\n`);
    assert.deepEqual(
      app.fields.map((field) => field.fold),
      [true, false, true],
    );
  });

  test('the search of system fields is set under system', () => {
    const app = appOf(`${withField('{ id: b, type: text }')}system: { pms_i_ymd: { search: range } }\n`);
    assert.deepEqual(
      app.system.map((field) => [field.id, field.search]),
      [
        ['pms_i_usr', 'hidden'],
        ['pms_i_ymd', 'range'],
        ['pms_u_usr', 'hidden'],
        ['pms_u_ymd', 'hidden'],
      ],
    );
  });

  test('a default is kept as the type reads it', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['{ id: b, type: date, default: 2026/01/05 }', '2026-01-05'],
      ['{ id: b, type: number, default: 1.10 }', '1.10'],
      ['{ id: b, type: number, default: "1,000" }', '1000'],
      ['{ id: b, type: number, default: 123456789012345678901234567890 }', '123456789012345678901234567890'],
      ['{ id: b, type: text, default: 001 }', '001'],
      ['{ id: b, type: time, default: "09:30" }', '09:30:00'],
      ['{ id: b, type: text, default: "" }', ''],
    ];
    for (const [field, value] of cases) assert.equal(appOf(withField(field)).fields[1]?.default, value, field);
  });

  test('a formula in the form and in a table, and a unique field', () => {
    const app = appOf(
      withField(`{ id: b, type: calculation, formula: '[x-1] & sum(c, d)' }
  - { id: x-1, type: auto_number, unique: true }
tables:
  - code: t
    fields:
      - { id: c, type: number }
      - id: d
        type: concatenation
        formula: |
          if(c > 1, "more",
             [x-1])
`),
    );
    const fields = [...app.fields, ...(app.tables[0]?.fields ?? [])];
    assert.deepEqual(
      fields.map(({ id, formula, unique }) => [id, formula, unique]),
      [
        ['a_primarykey', '', false],
        ['b', '[x-1] & sum(c, d)', false],
        ['x-1', '', true],
        ['c', '', false],
        ['d', 'if(c > 1, "more",\n   [x-1])\n', false],
      ],
    );
  });

  test('choices written as numbers are texts, as they are written', () => {
    const app = appOf(withField('{ id: b, type: radio, choices: [1, 02, 1.50, "3"] }'));
    assert.deepEqual(app.fields[1]?.choices, ['1', '02', '1.50', '3']);
  });

  test('names that JavaScript and SQL treat specially are IDs like any other', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'select', 'rowid', '__defineGetter__'];
    const fields = ids.map((id) => `  - { id: ${id}, type: text, search: partial }\n`).join('');
    const app = appOf(
      `code: __proto__\nfields:\n  - { id: a_primarykey, type: id }\n${fields}tables: [{ code: valueOf, fields: [{ id: length, type: text }] }]`,
    );
    assert.deepEqual(
      app.fields.slice(1).map((field) => field.id),
      ids,
    );
    assert.equal(app.recordsKey, '__proto__');
    assert.equal(({} as { search?: unknown }).search, undefined);
  });
});

describe('what is refused', () => {
  const fields: readonly (readonly [field: string, problem: RegExp])[] = [
    ['{ id: b, type: text, serach: partial }', /fields\[1\] b: serach: unknown key; did you mean search\?$/],
    ['{ id: b, type: text, __proto__: x }', /fields\[1\] b: __proto__: unknown key; expected one of id, type,/],
    ['{ id: b, type: text, constructor: x }', /b: constructor: unknown key/],
    ['{ type: text }', /fields\[1\]: id: missing; expected letters/],
    ['{ id: b }', /b: type: missing; expected one of id, text,/],
    ['{ id: b, type: txet }', /b: type: "txet" is not possible; expected one of id, text,.*\(did you mean text\?\)$/],
    ['{ id: b, type: pms_i_usr }', /b: type: "pms_i_usr" is not possible/],
    ['{ id: b, type: toString }', /b: type: "toString" is not possible/],
    ['{ id: 7, type: text }', /fields\[1\]: id: 7 is not possible; expected letters.* as a text$/],
    ['{ id: 顧客, type: text }', /fields\[1\]: id: "顧客" is not possible; expected letters, digits/],
    ['{ id: "a\\"b", type: text }', /id: "a\\"b" is not possible/],
    [`{ id: ${'x'.repeat(65)}, type: text }`, /id: "x+" is not possible; expected letters/],
    ['{ id: pms_x, type: text }', /id: "pms_x" is not possible; names beginning with pms_ are reserved$/],
    ['{ id: rkwa_x, type: text }', /names beginning with rkwa_ are reserved$/],
    [
      '{ id: b, type: text, search: range }',
      /b: search: "range" is not possible for text; expected one of partial, exact, prefix, suffix, any_of, hidden$/,
    ],
    ['{ id: b, type: number, search: partial }', /for number; expected one of exact, range, hidden$/],
    ['{ id: b, type: dropdown, search: range }', /for dropdown; expected one of/],
    ['{ id: b, type: file, search: exact }', /for file; expected hidden$/],
    ['{ id: b, type: text, search: }', /search: nothing is not possible for text/],
    ['{ id: b, type: text, list: no }', /list: "no" is not possible; expected one of shown, hidden$/],
    ['{ id: b, type: text, protected: yes }', /protected: "yes" is not possible; expected true or false$/],
    ['{ id: b, type: text, shownInForm: 1 }', /shownInForm: 1 is not possible; expected true or false$/],
    ['{ id: b, type: text, required: [] }', /required: a list is not possible; expected true or false$/],
    ['{ id: b, type: text, fold: {} }', /fold: a map is not possible; expected true or false$/],
    ['{ id: b, type: text, maxLength: 0 }', /maxLength: 0 is not possible; expected a whole number of 1 or more$/],
    ['{ id: b, type: text, maxLength: 1.5 }', /maxLength: 1.5 is not possible/],
    [
      '{ id: b, type: date, maxLength: 10 }',
      /maxLength: not possible for date; expected only for id, text, text_area, /,
    ],
    [
      '{ id: b, type: text, choices: [x] }',
      /choices: not possible for text; expected only for dropdown, checkbox, radio, list$/,
    ],
    ['{ id: b, type: list, choices: x }', /choices: "x" is not possible; expected a list$/],
    [
      '{ id: b, type: list, choices: ["a,b"] }',
      /choices\[0\]: "a,b" is not possible; expected a text without a comma$/,
    ],
    ['{ id: b, type: list, choices: [a, a] }', /choices\[1\]: "a" is given twice$/],
    ['{ id: b, type: list, choices: [""] }', /choices\[0\]: "" is not possible; expected a text that is not empty$/],
    [
      '{ id: b, type: list, choices: [" a"] }',
      /choices\[0\]: " a" is not possible; expected a text without spaces around it$/,
    ],
    ['{ id: b, type: list, choices: [true] }', /choices\[0\]: true is not possible; expected a text$/],
    ['{ id: b, type: date, format: x }', /format: not possible for date; expected only for number, auto_number$/],
    [
      '{ id: b, type: number, format: "0.00" }',
      /b: format: expected a map with grouping, decimals, prefix, suffix, not "0.00"$/,
    ],
    ['{ id: b, type: number, format: { decimal: 2 } }', /b: format: decimal: unknown key; did you mean decimals\?$/],
    [
      '{ id: b, type: number, format: { decimals: 31 } }',
      /decimals: 31 is not possible; expected a whole number from 0 to 30$/,
    ],
    ['{ id: b, type: number, format: { grouping: 3 } }', /grouping: 3 is not possible; expected true or false$/],
    ['{ id: b, type: number, format: { prefix: 3 } }', /prefix: 3 is not possible; expected a text$/],
    [
      '{ id: b, type: auto_number, format: "X" }',
      /format: "X" is not possible; expected a text in quotes with one counter/,
    ],
    [
      '{ id: b, type: auto_number, format: { grouping: true } }',
      /format: a map is not possible; expected a text in quotes/,
    ],
    ['{ id: b, type: date, default: 2026-02-30 }', /default: "2026-02-30" is not possible for date \(not_a_date\)$/],
    ['{ id: b, type: number, default: abc }', /default: "abc" is not possible for number \(not_a_number\)$/],
    [
      '{ id: b, type: text, maxLength: 2, default: abc }',
      /default: "abc" is not possible for text \(text_too_long, 2 at most\)$/,
    ],
    ['{ id: b, type: text, default: true }', /default: true is not possible; expected a text or a number$/],
    ['{ id: b, type: file, default: x }', /default: not possible for file; expected only for text,/],
    ['{ id: b, type: image, default: x }', /default: not possible for image/],
    ['{ id: b, type: auto_number, default: 1 }', /default: not possible for auto_number/],
    ['{ id: b, type: text, unique: 1 }', /b: unique: 1 is not possible; expected true or false$/],
    [
      '{ id: b, type: checkbox, unique: true }',
      /unique: not possible for checkbox; expected only for text, text_area, date, .*, radio, concatenation, calculation, auto_number$/,
    ],
    ['{ id: b, type: list, unique: true }', /unique: not possible for list/],
    ['{ id: b, type: file, unique: true }', /unique: not possible for file/],
    ['{ id: b, type: image, unique: false }', /unique: not possible for image/],
    [
      '{ id: b, type: text, formula: "1" }',
      /formula: not possible for text; expected only for concatenation, calculation$/,
    ],
    ['{ id: b, type: calculation, formula: 1 }', /formula: 1 is not possible; expected a formula, as a text$/],
    [
      '{ id: b, type: calculation, formula: " " }',
      /formula: " " is not possible; expected a formula that is not empty$/,
    ],
    [
      '{ id: b, type: calculation, formula: 1 + }',
      /fields\[1\] b: formula: the formula ends; expected a value \(at character 4\)$/,
    ],
    ['{ id: b, type: calculation, formula: 1 + c }', /formula: there is no field "c" \(at character 5\)$/],
    [
      '{ id: b, type: calculation, formula: a_primarykei }',
      /there is no field "a_primarykei"; did you mean a_primarykey\? \(at character 1\)$/,
    ],
    ['{ id: b, type: calculation, formula: pms_i_ymd }', /there is no field "pms_i_ymd"/],
    ['{ id: b, type: calculation, formula: __proto__ }', /there is no field "__proto__"/],
    ['{ id: b, type: calculation, formula: b + 1 }', /b: formula: refers to itself: b → b$/],
    ['{ id: b_primarykey, type: id }', /b_primarykey: type: a second primary key; the first is a_primarykey$/],
    [
      '{ id: a_primarykey, type: text }',
      /a_primarykey: id: "a_primarykey" is taken by fields\[0\] a_primarykey; expected/,
    ],
    [
      '{ id: limit, type: file }',
      /limit: id: "limit" is not possible for file; it is the name of a request parameter$/,
    ],
    [
      '{ id: b, type: text, name: [x] }',
      /b: name: a list is not possible; expected a text that is not empty, or a map with ja, en, zh$/,
    ],
    ['{ id: b, type: text, name: { fr: x } }', /b: name: fr: unknown key; expected one of ja, en, zh$/],
    [
      '{ id: b, type: text, name: { ja: " " } }',
      /b: name: ja: " " is not possible; expected a text that is not empty$/,
    ],
    ['{ id: b, type: text, name: "\\0" }', /b: name: "\\u0000" is not possible/],
    ['b', /fields\[1\]: expected a map with id, type, .*, not "b"$/],
    ['', /fields\[1\]: expected a map with id, type, .*, not nothing$/],
  ];
  for (const [field, problem] of fields) {
    test(`the field ${field.slice(0, 70)}`, () => {
      const found = onlyProblem(withField(field));
      assert.match(found, /^app\.yaml:4: /);
      assert.match(found, problem);
    });
  }

  const apps: readonly (readonly [title: string, text: string, problem: RegExp])[] = [
    ['nothing', '', /^app\.yaml:1: expected a map with code, name,.*, not nothing$/],
    ['a list', '- a', /^app\.yaml:1: expected a map .*, not a list$/],
    ['no code', 'fields: [{ id: a_primarykey, type: id }]', /code: missing; expected letters/],
    [
      'a reserved code',
      'code: rkwa_a\nfields: [{ id: a_primarykey, type: id }]',
      /names beginning with rkwa_ are reserved$/,
    ],
    ['no fields', 'code: A', /fields: missing; expected a list of fields$/],
    ['fields that are no list', 'code: A\nfields: x', /^app\.yaml:2: fields: "x" is not possible; expected a list$/],
    [
      'no primary key',
      'code: A\nfields: [{ id: b, type: text }]',
      /^app\.yaml:2: fields: no primary key; expected one field of type id/,
    ],
    [
      'a primary key with another ending',
      'code: A\nfields: [{ id: b, type: id }]',
      /"b" is not possible for the primary key; expected it to end in _primarykey$/,
    ],
    [
      'a primary key in a table',
      withField('{ id: b, type: text }\ntables: [{ code: t, fields: [{ id: c_primarykey, type: id }] }]'),
      /^app\.yaml:5: tables\[0\] t: fields\[0\] c_primarykey: type: the primary key is a field of the form/,
    ],
    [
      'a field of a table that is to be unique',
      withField('{ id: b, type: text }\ntables: [{ code: t, fields: [{ id: c, type: text, unique: true }] }]'),
      /^app\.yaml:5: tables\[0\] t: fields\[0\] c: unique: not possible in a table; expected only in the form$/,
    ],
    [
      'a formula of the form that names one row of a table',
      withField(
        '{ id: b, type: calculation, formula: "sum(c) + round(c)" }\ntables: [{ code: t, fields: [{ id: c, type: number }] }]',
      ),
      /^app\.yaml:4: .* formula: c is a field of the table t; expected it inside sum, avg, count, min or max \(at character 16\)$/,
    ],
    [
      'a formula of a table that names another',
      withField(
        '{ id: b, type: number }\ntables:\n- { code: t, fields: [{ id: c, type: number }] }\n- { code: u, fields: [{ id: d, type: calculation, formula: b + sum(c) }] }',
      ),
      /^app\.yaml:7: .* formula: c is a field of the table t; expected fields of the same table and of the form \(at character 9\)$/,
    ],
    [
      'a formula of a file',
      withField('{ id: b, type: file }\n  - { id: c, type: calculation, formula: b }'),
      /^app\.yaml:5: .* formula: b is of type file, which no formula takes \(at character 1\)$/,
    ],
    [
      'an ID with a hyphen that stands without brackets',
      withField('{ id: b-c, type: number }\n  - { id: d, type: calculation, formula: 1 - b }'),
      /there is no field "b"; did you mean \[b-c\]\? \(at character 5\)$/,
    ],
    [
      'formulas in a circle, over a table',
      withField(
        '{ id: b, type: calculation, formula: sum(d) }\n  - { id: c, type: calculation, formula: 1 + b }\ntables: [{ code: t, fields: [{ id: d, type: calculation, formula: c * 2 }] }]',
      ),
      /^app\.yaml:4: fields\[1\] b: formula: refers to itself: b → d → c → b$/,
    ],
    [
      'an unknown state',
      `state: prod\n${withField('{ id: b, type: text }')}`,
      /^app\.yaml:1: state: "prod" is not possible; expected one of production, maintenance, preparation$/,
    ],
    [
      'a reserved records key',
      `recordsKey: pms_a\n${withField('{ id: b, type: text }')}`,
      /recordsKey: "pms_a" is not possible; names beginning with pms_ are reserved$/,
    ],
    [
      'an unknown key',
      `filds: []\n${withField('{ id: b, type: text }')}`,
      /^app\.yaml:1: filds: unknown key; did you mean fields\?$/,
    ],
    [
      'a key that is no name',
      `? [a]\n: 1\n${withField('{ id: b, type: text }')}`,
      /^app\.yaml:1: a key is not possible here/,
    ],
    [
      'a table without a code',
      withField('{ id: b, type: text }\ntables: [{ fields: [{ id: c, type: text }] }]'),
      /^app\.yaml:5: tables\[0\]: code: missing/,
    ],
    [
      'a table without fields',
      withField('{ id: b, type: text }\ntables: [{ code: t }]'),
      /tables\[0\] t: fields: missing/,
    ],
    [
      'a table with an empty list of fields',
      withField('{ id: b, type: text }\ntables: [{ code: t, fields: [] }]'),
      /t: fields: empty; expected at least one field$/,
    ],
    [
      'an unknown key of a table',
      withField('{ id: b, type: text }\ntables: [{ code: t, nmae: x, fields: [{ id: c, type: text }] }]'),
      /t: nmae: unknown key; did you mean name\?$/,
    ],
    [
      'a repeated table code',
      withField(
        '{ id: b, type: text }\ntables:\n- { code: t, fields: [{ id: c, type: text }] }\n- { code: t, fields: [{ id: d, type: text }] }',
      ),
      /^app\.yaml:7: tables\[1\] t: code: "t" is taken by tables\[0\] t;/,
    ],
    [
      'a table code that is a field ID',
      withField('{ id: b, type: text }\ntables: [{ code: b, fields: [{ id: c, type: text }] }]'),
      /tables\[0\] b: code: "b" is taken by fields\[1\] b;/,
    ],
    [
      'a field ID of the form in a table',
      withField('{ id: b, type: text }\ntables: [{ code: t, fields: [{ id: b, type: text }] }]'),
      /tables\[0\] t: fields\[0\] b: id: "b" is taken by fields\[1\] b;/,
    ],
    [
      'a field ID in two tables',
      withField(
        '{ id: b, type: text }\ntables: [{ code: t, fields: [{ id: c, type: text }] }, { code: u, fields: [{ id: c, type: text }] }]',
      ),
      /tables\[1\] u: fields\[0\] c: id: "c" is taken by tables\[0\] t: fields\[0\] c;/,
    ],
    [
      'a reserved table code',
      withField('{ id: b, type: text }\ntables: [{ code: pms_t, fields: [{ id: c, type: text }] }]'),
      /code: "pms_t" is not possible; names beginning with pms_/,
    ],
    [
      'a file that is named like a file of a row',
      withField('{ id: c_5, type: file }\ntables: [{ code: t, fields: [{ id: c, type: image }] }]'),
      /^app\.yaml:4: fields\[1\] c_5: id: "c_5" is not possible; it would name the file of a row of the table field c$/,
    ],
    [
      'an unknown system field',
      `system: { pms_x: {} }\n${withField('{ id: b, type: text }')}`,
      /system: pms_x: unknown key; expected one of pms_i_usr/,
    ],
    [
      'another setting of a system field',
      `system: { pms_i_ymd: { list: hidden } }\n${withField('{ id: b, type: text }')}`,
      /system: pms_i_ymd: list: unknown key/,
    ],
    [
      'a search that a system field cannot have',
      `system: { pms_i_usr: { search: range } }\n${withField('{ id: b, type: text }')}`,
      /system: pms_i_usr: search: "range" is not possible for pms_i_usr; expected one of exact, any_of, hidden$/,
    ],
    [
      'too many fields',
      `code: A\nfields:\n- { id: a_primarykey, type: id }\n${Array.from({ length: 900 }, (_, i) => `- { id: f${i}, type: text }\n`).join('')}`,
      /^app\.yaml:2: fields: 901 are given; expected 900 at most$/,
    ],
    [
      'too many tables',
      `${withField('{ id: b, type: text }')}tables:\n${Array.from({ length: 101 }, (_, i) => `- { code: t${i}, fields: [{ id: f${i}, type: text }] }\n`).join('')}`,
      /^app\.yaml:5: tables: 101 are given; expected 100 at most$/,
    ],
  ];
  for (const [title, text, problem] of apps) {
    test(title, () => assert.match(onlyProblem(text), problem));
  }

  test('D19: a field ID or table code that is the upper bound of a range', () => {
    const message = /search: "range" needs the name b_to for its upper bound, which is taken by /;
    assert.match(onlyProblem(withField('{ id: b, type: date, search: range }\n  - { id: b_to, type: text }')), message);
    const table = (code: string, id: string): string =>
      `\ntables: [{ code: ${code}, fields: [{ id: ${id}, type: number, search: range }] }]`;
    assert.match(onlyProblem(withField(`{ id: b, type: date, search: range }${table('b_to', 'c')}`)), message);
    assert.match(onlyProblem(withField(`{ id: b_to, type: text }${table('t', 'b')}`)), message);
    assert.deepEqual(problemsOf(withField('{ id: b, type: date, search: exact }\n  - { id: b_to, type: text }')), []);
  });

  test('all problems at once, in the order of their lines', () => {
    const text = EXAMPLE.replace('state: production ', 'state: produktion ')
      .replace('search: prefix', 'search: range_')
      .replace('maxLength: 200', 'maxLength: -1')
      .replace('type: date', 'type: data')
      .replace('id: line_qty', 'id: ord_note');
    const lines = problemsOf(text).map((problem) => /^app\.yaml:(\d+): /.exec(problem)?.[1]);
    assert.deepEqual(lines, ['4', '9', '10', '14', '20']);
  });

  test('a problem inside a block is reported in its own line', () => {
    const field = '\n    id: b\n    type: list\n    choices:\n      - a\n      - b\n      - a\n    format:\n      x\n';
    const lines = problemsOf(withField(field)).map((problem) => problem.split(' ')[0]);
    assert.deepEqual(lines, ['app.yaml:10:', 'app.yaml:11:']);
    const json =
      '{\n "code": "A",\n "fields": [\n  {\n   "id": "a_primarykey",\n   "type": "id",\n   "list": "no"\n  }\n ]\n}';
    assert.match(onlyProblem(json), /^app\.yaml:7: fields\[0\] a_primarykey: list: "no"/);
  });
});

describe('what the notation must not have', () => {
  const cases: readonly (readonly [title: string, text: string, problem: RegExp])[] = [
    ['an error of syntax', 'code: A\nfields: [', /^app\.yaml:2: /],
    ['a quote that is not closed', 'code: "A\n', /^app\.yaml:\d: Missing closing "quote/],
    ['tabs as indentation', 'code: A\nfields:\n\t- x', /^app\.yaml:3: /],
    [
      'a repeated key',
      `code: B\n${withField('{ id: b, type: text }')}`,
      /^app\.yaml:2: the key "code" is given twice; the first is in line 1$/,
    ],
    [
      'a repeated key in JSON',
      '{"code": "A",\n"fields": [{"id": "a_primarykey", "type": "id"}],\n"code": "A"}',
      /^app\.yaml:3: the key "code" is given twice/,
    ],
    ['an anchor', withField('{ id: b, type: &x text }'), /^app\.yaml:4: the anchor &x is not supported/],
    ['an alias', withField('{ id: b, type: text, name: *x }'), /^app\.yaml:4: the alias \*x is not supported/],
    ['a tag', withField('{ id: b, type: !!str text }'), /^app\.yaml:4: the tag .*str is not supported/],
    ['a tag of its own', withField('{ id: b, type: !foo text }'), /^app\.yaml:4: the tag !foo is not supported/],
    [
      'a merge',
      withField('{ id: b, type: text, <<: { search: exact } }'),
      /^app\.yaml:4: fields\[1\] b: "<<": unknown key/,
    ],
    [
      'a second document',
      `${withField('{ id: b, type: text }')}---\ncode: B\n`,
      /^app\.yaml:5: a second document begins here/,
    ],
    [
      'an older YAML',
      `%YAML 1.1\n---\n${withField('{ id: b, type: text }')}`,
      /^app\.yaml:1: %YAML 1.1 is not supported/,
    ],
    [
      'too much text',
      ' '.repeat(2_000_001),
      /^app\.yaml:1: the file is too large; expected 2000000 characters at most$/,
    ],
  ];
  for (const [title, text, problem] of cases) {
    test(title, () => assert.match(problemsOf(text)[0] ?? 'no problem', problem));
  }

  test('aliases that multiply and nesting that does not end are refused without delay', () => {
    const laughs = Array.from({ length: 40 }, (_, i) => `k${i + 1}: &k${i + 1} [*k${i}, *k${i}, *k${i}]`).join('\n');
    const started = performance.now();
    for (const text of [`k0: &k0 [x, x]\n${laughs}`, '['.repeat(50_000), '{"a":'.repeat(50_000), '- '.repeat(50_000)]) {
      const problems = problemsOf(text);
      assert.ok(problems.length > 0 && problems.length <= 201);
    }
    assert.ok(performance.now() - started < 10_000);
  });
});

test('very many formulas, and names of fields in them that the app does not have, are read in time', () => {
  const started = performance.now();
  const field = (id: number, formula: string) => `{ id: f${id}, type: calculation, formula: ${formula} }`;
  const table = (index: number, formula: (id: number) => string) =>
    `- { code: t${index}, fields: [${Array.from({ length: 400 }, (_, at) => field(index * 400 + at, formula(index * 400 + at))).join(', ')}] }\n`;
  const tables = (formula: (id: number) => string) =>
    withField(
      `{ id: b, type: number }\ntables:\n${Array.from({ length: 10 }, (_, at) => table(at, formula)).join('')}`,
    );
  appOf(tables((id) => (id % 400 === 0 ? 'b' : `f${id - 1} + 1`)));
  assert.equal(problemsOf(tables((id) => `g${id} + h${id}`)).length, 201);
  // A circle in every table.
  assert.equal(problemsOf(tables((id) => `f${id % 400 === 399 ? id - 399 : id + 1}`)).length, 10);
  assert.ok(performance.now() - started < 10_000);
});

describe('the schema', () => {
  const schema: unknown = JSON.parse(readFileSync(new URL('../schema/app.schema.json', import.meta.url), 'utf8'));
  const check = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(schema as object);

  const key = { id: 'a_primarykey', type: 'id' };
  const app = (members: object): object => ({ code: 'A', fields: [key], ...members });
  const field = (members: object): object => app({ fields: [key, { id: 'b', type: 'text', ...members }] });
  const table = (members: object): object =>
    app({ tables: [{ code: 't', fields: [{ id: 'c', type: 'text' }], ...members }] });

  const cases: readonly object[] = [
    {},
    [],
    app({}),
    app({ code: 'rkwa_x' }),
    app({ code: 'pms_x' }),
    app({ code: 'pms_x', recordsKey: 'x' }),
    app({ code: '' }),
    app({ code: 'a b' }),
    app({ code: 'x'.repeat(64) }),
    app({ code: 'x'.repeat(65) }),
    app({ code: 1 }),
    app({ recordsKey: 'r' }),
    app({ recordsKey: 'rkwa_r' }),
    app({ name: 'x' }),
    app({ name: '' }),
    app({ name: { en: 'x' } }),
    app({ name: { fr: 'x' } }),
    app({ name: {} }),
    app({ name: null }),
    app({ state: 'maintenance' }),
    app({ state: 'off' }),
    app({ fold: true }),
    app({ fold: 1 }),
    app({ everyone: 'no' }),
    app({ x: 1 }),
    app({ fields: [] }),
    app({ fields: {} }),
    app({ fields: [key, { id: 'b_primarykey', type: 'id' }] }),
    app({ fields: [{ id: 'b', type: 'id' }] }),
    app({ system: { pms_u_ymd: { search: 'range' } } }),
    app({ system: { pms_u_usr: { search: 'range' } } }),
    app({ system: { pms_i_usr: { search: 'any_of' }, pms_u_usr: {} } }),
    app({ system: { x: {} } }),
    app({ system: { pms_u_ymd: { list: 'hidden' } } }),
    app({ tables: [] }),
    app({ tables: {} }),
    table({}),
    table({ code: 'pms_t' }),
    table({ fields: [] }),
    table({ name: '表' }),
    table({ x: 1 }),
    table({ fields: [{ id: 'c_primarykey', type: 'id' }] }),
    table({ fields: [{ id: 'c', type: 'number', search: 'range' }] }),
    table({ fields: [{ id: 'c', type: 'text', search: 'range' }] }),
    field({ x: 1 }),
    field({ id: 'pms_x' }),
    field({ id: undefined }),
    field({ type: 'x' }),
    field({ type: undefined }),
    field({ list: 'hidden' }),
    field({ list: true }),
    field({ protected: true }),
    field({ shownInForm: false, required: true }),
    field({ required: null }),
    field({ fold: true }),
    field({ name: ['x'] }),
    field({ maxLength: 1 }),
    field({ maxLength: 0 }),
    field({ maxLength: '1' }),
    field({ type: 'list', maxLength: 5 }),
    field({ choices: ['x'] }),
    field({ type: 'checkbox', choices: ['x', 1, 'あ い'] }),
    field({ type: 'radio', choices: ['x', 'x'] }),
    field({ type: 'radio', choices: ['x,y'] }),
    field({ type: 'radio', choices: [''] }),
    field({ type: 'radio', choices: [' x'] }),
    field({ type: 'radio', choices: ['x\u3000'] }),
    field({ type: 'list', choices: [] }),
    field({ type: 'list', choices: [true] }),
    field({ format: 'x' }),
    field({ type: 'number', format: {} }),
    field({ type: 'number', format: 'x' }),
    field({ type: 'number', format: { decimals: null } }),
    field({ type: 'number', format: { decimals: 30, grouping: true, prefix: '', suffix: '円' } }),
    field({ type: 'number', format: { decimals: 31 } }),
    field({ type: 'number', format: { x: 1 } }),
    field({ type: 'auto_number', format: '' }),
    field({ type: 'auto_number', format: '{0}' }),
    field({ type: 'auto_number', format: 'A-{YYYY}{MM}{DD}-{000}x' }),
    field({ type: 'auto_number', format: '{YYYY}' }),
    field({ type: 'auto_number', format: '{0}{0}' }),
    field({ type: 'auto_number', format: '{0}{' }),
    field({ type: 'auto_number', format: {} }),
    field({ default: 'x' }),
    field({ default: 1 }),
    field({ default: true }),
    field({ type: 'number', default: '1,000.5' }),
    field({ type: 'number', default: -1.5 }),
    field({ type: 'number', default: '1e5' }),
    field({ type: 'number', default: '' }),
    field({ type: 'date', default: '2026-01-05' }),
    field({ type: 'date', default: '2026/01/05' }),
    field({ type: 'date', default: '2026-1-5' }),
    field({ type: 'date', default: 2026 }),
    field({ type: 'datetime', default: '2026-01-05 10:00' }),
    field({ type: 'datetime', default: '2026-01-05' }),
    field({ type: 'time', default: '24:00' }),
    field({ type: 'time', default: '23:59' }),
    field({ type: 'file', default: 'x' }),
    field({ type: 'auto_number', default: '1' }),
    field({ unique: true }),
    field({ unique: 'yes' }),
    field({ type: 'number', unique: true }),
    field({ type: 'dropdown', unique: true }),
    field({ type: 'auto_number', unique: true }),
    field({ type: 'checkbox', unique: true }),
    field({ type: 'list', unique: true }),
    field({ type: 'image', unique: true }),
    app({ fields: [{ ...key, unique: true }] }),
    table({ fields: [{ id: 'c', type: 'text', unique: true }] }),
    table({ fields: [{ id: 'c', type: 'text', unique: false }] }),
    field({ formula: '1' }),
    field({ type: 'number', formula: '1' }),
    field({ type: 'calculation', formula: '1' }),
    field({ type: 'concatenation', formula: 'a_primarykey & "x"' }),
    field({ type: 'calculation', formula: 1 }),
    field({ type: 'calculation', formula: '' }),
    field({ type: 'calculation', formula: ' ' }),
    field({ type: 'calculation', formula: `1${' '.repeat(1_999)}` }),
    field({ type: 'calculation', formula: `1${' '.repeat(2_000)}` }),
    table({ fields: [{ id: 'c', type: 'calculation', formula: '1' }] }),
    field({ type: 'file', id: 'mode' }),
    field({ type: 'text', id: 'mode' }),
    app({ fields: [{ ...key, default: 'x' }] }),
    app({ fields: [{ ...key, search: 'prefix', maxLength: 20 }] }),
    app({ fields: [{ ...key, search: 'range' }] }),
    ...FIELD_TYPES.filter((type) => type !== 'id').flatMap((type) =>
      ['partial', 'exact', 'prefix', 'suffix', 'any_of', 'range', 'hidden', 'none'].map((search) =>
        field({ type, search }),
      ),
    ),
  ];

  test('accepts and refuses what define does', () => {
    let accepted = 0;
    for (const definition of cases) {
      const plain: unknown = JSON.parse(JSON.stringify(definition));
      const defined = define(treeOf(plain));
      const byDefine = 'app' in defined;
      const problems = byDefine ? 'accepted' : defined.problems.map((problem) => problem.message).join('; ');
      assert.equal(
        check(plain),
        byDefine,
        `${JSON.stringify(plain)}: ${problems}; schema: ${JSON.stringify(check.errors)}`,
      );
      if (byDefine) accepted++;
    }
    assert.ok(accepted > 60 && cases.length - accepted > 60, `${accepted} of ${cases.length}`);
  });

  test('leaves to define what no schema can say', () => {
    const clashes = [
      app({ fields: [key, { id: 'b', type: 'date', search: 'range' }, { id: 'b_to', type: 'text' }] }),
      app({ fields: [key, { id: 'b', type: 'text' }, { id: 'b', type: 'number' }] }),
      field({ type: 'date', default: '2026-02-30' }),
      field({ maxLength: 1, default: 'xx' }),
      field({ type: 'calculation', formula: '1 +' }),
      field({ type: 'calculation', formula: 'b' }),
    ];
    for (const definition of clashes) {
      assert.equal(check(definition), true);
      assert.ok('problems' in define(treeOf(definition)));
    }
  });

  test('describes every key', () => {
    const undescribed: string[] = [];
    const visit = (node: SchemaNode, path: string): void => {
      for (const [name, property] of Object.entries(node.properties ?? {})) {
        if (!('$ref' in property) && !('description' in property)) undescribed.push(`${path}.${name}`);
        visit(property, `${path}.${name}`);
      }
    };
    const { $defs = {}, ...top } = schema as SchemaNode;
    visit(top, '');
    for (const name of ['table', 'field', 'numberFormat']) visit($defs[name] ?? {}, name);
    assert.deepEqual(undescribed, []);
  });

  test('has every key that the reference has, and the reference every field type', () => {
    const reference = readFileSync(new URL('../docs/reference/definition.md', import.meta.url), 'utf8');
    const documented = new Set([...reference.matchAll(/^\| `([^`]+)` \|/gm)].map((row) => row[1]));
    const { $defs = {}, properties = {} } = schema as SchemaNode;
    const keys = [
      properties,
      ...['table', 'field', 'numberFormat'].map((name) => $defs[name]?.properties ?? {}),
    ].flatMap((members) => Object.keys(members));
    assert.deepEqual([...documented].toSorted(), [...new Set([...keys, ...FIELD_TYPES, ...SYSTEM_FIELDS])].toSorted());
  });
});

interface SchemaNode {
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly $defs?: { readonly [name: string]: SchemaNode };
}

test('every field of an app has every setting', () => {
  const settings = Object.keys(plainField('x', 'text')).toSorted();
  for (const field of [...EXPECTED.fields, ...appOf(EXAMPLE).fields] satisfies Field[]) {
    assert.deepEqual(Object.keys(field).toSorted(), settings);
  }
});
