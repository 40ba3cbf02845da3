// Proves, before a row is measured, that the server's answers are right.
import assert from 'node:assert/strict';
import { type Answer, call, form, SEARCH_PATH, UPDATE_PATH } from './daicho.ts';
import { formValues } from './records.ts';
import { APP_CODE, FORM_FIELDS } from './register.ts';
import type { Search, SearchRow } from './searches.ts';
import { type Update, updateParam } from './updates.ts';

const CHECKED_PER_ROW = 40;

type Entries = Readonly<Record<string, { readonly value: string }>>;

/** A search as form parameters. */
export function searchParameters(row: SearchRow, search: Search): Record<string, string> {
  const param = JSON.stringify(search.param);
  return row.limit === null ? { param } : { param, limit: String(row.limit) };
}

function found(answer: Answer): number[] {
  return ((answer[APP_CODE] ?? []) as Entries[]).map((record) => Number(record.bench_primarykey?.value));
}

/** Compares the answers to some of a row's searches with the records that they must find, in order. */
export async function verifySearches(port: number, key: string, row: SearchRow): Promise<void> {
  const step = Math.ceil(row.searches.length / CHECKED_PER_ROW);
  for (let i = 0; i < row.searches.length; i += step) {
    const search = row.searches[i] as Search;
    const what = `${row.name}: ${JSON.stringify(search.param)}`;
    const answer = await call(port, SEARCH_PATH, form(key, searchParameters(row, search)));
    assert.deepEqual(found(answer), search.finds.slice(0, row.limit ?? undefined), what);
    assert.equal(answer.rkwa_errorcount, search.finds.length === 0 ? 1 : 0, what);
    if (row.limit !== null && i === 0) {
      // Once without the limit, for the number of all.
      const all = await call(port, SEARCH_PATH, form(key, { param: JSON.stringify(search.param) }));
      assert.deepEqual(found(all), search.finds, what);
    }
  }
}

/** Makes one update and reads it back: the sent values are stored, the protected one is as it was. */
export async function verifyUpdate(port: number, key: string, seed: number, update: Update): Promise<void> {
  const margin = formValues(seed, update.n)[FORM_FIELDS.indexOf('bench_margin')];
  const expected = { ...update.values, bench_margin: margin };
  const values = (record: Entries) => Object.fromEntries(FORM_FIELDS.map((id) => [id, record[id]?.value]));
  const sent = updateParam({ ...update, values: { ...update.values, bench_margin: '1' } });
  const answer = await call(port, UPDATE_PATH, form(key, { param: sent }));
  assert.deepEqual(values(answer as unknown as Entries), expected);
  const param = JSON.stringify({ bench_no: update.values.bench_no });
  const stored = (await call(port, SEARCH_PATH, form(key, { param })))[APP_CODE] as Entries[];
  assert.equal(stored.length, 1);
  assert.deepEqual(values(stored[0] as Entries), expected);
}
