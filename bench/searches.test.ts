// Proves that what the bench expects of each search is what a plain filter over its records finds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formValues, lineRows, rowCountOf } from './records.ts';
import { FORM_FIELDS, LINE_FIELDS } from './register.ts';
import { searchRows } from './searches.ts';
import { RARE_WORDS, rareWord } from './words.ts';

const SEED = 3;
const RECORDS = 12_000;
const CHECKED_PER_ROW = 60;

type Values = Record<string, string>;
const named = (ids: readonly string[], values: readonly string[]): Values =>
  Object.fromEntries(ids.map((id, i) => [id, values[i] as string]));
const records = Array.from({ length: RECORDS }, (_, i) => ({
  n: i + 1,
  form: named(FORM_FIELDS, formValues(SEED, i + 1)),
  rows: lineRows(SEED, i + 1).map((row) => named(LINE_FIELDS, row)),
}));

function meets(id: string, keyword: string, form: Values): boolean {
  if (id.endsWith('_to')) {
    const value = form[id.slice(0, -3)] as string;
    return id === 'bench_amount_to' ? Number(value) <= Number(keyword) : value <= keyword;
  }
  const value = form[id] as string;
  if (id === 'bench_amount') return Number(value) >= Number(keyword);
  if (id === 'bench_order') return value >= keyword;
  if (id === 'bench_company') return value.includes(keyword);
  if (id === 'bench_remarks') return keyword.split(',').some((word) => value.includes(word));
  if (id === 'bench_status') return keyword.split(',').includes(value);
  return value === keyword;
}

for (const row of searchRows(SEED, RECORDS)) {
  test(`the searches of "${row.name}" find what they say`, () => {
    assert.ok(row.searches.length >= 50, `${row.searches.length} searches`);
    const step = Math.ceil(row.searches.length / CHECKED_PER_ROW);
    for (let i = 0; i < row.searches.length; i += step) {
      const search = row.searches[i];
      assert.ok(search);
      const { bench_lines: onRows, ...onForm } = search.param as Values & { bench_lines?: Values };
      const finds = records
        .filter(({ form }) => Object.entries(onForm).every(([id, keyword]) => meets(id, keyword, form)))
        .filter(({ rows }) => onRows === undefined || rows.some((line) => line.line_product === onRows.line_product))
        .map(({ n }) => n);
      assert.deepEqual(search.finds, finds, JSON.stringify(search.param));
    }
  });
}

test('the rare words are all different', () => {
  assert.equal(new Set(Array.from({ length: RARE_WORDS }, (_, i) => rareWord(i)[0])).size, RARE_WORDS);
  assert.equal(RARE_WORDS, 128 ** 2);
});

test('a record is the same in every register, and tables have about 1.5 rows', () => {
  assert.deepEqual(formValues(SEED, 777), formValues(SEED, 777));
  assert.notDeepEqual(formValues(SEED, 777), formValues(SEED + 1, 777));
  const rows = records.reduce((sum, { n }) => sum + rowCountOf(SEED, n), 0) / RECORDS;
  assert.ok(rows > 1.4 && rows < 1.6, String(rows));
});

test('order numbers are unique and no value is missing or malformed', () => {
  assert.equal(new Set(records.map(({ form }) => form.bench_no)).size, RECORDS);
  for (const { form } of records) {
    for (const id of FORM_FIELDS) assert.ok(id === 'bench_remarks' || form[id], `${id} of ${form.bench_primarykey}`);
    assert.match(form.bench_postal as string, /^\d{3}-\d{4}$/);
    assert.match(form.bench_tel as string, /^0\d{1,4}-\d{1,4}-\d{4}$/);
    assert.doesNotMatch(JSON.stringify(form), /undefined|NaN/);
  }
});
