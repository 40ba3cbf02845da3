// Makes and drops the tables of a generation of an app's records.
import { keyColumn, type Layout, type TableLayout, uniqueKey } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import type { Connection } from './connection.ts';

/** Makes the tables and what must hold while records come in; the search indexes come with createIndexes. */
export function createTables(db: Connection, layout: Layout): void {
  const { form } = layout;
  db.exec(
    `create table ${quote(form.name)} (pms_seq integer primary key, pms_revision integer not null, pms_answer text not null, ${columnsOf(form)}) strict`,
  );
  db.exec(`create unique index ${quote(`${form.name}_key`)} on ${quote(form.name)} (${quote(keyColumn(layout))})`);
  for (const column of form.columns) {
    if (column.unique === null) continue;
    db.exec(
      `create unique index ${quote(column.unique)} on ${quote(form.name)} (${quote(uniqueKey(column, '').name)})`,
    );
  }
  createPairs(db, form);
  for (const rows of layout.tables) {
    db.exec(
      `create table ${quote(rows.name)} (pms_id integer primary key, pms_record integer not null, pms_row integer not null, pms_answer text not null, ${columnsOf(rows)}) strict`,
    );
    db.exec(`create unique index ${quote(`${rows.name}_rows`)} on ${quote(rows.name)} (pms_record, pms_row)`);
    createPairs(db, rows);
  }
  createHistory(db, layout.history);
}

/** Makes a table of versions, if it is not there. */
export function createHistory(db: Connection, name: string): void {
  db.exec(
    `create table if not exists ${quote(name)} (record integer not null, revision integer not null, user_id text not null, at text not null, version text not null, primary key (record, revision)) strict, without rowid`,
  );
}

function columnsOf(table: TableLayout): string {
  const names = table.columns.map(({ name }) => name);
  const forms = table.columns.flatMap(({ formName }) => (formName === null ? [] : [formName]));
  return [...names, ...forms].map((name) => `${quote(name)} text`).join(', ');
}

function createPairs(db: Connection, table: TableLayout): void {
  if (table.pairs === null) return;
  db.exec(
    `create virtual table ${quote(table.pairs)} using fts5 (tokens, content='', contentless_delete=1, detail=none, tokenize='ascii', prefix='2')`,
  );
}

/** The statements that make the B-tree indexes of the search settings. Rows of a form table carry their record along. */
export function indexStatements(layout: Layout): readonly string[] {
  return [layout.form, ...layout.tables].flatMap((table) =>
    table.columns.flatMap(({ index, name, formName }) => {
      if (index === null) return [];
      const columns = quote(formName ?? name) + (table === layout.form ? '' : ', pms_record');
      return [`create index if not exists ${quote(index)} on ${quote(table.name)} (${columns})`];
    }),
  );
}

/** Drops the tables of a generation; the history stays. */
export function dropTables(db: Connection, layout: Layout): void {
  for (const { name, pairs } of [layout.form, ...layout.tables]) {
    if (pairs !== null) db.exec(`drop table if exists ${quote(pairs)}`);
    db.exec(`drop table if exists ${quote(name)}`);
  }
}
