// Proves that everything derived agrees with the values.
import type { RenderContext } from '../../fields/field-type.ts';
import { type Layout, layoutOf, type TableLayout } from '../../sql/layout.ts';
import { tokenNumbers } from '../../sql/pairs.ts';
import { quote } from '../../sql/sql.ts';
import { type Derive, deriver } from '../derive.ts';
import { difference, reporter } from '../derived-check.ts';
import type { CheckProblem, Progress } from '../register.ts';
import type { Catalog } from '../store.ts';
import { currentNames } from './build.ts';
import { arrayText, type Connection, type Pool, rowsOf, run } from './connection.ts';
import { columnNames, indexStatements } from './tables.ts';

/** Rows read at once. */
const STEP = 1_000;

/** Checks the apps, all of one state of the data. */
export async function check(
  pool: Pool,
  catalog: Catalog,
  appCodes: readonly string[],
  progress: Progress,
): Promise<readonly CheckProblem[]> {
  return pool.begin('isolation level repeatable read read only', async (tx) => {
    const problems: CheckProblem[] = [];
    const layouts = [...catalog.apps.values()]
      .filter(({ app }) => appCodes.includes(app.code))
      .map(({ app, id, generation, distributed }) => layoutOf(app, id, generation, distributed));
    let total = 0;
    for (const { form, tables } of layouts) for (const table of [form, ...tables]) total += await countRows(tx, table);
    let done = 0;
    const step = (rows: number) => {
      done += rows;
      progress(done, total);
    };
    const context = await currentNames(tx);
    for (const layout of layouts) await checkApp(tx, layout, context, problems, step);
    return problems;
  });
}

async function countRows(tx: Connection, { name }: TableLayout): Promise<number> {
  return Number((await rowsOf<[string]>(tx, `select count(*) from ${quote(name)}`))[0]?.[0]);
}

async function checkApp(
  tx: Connection,
  layout: Layout,
  context: RenderContext,
  problems: CheckProblem[],
  step: (rows: number) => void,
): Promise<void> {
  const { code } = layout.app;
  const checkTable = async (table: TableLayout, key: string, derive: Derive) => {
    const report = reporter(code, table.name, problems);
    const { columns, pairs } = table;
    const names = columnNames(table).map((name) => `, t.${quote(name)}`);
    const tokens = pairs === null ? '' : ', p.tokens::text';
    const joined =
      pairs === null
        ? ''
        : ` left join ${quote(pairs)} p on p.pms_id = t.${key}${key === 'pms_id' ? ' and p.pms_record = t.pms_record' : ''}`;
    await run(
      tx,
      `declare checked no scroll cursor for select t.${key}, t.pms_answer${names.join('')}${tokens} from ${quote(table.name)} t${joined} order by t.${key}`,
    );
    for (let left = true; left; ) {
      const rows = await rowsOf<[string, string, ...(string | null)[]]>(tx, `fetch ${STEP} from checked`);
      for (const [id, answer, ...texts] of rows) {
        const values = texts.slice(0, columns.length).map((value) => value ?? '');
        const forms = texts.slice(columns.length, columnNames(table).length);
        const derived = derive(values, context);
        const wrong = difference(table, { id: Number(id), answer, values, forms }, derived);
        if (wrong !== null) report(`${key} ${id}: ${wrong}`);
        if (
          pairs !== null &&
          texts.at(-1) !== arrayText(tokenNumbers(derived.tokens, key === 'pms_seq' ? Number(id) : null))
        ) {
          report(`${key} ${id}: the pair index does not hold what the values say; make it again with: daicho reindex`);
        }
      }
      step(rows.length);
      left = rows.length === STEP;
    }
    await run(tx, 'close checked');
    if (pairs !== null) {
      const stray = `select count(*) from ${quote(pairs)} where pms_id not in (select ${key} from ${quote(table.name)})`;
      const [row] = await rowsOf<[string]>(tx, stray);
      if (row?.[0] !== '0') report(`${row?.[0]} entries of the pair index belong to no record`);
    }
    report(null);
  };
  await checkTable(layout.form, 'pms_seq', deriver(layout, null));
  for (const [index, table] of layout.tables.entries()) {
    await checkTable(table, 'pms_id', deriver(layout, index));
    const stray = `select count(*) from ${quote(table.name)} where pms_record not in (select pms_seq from ${quote(layout.form.name)})`;
    const [row] = await rowsOf<[string]>(tx, stray);
    if (row?.[0] !== '0') problems.push({ app: code, message: `${table.name}: ${row?.[0]} rows belong to no record` });
  }
  const valid = new Set(
    (
      await rowsOf<[string]>(
        tx,
        `select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indisvalid and c.relnamespace = current_schema()::regnamespace`,
      )
    ).map(([name]) => name),
  );
  for (const statement of indexStatements(layout)) {
    const name = /exists "([^"]+)"/.exec(statement)?.[1] as string;
    if (!valid.has(name)) problems.push({ app: code, message: `the index ${name} is missing` });
  }
}
