// The SQL of every kind of search and of an update, as text files, and that SQLite answers it from an index.
// UPDATE_GOLDEN=1 writes the files anew.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { layoutOf } from '../../src/sql/layout.ts';
import { connect } from '../../src/store/sqlite/connection.ts';
import { searcherOn } from '../../src/store/sqlite/searcher.ts';
import { openSqliteRegister } from '../../src/store/sqlite/sqlite-register.ts';
import { writerOn } from '../../src/store/sqlite/writer.ts';
import { appOf, putRecords } from '../harness/running.ts';
import { goldenIn } from './golden.ts';
import { recorded } from './recorded.ts';
import { DEFINITION, goldenRecords, ROWS, searchOf, UPDATED, type Uses, updateOf } from './searches.ts';

const golden = goldenIn(join(import.meta.dirname, 'sqlite'), 'from|where|order by|limit|values|set|cross join');
const dataDir = mkdtempSync(join(tmpdir(), 'daicho-golden-'));
const register = openSqliteRegister({ dataDir });
const { app, source } = appOf(DEFINITION);
await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
await putRecords(register, 'GOLDEN', goldenRecords, 'sato');
const registered = register.catalog().apps.get('GOLDEN');
assert.ok(registered);
const layout = layoutOf(registered.app, registered.id, registered.generation);
const db = connect(dataDir, { readonly: true });
const log = recorded(db);

after(async () => {
  db.close();
  await register.close();
  rmSync(dataDir, { recursive: true });
});

function indexOf(field: string): string {
  const columns = [layout.form, ...layout.tables].flatMap((table) => table.columns);
  const index = columns.find((column) => column.field.id === field)?.index;
  assert.ok(index, field);
  return index;
}

/** Steps that read a whole table or a whole index of records. */
function scans(plan: readonly string[]): readonly string[] {
  return plan.filter(
    (step) =>
      /^SCAN /.test(step) &&
      !/^SCAN (?:h|r|hits|k|\(subquery-\d+\)|\d+ CONSTANT ROW.*)(?: |$)/.test(step) &&
      !/VIRTUAL TABLE INDEX \d+:(?:.*M|=)/.test(step),
  );
}

function assertUses(plan: readonly string[], uses: Uses): void {
  const steps = plan.join('\n');
  if (uses === 'primary key') assert.match(steps, /SEARCH t USING INTEGER PRIMARY KEY \(rowid>\?\)/);
  else if (uses === 'pairs')
    assert.match(steps, /SCAN p VIRTUAL TABLE INDEX \d+:.*M.*\n.*SEARCH t USING INTEGER PRIMARY KEY \(rowid=\?\)/);
  else if (uses === 'line pairs')
    assert.match(steps, /SCAN p VIRTUAL TABLE INDEX \d+:.*M.*\n.*SEARCH c USING INTEGER PRIMARY KEY \(rowid=\?\)/);
  else assert.match(steps, new RegExp(`SEARCH [tc] USING (?:COVERING )?INDEX ${indexOf(uses.index)} \\(`));
  if (uses !== 'primary key') assert.match(steps, /SEARCH t USING (?:INTEGER PRIMARY KEY|INDEX)/);
}

describe('searches', () => {
  for (const row of ROWS) {
    test(`${row.name}: its SQL, and the index that answers it`, () => {
      const searcher = searcherOn(db);
      const search = searchOf(app, row);
      log.ran.length = 0;
      const place = search.after === null ? 0 : searcher.placeOf(layout, search.after);
      assert.ok(place !== null);
      const plan = searcher.plan(layout, search);
      const page = searcher.page(plan, { after: place, limit: search.limit ?? 201 });
      const pageText = log.ran.at(-1)?.text ?? '';
      if (row.limit !== undefined && page.count > 0) {
        searcher.count(plan, { after: page.last, limit: 1 });
        searcher.primaryKeyAt(layout, page.last);
      }
      golden.compare(row.name, JSON.stringify(row.param), log.ran);
      for (const { text } of log.ran) assert.deepEqual(scans(log.plan(text)), [], text);
      assertUses(log.plan(pageText), row.uses);
    });
  }

  test('a set of records that is kept for page after page', () => {
    const searcher = searcherOn(db);
    const search = searchOf(app, { name: '', param: { f_number: '500' }, uses: { index: 'f_number' } });
    const plan = searcher.plan(layout, search);
    log.ran.length = 0;
    const kept = searcher.keep(plan);
    const page = searcher.page(kept, { after: 0, limit: 256 });
    searcher.page(kept, { after: page.last, limit: 256 });
    searcher.count(kept, { after: 0, limit: 1_001 });
    golden.compare('kept', '{"f_number":"500"}', log.ran);
    const plans = log.ran.filter(({ text }) => !text.startsWith('create')).map(({ text }) => log.plan(text));
    assert.deepEqual(plans.flatMap(scans), []);
    assert.match(plans[0]?.join('\n') ?? '', new RegExp(`SEARCH t USING (?:COVERING )?INDEX ${indexOf('f_number')} `));
  });
});

describe('updates', () => {
  test('update: its SQL, and that it reads no table from end to end', () => {
    const writable = connect(dataDir);
    const writing = recorded(writable);
    const writer = writerOn(writable);
    writing.ran.length = 0;
    const [result] = writer.run([
      { appCode: 'GOLDEN', version: registered.version, change: updateOf(app), userId: 'sato' },
    ]);
    assert.equal(result?.kind, 'updated');
    golden.compare('update', JSON.stringify(UPDATED), writing.ran);
    const statements = writing.ran.filter(({ text }) => /^(?:select|insert|update|delete)/.test(text));
    for (const { text } of statements) assert.deepEqual(scans(writing.plan(text)), [], text);
    writable.close();
  });
});

test('no file is left of a search that is no more', () => golden.assertNoOther());
