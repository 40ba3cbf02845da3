// Proves that every rule of the specification and every decision has a test whose title begins with it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const TESTS = import.meta.dirname;
const DOCS = join(TESTS, '../../docs');

/** Decisions about how the server is built, which HTTP does not show: where they are tested instead. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  P06: ['test/spec/7-errors-http.test.ts', 'bench'],
  P07: ['test/contract'],
  P08: ['test/golden'],
  P09: ['test/contract', 'bench'],
  P12: ['test/import.test.ts'],
  P13: ['test/property/csv.test.ts'],
  P14: ['test/workers.test.ts'],
  P15: ['test/postgres-pool.test.ts'],
  P16: ['test/golden/postgres.test.ts'],
  P17: ['test/servers.test.ts', 'test/servers-replica.test.ts'],
  P18: ['test/sweep.test.ts', 'test/contract/files.test.ts'],
  P19: ['test/images.test.ts'],
  P20: ['test/contract/files.test.ts'],
  P21: ['test/formulas.test.ts', 'test/x1/calculated.test.ts'],
  P22: ['test/export.test.ts', 'test/import-formats.test.ts'],
  P23: ['test/backup.test.ts'],
  P24: ['test/webhooks.test.ts'],
  P25: ['test/x1', 'test/on-postgres/x1.test.ts'],
};

/** How the rows of a table of the specification are named in titles, by the table's first column. */
const ROWS: Readonly<Record<string, (section: string, cell: string) => string>> = {
  Name: (section, cell) => `${section} ${cell}`,
  'Field entry type': (section, cell) => `${section} type ${cell}`,
  Member: (section, cell) => `${section} ${cell}`,
  Parameter: (section, cell) => `${section} parameter ${cell}`,
  'Field kind': (section, cell) => `${section} table ${cell.toLowerCase().replace(/ field$/, '')}`,
};

/** Every rule of the specification: numbered ones, points of lists, rows of tables, and each section that says something. */
function rulesOf(text: string): string[] {
  const rules = new Set<string>();
  let section = '';
  let points = 0;
  let column: string | null = null;
  for (const line of text.split('\n')) {
    const heading = /^#{2,3} (\d+(?:\.\d+)?)\.? /.exec(line);
    const numbered = /^(\d+)\. /.exec(line);
    const cell = /^\| *([^|]+?) *\|/.exec(line)?.[1]?.replaceAll('`', '');
    if (!line.startsWith('|')) column = null;
    if (heading !== null) {
      section = heading[1] ?? '';
      points = 0;
    } else if (section === '' || line.trim() === '') continue;
    else if (numbered !== null) rules.add(`${section} rule ${numbered[1]}`);
    else if (line.startsWith('- ')) rules.add(`${section} point ${++points}`);
    else if (cell === undefined) rules.add(section);
    else if (column === null) column = cell;
    else if (!/^-+$/.test(cell)) rules.add(ROWS[column]?.(section, cell) ?? assert.fail(`a table headed ${column}`));
  }
  return [...rules];
}

/** What begins the titles of the tests: the string literals of a test file that have a colon behind such a name. */
function titled(): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(TESTS).filter((name) => name.endsWith('.test.ts') && name !== 'coverage.test.ts')) {
    const source = readFileSync(join(TESTS, file), 'utf8').replaceAll(/^\s*(?:\/\/|\*).*$/gm, '');
    for (const match of source.matchAll(/(['"`])((?:\d|[DP]\d)[^'"`\n:]*?): /g)) names.add(match[2] ?? '');
  }
  return names;
}

const titles = titled();
const rules = rulesOf(readFileSync(join(DOCS, 'spec/web-api.md'), 'utf8'));
const decisions = readdirSync(join(DOCS, 'decisions')).flatMap((file) => {
  const [, letter, number] = /^([DP])(\d+)-.*\.md$/.exec(file) ?? [];
  if (letter === undefined) return [];
  return letter === 'D' ? [`D${Number(number)}`] : [`P${number}`];
});

test('coverage: the specification is read as it is meant', () => {
  const expected = [
    '3',
    '4',
    '4.1',
    '6',
    '8',
    '1 point 5',
    '2.1 file ID',
    '2.2 type pms_u_ymd',
    '2.3 rkwa_errmsg',
    '4.1 rule 4',
    '4.1 point 3',
  ];
  const more = [
    '4.1 parameter param',
    '4.2 parameter <file_field_id>',
    '4.2 rule 3',
    '5 rule 4',
    '7 rule 4',
    '9 rule 2',
  ];
  for (const rule of [...expected, ...more, '4.2 table data-protected', '4.2 table auto-numbering']) {
    assert.ok(rules.includes(rule), `${rule} in ${rules.join(', ')}`);
  }
  assert.equal(rules.filter((rule) => rule.startsWith('2.2 type ')).length, 10);
  assert.equal(rules.filter((rule) => rule.startsWith('4.2 table ')).length, 6);
  assert.ok(decisions.includes('D42') && decisions.includes('P12'));
});

test('coverage: every rule of the specification begins the title of a test', () => {
  assert.deepEqual(
    rules.filter((rule) => !titles.has(rule)),
    [],
  );
});

test('coverage: every decision begins the title of a test, or is tested elsewhere', () => {
  assert.deepEqual(
    decisions.filter((decision) => !titles.has(decision) && !(decision in ELSEWHERE)),
    [],
  );
});

test('coverage: every name that begins a title is a rule or a decision', () => {
  const sections = rules.map((rule) => rule.split(' ')[0]);
  const known = new Set([...rules, ...decisions, ...sections]);
  assert.deepEqual(
    [...titles].filter((title) => !known.has(title)),
    [],
  );
});

test('coverage: what is tested elsewhere is a decision, and the place exists', () => {
  for (const [decision, places] of Object.entries(ELSEWHERE)) {
    assert.ok(decisions.includes(decision), decision);
    for (const place of places) assert.ok(existsSync(join(TESTS, '../..', place)), `${decision}: ${place}`);
  }
});

test('coverage: there is a test file for every chapter', () => {
  const chapters = new Set(rules.map((rule) => /^\d+/.exec(rule)?.[0]));
  const files = readdirSync(TESTS);
  assert.deepEqual(
    [...chapters].filter((chapter) => !files.some((file) => new RegExp(`^${chapter}[-.]`).test(file))),
    [],
  );
});
