// Decisions about definitions, which no chapter of the specification shows: D19, P05, and names that languages treat specially.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readDefinition } from '../../src/operations/read-definition.ts';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const KEY = '- { id: a_primarykey, type: id }';
/** Problems of a definition with these fields and tables; none where it is right. */
function problemsOf(fields: readonly string[], tables: readonly string[] = []): readonly string[] {
  const lines = ['code: A', 'fields:', KEY, ...fields, ...(tables.length > 0 ? ['tables:', ...tables] : [])];
  const read = readDefinition('a.yaml', lines.map((line) => (line.startsWith('-') ? `  ${line}` : line)).join('\n'));
  return 'problems' in read ? read.problems : [];
}

const ROWS = '- { code: rows, fields: [{ id: due, type: date, search: range }] }';
const DEFINITIONS = [
  [
    'D19: a field that is the upper bound of a range',
    ['- { id: due, type: date, search: range }', '- { id: due_to, type: text }'],
    [],
    'due_to',
  ],
  [
    'D19: a field of the form that is the upper bound of a range of a table',
    ['- { id: due_to, type: text }'],
    [ROWS],
    'due_to',
  ],
  [
    'D19: a table code that is the upper bound of a range',
    ['- { id: due, type: date, search: range }'],
    ['- { code: due_to, fields: [{ id: x, type: text }] }'],
    'due_to',
  ],
  [
    'D19: the same name where the search is exact',
    ['- { id: due, type: date, search: exact }', '- { id: due_to, type: text }'],
    [],
    null,
  ],
  ['P05: a field ID twice in the form', ['- { id: x, type: text }', '- { id: x, type: number }'], [], 'x'],
  ['P05: a field ID in the form and in a table', ['- { id: due, type: text }'], [ROWS], 'due'],
  ['P05: a field ID in two tables', [], [ROWS, '- { code: more, fields: [{ id: due, type: text }] }'], 'due'],
  ['P05: a field ID that is a table code', ['- { id: rows, type: text }'], [ROWS], 'rows'],
  ['P05: IDs that begin with pms_', ['- { id: pms_revision, type: text }'], [], 'pms_'],
  ['P05: IDs that begin with rkwa_', ['- { id: rkwa_status, type: text }'], [], 'rkwa_'],
  ['P05: table codes that begin with rkwa_', [], ['- { code: rkwa_next, fields: [{ id: x, type: text }] }'], 'rkwa_'],
  ['P05: IDs that differ in case only are two', ['- { id: x, type: text }', '- { id: X, type: text }'], [], null],
] as const;

for (const [title, fields, tables, named] of DEFINITIONS) {
  test(title, () => {
    const problems = problemsOf(fields, tables);
    assert.equal(problems.length > 0, named !== null, problems.join('\n'));
    if (named !== null)
      assert.ok(
        problems.every((line) => line.includes(named) && /^a\.yaml:\d+: /.test(line)),
        problems.join('\n'),
      );
  });
}

let opened: Opened;
const LONG = 'x'.repeat(64);
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'select',
  'rowid',
  'order',
  'X',
  'x',
  '0',
  '-',
  LONG,
  `${LONG.slice(1)}X`,
];
before(async () => {
  const fields = [...NAMES.map((id) => `  - { id: "${id}", type: text, search: exact }`)];
  const tables = `tables:\n  - { code: "valueOf", fields: [{ id: "length", type: number, search: range }] }`;
  const record = Object.fromEntries(NAMES.map((id) => [id, `値 ${id}`]));
  opened = await openApp(
    `code: "constructor"\nfields:\n  - { id: n_primarykey, type: id }\n${fields.join('\n')}\n${tables}`,
    [{ ...record, n_primarykey: '1', valueOf: [{ length: '5' }] } as never, { n_primarykey: '2' }],
  );
});
after(() => opened.running.close());

for (const id of NAMES) {
  const title = 'P05: every identifier is a field ID';
  test(`${title}, ${id}`, async () => {
    assert.equal(await opened.find({ [id]: `値 ${id}` }), '1');
    const values = Object.fromEntries(NAMES.map((name) => [name, name === id ? '新' : `値 ${name}`]));
    const { json, status } = await opened.update(entries({ ...values, n_primarykey: '1' }));
    assert.equal(status, 200);
    for (const name of NAMES)
      assert.equal(Object.getOwnPropertyDescriptor(json, name)?.value.value, values[name], name);
    assert.equal(await opened.find({ [id]: '新' }), '1');
    await opened.update(entries({ ...values, [id]: `値 ${id}`, n_primarykey: '1' }));
  });
}

test('P05: every identifier is an app code, a table code and a field ID of a table', async () => {
  const { json } = await opened.search({ valueOf: { length: '4', length_to: '6' } }, { tablecode: 'valueOf' });
  assert.equal(json.valueOf[0].valueOf[0].length.value, '5');
  assert.equal(refusal(await opened.search({ length: '4' })).code, 'unknown_field');
  assert.equal((await opened.search({})).json.constructor.length, 2);
});
