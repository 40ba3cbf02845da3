// Proves that everything derived agrees with the values, and the database with itself.

import { layoutOf, type TableLayout } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Derive, deriver } from '../derive.ts';
import { difference, reporter, type StoredRow } from '../derived-check.ts';
import type { CheckProblem, Progress } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { currentNames } from './build.ts';
import { catalogReader } from './catalog.ts';
import type { Connection } from './connection.ts';
import { indexStatements } from './tables.ts';

/** Rows looked at between two reports of progress. */
const STEP = 5_000;

/** Checks the apps, all of one state of the data. */
export function check(db: Connection, appCodes: readonly string[], progress: Progress): readonly CheckProblem[] {
  return db.transaction(() => {
    const problems: CheckProblem[] = [];
    for (const row of db.pragma('integrity_check') as { integrity_check: string }[]) {
      if (row.integrity_check !== 'ok')
        problems.push({ app: '', message: `the database file: ${row.integrity_check}` });
    }
    const { apps } = catalogReader(db).current();
    const checked = [...apps.values()].filter(({ app }) => appCodes.includes(app.code));
    const total = checked.reduce((sum, registered) => sum + countRows(db, registered), 0);
    let done = 0;
    for (const registered of checked) {
      done = checkApp(db, registered, problems, done, (now) => progress(now, total));
    }
    return problems;
  })();
}

function countRows(db: Connection, { app, id, generation }: RegisteredApp): number {
  const { form, tables } = layoutOf(app, id, generation);
  const counts = [form, ...tables].map(
    ({ name }) =>
      db
        .prepare(`select count(*) from ${quote(name)}`)
        .pluck()
        .get() as number,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function checkApp(
  db: Connection,
  { app, id, generation }: RegisteredApp,
  problems: CheckProblem[],
  start: number,
  step: (done: number) => void,
): number {
  const layout = layoutOf(app, id, generation);
  const context = currentNames(db);
  let done = start;
  const checkTable = (table: TableLayout, key: string, derive: Derive) => {
    const report = reporter(app.code, table.name, problems);
    const tokens = tokenSum();
    for (const row of derivedRows(db, table, key)) {
      const derived = derive(row.values, context);
      const wrong = difference(table, row, derived);
      if (wrong !== null) report(`${key} ${row.id}: ${wrong}`);
      for (const token of new Set(derived.tokens.split(' '))) if (token !== '') tokens.add(token, row.id);
      if (++done % STEP === 0) step(done);
    }
    if (table.pairs !== null && tokens.sum() !== storedTokenSum(db, table.pairs)) {
      report('the pair index does not hold what the values say; make it again with: daicho reindex');
    }
    report(null);
  };
  checkTable(layout.form, 'pms_seq', deriver(layout, null));
  layout.tables.forEach((table, index) => {
    checkTable(table, 'pms_id', deriver(layout, index));
    const stray = `select count(*) from ${quote(table.name)} where pms_record not in (select pms_seq from ${quote(layout.form.name)})`;
    const strays = db.prepare(stray).pluck().get() as number;
    if (strays > 0) problems.push({ app: app.code, message: `${table.name}: ${strays} rows belong to no record` });
  });
  const indexes = new Set(db.prepare(`select name from sqlite_schema where type = 'index'`).pluck().all() as string[]);
  const expected = [layout.form, ...layout.tables].flatMap(({ columns }) =>
    columns.flatMap(({ index }) => index ?? []),
  );
  for (const index of expected) {
    if (!indexes.has(index))
      problems.push({ app: app.code, message: `the index ${index} is missing (of ${indexStatements(layout).length})` });
  }
  step(done);
  return done;
}

function* derivedRows(db: Connection, { name, columns }: TableLayout, key: string): Generator<StoredRow> {
  const forms = columns.flatMap(({ formName }) => (formName === null ? [] : [formName]));
  const names = [key, 'pms_answer', ...columns.map((column) => column.name), ...forms].map(quote).join(', ');
  const rows = db
    .prepare(`select ${names} from ${quote(name)} order by ${key}`)
    .raw()
    .iterate() as Iterable<unknown[]>;
  for (const [id, answer, ...rest] of rows) {
    const texts = rest as (string | null)[];
    yield {
      id: id as number,
      answer: answer as string,
      values: texts.slice(0, columns.length).map((value) => value ?? ''),
      forms: texts.slice(columns.length),
    };
  }
}

/** Sums hashes of (token, row), so that two indexes can be compared whatever order they are read in. */
function tokenSum(): { add(token: string, id: number): void; sum(): string } {
  let low = 0;
  let high = 0;
  let count = 0;
  return {
    add(token, id) {
      let hash = Math.imul(id, 0x9e3779b1) >>> 0;
      for (let i = 0; i < token.length; i++) hash = Math.imul(hash ^ token.charCodeAt(i), 0x01000193) >>> 0;
      low = (low + hash) >>> 0;
      high = (high + Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)) >>> 0;
      count++;
    },
    sum: () => `${count}:${low}:${high}`,
  };
}

function storedTokenSum(db: Connection, pairs: string): string {
  const sum = tokenSum();
  db.exec(`create virtual table if not exists temp.tokens using fts5vocab ('main', ${quote(pairs)}, 'instance')`);
  try {
    const rows = db.prepare('select term, doc from temp.tokens').raw().iterate() as Iterable<[string, number]>;
    for (const [term, doc] of rows) sum.add(term, doc);
  } finally {
    db.exec('drop table temp.tokens');
  }
  return sum.sum();
}
