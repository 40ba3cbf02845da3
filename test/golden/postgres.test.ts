// The SQL of every kind of search and of an update on PostgreSQL, as text files, and that an index answers it.
// UPDATE_GOLDEN=1 writes the files anew.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { layoutOf } from '../../src/sql/layout.ts';
import { type Connection, openPool, type Pool } from '../../src/store/postgres/connection.ts';
import { liveCatalog } from '../../src/store/postgres/live-catalog.ts';
import { openPostgresRegister } from '../../src/store/postgres/postgres-register.ts';
import { countRecords, makePlan, placeOf, planCursor, rawRows, readPage } from '../../src/store/postgres/searcher.ts';
import { pairsIndex } from '../../src/store/postgres/tables.ts';
import { tokenFrequencies } from '../../src/store/postgres/token-frequencies.ts';
import { openWriter } from '../../src/store/postgres/writer.ts';
import { freshDatabase } from '../harness/database.ts';
import { appOf, putRecords } from '../harness/running.ts';
import { goldenIn, type Ran } from './golden.ts';
import { DEFINITION, goldenRecords, ROWS, searchOf, UPDATED, type Uses, updateOf } from './searches.ts';

const golden = goldenIn(join(import.meta.dirname, 'postgres'), 'from|where|order by|limit|values|set|join');
const database = await freshDatabase();
const place = { url: database.url, schema: 'daicho' };
const register = await openPostgresRegister(place);
const { app, source } = appOf(DEFINITION);
await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
await putRecords(register, 'GOLDEN', goldenRecords, 'sato');
const registered = register.catalog().apps.get('GOLDEN');
assert.ok(registered);
const layout = layoutOf(registered.app, registered.id, registered.generation);
const searching = openPool(place, { max: 1, timeout: 0, forSearches: true });
const writing = openPool(place, { max: 2, timeout: 0 });
const frequencies = tokenFrequencies(searching);
await frequencies.hits(layout.form.pairs as string, []);
await frequencies.hits(layout.tables[0]?.pairs as string, []);

after(async () => {
  await searching.end({ timeout: 0 });
  await writing.end({ timeout: 0 });
  await register.close();
  await database.drop();
});

/** Notes the statements that name a table of records, or begin or end a transaction, while work is done. */
async function statementsOf(pool: Pool, work: (noting: Pool) => Promise<unknown>): Promise<readonly Ran[]> {
  const ran: Ran[] = [];
  const noting = (on: Connection): Pick<Connection, 'query'> => ({
    query(text, values, options) {
      if (/"app_\d|^(?:begin|commit|rollback)\b/.test(text)) ran.push({ text, values });
      return on.query(text, values, options);
    },
  });
  const reserve = async () => {
    const on = await pool.reserve();
    return { ...on, ...noting(on) };
  };
  await work({ ...pool, ...noting(pool), reserve });
  return ran;
}

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Step[];
}

/** The steps of the plan that serves every value. */
async function planOf(pool: Pool, text: string): Promise<readonly Step[]> {
  const [row] = await pool.query(`explain (generic_plan, format json) ${text}`, [], { prepare: false });
  const explained = row?.[0] as readonly { readonly Plan: Step }[];
  const steps: Step[] = [];
  const walk = (step: Step): void => {
    steps.push(step);
    for (const below of step.Plans ?? []) walk(below);
  };
  for (const { Plan: root } of explained) walk(root);
  return steps;
}

/** Steps that read a whole table or a whole index of records. */
function scans(plan: readonly Step[]): readonly Step[] {
  return plan.filter(
    (step) =>
      (step['Node Type'] === 'Seq Scan' && step['Relation Name']?.startsWith('app_') === true) ||
      (/Index/.test(step['Node Type']) && step['Index Cond'] === undefined),
  );
}

function usesIndex(plan: readonly Step[], type: RegExp, index: string): boolean {
  return plan.some((step) => type.test(step['Node Type']) && step['Index Name'] === index);
}

function indexOf(field: string): string {
  const columns = [layout.form, ...layout.tables].flatMap((table) => table.columns);
  const index = columns.find((column) => column.field.id === field)?.index;
  assert.ok(index, field);
  return index;
}

function assertUses(plan: readonly Step[], uses: Uses): void {
  const steps = JSON.stringify(plan.map((step) => [step['Node Type'], step['Index Name'] ?? step['Relation Name']]));
  const rows = layout.tables[0];
  const records = () => assert.ok(usesIndex(plan, /^Index (?:Only )?Scan$/, `${layout.form.name}_pkey`), steps);
  if (uses === 'pairs') {
    assert.ok(usesIndex(plan, /^Bitmap Index Scan$/, pairsIndex(layout.form.pairs as string)), steps);
    records();
  } else if (uses === 'line pairs') {
    assert.ok(usesIndex(plan, /^Bitmap Index Scan$/, pairsIndex(rows?.pairs as string)), steps);
    assert.ok(usesIndex(plan, /^Index Scan$/, `${rows?.name}_pkey`), steps);
    records();
  } else if (uses === 'primary key') records();
  else assert.ok(usesIndex(plan, /^(?:Bitmap )?Index (?:Only )?Scan$/, indexOf(uses.index)), steps);
}

describe('searches', () => {
  for (const row of ROWS) {
    test(`${row.name}: its SQL, and the index that answers it`, async () => {
      const search = searchOf(app, row);
      const ran = await statementsOf(searching, async (on) => {
        const after = search.after === null ? 0 : await placeOf(on, layout, search.after);
        assert.ok(after !== null);
        await readPage(on, await makePlan(on, frequencies, layout, search), after, search.limit ?? 200);
      });
      golden.compare(row.name, JSON.stringify(row.param), ran);
      for (const { text } of ran) assert.deepEqual(scans(await planOf(searching, text)), [], text);
      assertUses(await planOf(searching, ran.at(-1)?.text ?? ''), row.onPostgres ?? row.uses);
    });
  }

  test('all records of a search, through a cursor, and how many they are', async () => {
    const search = searchOf(app, { name: '', param: { f_number: '500' }, uses: { index: 'f_number' } });
    const ran = await statementsOf(searching, async (on) => {
      const plan = await makePlan(on, frequencies, layout, search);
      await countRecords(on, plan, 0, 1_001);
      await rawRows(on, planCursor(plan, 0, null));
    });
    golden.compare('cursor', '{"f_number":"500"}', ran);
    for (const { text } of ran) {
      const plan = await planOf(searching, text);
      assert.deepEqual(scans(plan), [], text);
      assertUses(plan, { index: 'f_number' });
    }
  });
});

describe('updates', () => {
  test('update: its SQL, and that it reads no table from end to end', async () => {
    const catalog = await liveCatalog(place, writing);
    const job = { appCode: 'GOLDEN', version: registered.version, change: updateOf(app), userId: 'sato' };
    const ran = await statementsOf(writing, async (on) => {
      const writer = openWriter(place, on, catalog, { wrote: async () => 0, committed: async () => {} });
      assert.equal((await writer.update(job)).kind, 'updated');
      await writer.close();
    });
    await catalog.close();
    golden.compare('update', JSON.stringify(UPDATED), ran);
    for (const { text } of ran.filter((statement) => /^(?:select|insert|update|delete)/.test(statement.text))) {
      assert.deepEqual(scans(await planOf(writing, text)), [], text);
    }
  });
});

test('no file is left of a search that is no more', () => golden.assertNoOther());
