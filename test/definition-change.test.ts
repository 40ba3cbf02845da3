// What applying a changed definition does: steps, losses, conversions, and whether the records are rebuilt.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { App } from '../src/app/app.ts';
import { compareApps } from '../src/app/definition-change.ts';
import { readDefinition } from '../src/operations/read-definition.ts';

const BASE = `code: A
fields:
  - { id: a_primarykey, type: id }
  - { id: b, type: text, search: partial }
  - { id: c, type: number, format: { decimals: 1 } }
  - { id: d, type: dropdown, choices: [x] }
  - { id: n, type: auto_number, format: "{000}" }
  - { id: m, type: calculation, formula: c + 1 }
tables:
  - { code: t, fields: [{ id: e, type: text }, { id: f, type: number }] }
  - { code: u, fields: [{ id: g, type: text }] }
`;

function appOf(text: string): App {
  const read = readDefinition('app.yaml', text);
  if ('problems' in read) assert.fail(read.problems.join('\n'));
  return read.app;
}

function change(...replacements: readonly (readonly [string, string])[]): ReturnType<typeof compareApps> {
  let text = BASE;
  for (const [from, to] of replacements) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  return compareApps(appOf(BASE), appOf(text));
}

const REBUILD = 'rebuild the answers and indexes of all records';

test('the same definition changes nothing, however it is written', () => {
  assert.deepEqual(change(), { steps: [], losses: [], conversions: [], rebuild: false });
  const json = compareApps(
    appOf('code: A\nname: {ja: x, en: y}\nfields: [{id: a_primarykey, type: id}]'),
    appOf('{"name":{"en":"y","ja":"x"},"fields":[{"type":"id","id":"a_primarykey"}],"code":"A"}'),
  );
  assert.deepEqual(json.steps, []);
});

describe('settings that records do not depend on', () => {
  const cases: readonly (readonly [from: string, to: string, step: string])[] = [
    ['code: A', 'code: A\nname: x', 'change name of app from {} to {"ja":"x"}'],
    ['code: A', 'code: A\nstate: maintenance', 'change state of app from "production" to "maintenance"'],
    ['code: A', 'code: A\neveryone: true', 'change everyone of app from false to true'],
    ['code: A', 'code: A\nrecordsKey: r', 'change recordsKey of app from "A" to "r"'],
    ['type: text,', 'type: text, name: x,', 'change name of field b from {} to {"ja":"x"}'],
    ['type: text,', 'type: text, required: true,', 'change required of field b from false to true'],
    ['type: text,', 'type: text, default: x,', 'change default of field b from "" to "x"'],
    ['type: text,', 'type: text, maxLength: 9,', 'change maxLength of field b from null to 9'],
    ['type: text,', 'type: text, protected: true,', 'change protected of field b from false to true'],
    ['type: text,', 'type: text, shownInForm: false,', 'change shownInForm of field b from true to false'],
    ['c + 1', 'c + 2', 'change formula of field m from "c + 1" to "c + 2"'],
    [', formula: c + 1', '', 'change formula of field m from "c + 1" to ""'],
    ['[x]', '[x, y]', 'change choices of field d from ["x"] to ["x","y"]'],
    ['{000}', '{00}', 'change format of field n from "{000}" to "{00}"'],
    ['code: t,', 'code: t, name: x,', 'change name of table t from {} to {"ja":"x"}'],
  ];
  for (const [from, to, step] of cases) {
    test(step, () =>
      assert.deepEqual(change([from, to]), { steps: [step], losses: [], conversions: [], rebuild: false }),
    );
  }
});

describe('settings that records depend on', () => {
  const cases: readonly (readonly [from: string, to: string, step: string])[] = [
    ['search: partial', 'search: exact', 'change search of field b from "partial" to "exact"'],
    ['type: text,', 'type: text, list: hidden,', 'change list of field b from "shown" to "hidden"'],
    ['type: text,', 'type: text, unique: true,', 'change unique of field b from false to true'],
    ['type: text,', 'type: text, fold: true,', 'change fold of field b from false to true'],
    [
      'decimals: 1',
      'decimals: 2',
      'change format of field c from {"decimals":1,"grouping":false,"prefix":"","suffix":""} to {"decimals":2,"grouping":false,"prefix":"","suffix":""}',
    ],
    [
      'id: e, type: text',
      'id: e, type: text, search: suffix',
      'change search of field e of table t from "hidden" to "suffix"',
    ],
    [
      'code: A',
      'code: A\nsystem: { pms_u_ymd: { search: range } }',
      'change search of field pms_u_ymd from "hidden" to "range"',
    ],
    ['  - { id: c', '  - { id: h, type: date }\n  - { id: c', 'add field h (date)'],
    ['{ id: f', '{ id: h, type: date }, { id: f', 'add field h of table t (date)'],
    [
      'tables:',
      'tables:\n  - { code: v, fields: [{ id: h, type: text }, { id: i, type: text }] }',
      'add table v with h, i',
    ],
    ['a_primarykey', 'z_primarykey', 'rename the primary key from a_primarykey to z_primarykey'],
  ];
  for (const [from, to, step] of cases) {
    test(step, () =>
      assert.deepEqual(change([from, to]), { steps: [step, REBUILD], losses: [], conversions: [], rebuild: true }),
    );
  }

  test('another order of fields, of a table’s fields, of tables', () => {
    const fields = change([
      '- { id: b, type: text, search: partial }\n  - { id: c, type: number, format: { decimals: 1 } }',
      '- { id: c, type: number, format: { decimals: 1 } }\n  - { id: b, type: text, search: partial }',
    ]);
    assert.deepEqual(fields.steps, ['reorder the fields: a_primarykey, c, b, d, n, m', REBUILD]);
    const inTable = change([
      '[{ id: e, type: text }, { id: f, type: number }]',
      '[{ id: f, type: number }, { id: e, type: text }]',
    ]);
    assert.deepEqual(inTable.steps, ['reorder the fields of table t: f, e', REBUILD]);
    const tables = change(
      ['code: t', 'code: w'],
      ['code: u', 'code: t'],
      ['code: w', 'code: u'],
      ['[{ id: e, type: text }, { id: f, type: number }]', '[{ id: g, type: text }]'],
      [
        '[{ id: g, type: text }] }\n  - { code: t, fields: [{ id: g, type: text }]',
        '[{ id: g, type: text }] }\n  - { code: t, fields: [{ id: e, type: text }, { id: f, type: number }]',
      ],
    );
    assert.deepEqual(tables, {
      steps: ['reorder the tables: u, t', REBUILD],
      losses: [],
      conversions: [],
      rebuild: true,
    });
  });
});

test('a field that is no longer unique', () => {
  const unique = appOf(BASE.replace('type: text,', 'type: text, unique: true,'));
  assert.deepEqual(compareApps(unique, appOf(BASE)), {
    steps: ['change unique of field b from true to false', REBUILD],
    losses: [],
    conversions: [],
    rebuild: true,
  });
});

describe('losses and conversions', () => {
  test('a field removed from the form, from a table, and a table removed', () => {
    assert.deepEqual(change(['  - { id: c, type: number, format: { decimals: 1 } }\n', ''], ['c + 1', '1 + 1']), {
      steps: ['remove field c (number)', 'change formula of field m from "c + 1" to "1 + 1"', REBUILD],
      losses: ['field c (number) is removed with its values'],
      conversions: [],
      rebuild: true,
    });
    assert.deepEqual(change(['{ id: e, type: text }, ', '']).losses, [
      'field e of table t (text) is removed with its values',
    ]);
    const table = change(['  - { code: u, fields: [{ id: g, type: text }] }\n', '']);
    assert.deepEqual(table.losses, ['table u with all of its rows is removed with its values']);
  });

  test('a field whose ID changed, or that moved into a table, is removed and added', () => {
    const renamed = change(['id: b', 'id: h']);
    assert.deepEqual(renamed.steps, ['remove field b (text)', 'add field h (text)', REBUILD]);
    const moved = change(
      ['  - { id: b, type: text, search: partial }\n', ''],
      ['{ id: f', '{ id: b, type: text }, { id: f'],
    );
    assert.deepEqual(moved.losses, ['field b (text) is removed with its values']);
    assert.ok(moved.steps.includes('add field b of table t (text)'));
  });

  test('a field whose type changed is converted, and nothing is lost by that alone', () => {
    const converted = change(
      ['id: b, type: text, search: partial', 'id: b, type: number'],
      ['id: f, type: number', 'id: f, type: text'],
    );
    assert.deepEqual(converted.losses, []);
    assert.deepEqual(converted.conversions, [
      { field: 'b', from: 'text', to: 'number' },
      { field: 'f', from: 'number', to: 'text', table: 't' },
    ]);
    assert.ok(converted.steps.includes('convert the values of field b from text to number'));
    assert.ok(converted.steps.includes('convert the values of field f of table t from number to text'));
    assert.equal(converted.rebuild, true);
  });

  test('the primary key that takes the ID of another field does not take its values', () => {
    const before = appOf('code: A\nfields: [{ id: a_primarykey, type: id }, { id: z_primarykey, type: text }]');
    const after = appOf('code: A\nfields: [{ id: z_primarykey, type: id }, { id: a_primarykey, type: text }]');
    const { losses, conversions, steps } = compareApps(before, after);
    assert.deepEqual(losses, ['field z_primarykey (text) is removed with its values']);
    assert.deepEqual(conversions, []);
    assert.ok(steps.includes('rename the primary key from a_primarykey to z_primarykey'));
    assert.ok(steps.includes('add field a_primarykey (text)'));
  });

  test('IDs such as __proto__ are compared like any other', () => {
    const before = appOf('code: A\nfields: [{ id: a_primarykey, type: id }, { id: __proto__, type: text }]');
    const after = appOf('code: A\nfields: [{ id: a_primarykey, type: id }, { id: constructor, type: text }]');
    assert.deepEqual(compareApps(before, after).steps, [
      'remove field __proto__ (text)',
      'add field constructor (text)',
      REBUILD,
    ]);
  });
});
