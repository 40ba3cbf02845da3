// Makes and drops the tables of a generation of an app's records.
import { WHOLE_IN_INDEX } from '../../sql/dialect.ts';
import { isLong, keyColumn, type Layout, type TableLayout, uniqueKey } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { MAY_BE_DELETION } from '../versions.ts';
import { PENDING } from './connection.ts';

/** Texts are compared by code points. */
const TEXT = 'text collate "C"';

/** How many values of the pair index's column are looked at for the tokens that most records have (token-frequencies.ts). */
const STATISTICS = 300;

/**
 * The statements that make the tables of a generation and what must hold while records come in. Whatever belongs to a record has
 * its place, and every key begins with it, so that Citus can keep all of a record in one database: there each table is
 * spread by that column.
 */
export function tableStatements(layout: Layout): readonly string[] {
  const { form, keys } = layout;
  const key = quote(keyColumn(layout));
  const keyName = quote(`${form.name}_key`);
  return [
    `create table ${quote(form.name)} (pms_seq bigint primary key, pms_revision integer not null, pms_answer text not null, ${columnsOf(form)})`,
    ...spread(layout, form.name, 'pms_seq'),
    ...(keys === null
      ? [`create unique index ${keyName} on ${quote(form.name)} ${keyIndex(key)}`]
      : [
          `create table ${quote(keys)} (key ${TEXT} primary key, pms_seq bigint not null)`,
          ...spread(layout, keys, 'key'),
          `create index ${keyName} on ${quote(form.name)} (${keyStart(key)})`,
        ]),
    ...form.columns.flatMap((column) => {
      if (column.unique === null) return [];
      const value = quote(uniqueKey(column, '').name);
      return [`create unique index ${quote(column.unique)} on ${quote(form.name)} ${keyIndex(value)}`];
    }),
    ...pairsStatements(layout, form, '', 'pms_id'),
    ...layout.tables.flatMap((rows) => [
      `create table ${quote(rows.name)} (pms_id bigint not null, pms_record bigint not null, pms_row integer not null, pms_answer text not null, ${columnsOf(rows)}, primary key (pms_record, pms_id))`,
      `create unique index ${quote(`${rows.name}_rows`)} on ${quote(rows.name)} (pms_record, pms_row)`,
      ...spread(layout, rows.name, 'pms_record'),
      ...pairsStatements(layout, rows, 'pms_record bigint not null, ', 'pms_record, pms_id'),
    ]),
  ];
}

/** The primary key of the record that went with a version. */
export const DELETED = `((version::json) ->> 'deleted')`;

/** The statements that make what outlives generations. */
export function historyStatements(layout: Layout): readonly string[] {
  return [
    `create table ${quote(layout.history)} (record bigint not null, revision integer not null, user_id text not null, at text not null, version text not null, primary key (record, revision))`,
    ...spread(layout, layout.history, 'record'),
    deletedIndex(layout.history),
  ];
}

/** By which a deleted record is found. */
export function deletedIndex(history: string): string {
  return `create index if not exists ${quote(`${history}_deleted`)} on ${quote(history)} (${DELETED}) where ${MAY_BE_DELETION}`;
}

/** Spreads a table over several databases by a column, where the register is. */
function spread({ keys }: Layout, table: string, column: string): readonly string[] {
  return keys === null ? [] : [`select create_distributed_table('${table}', '${column}')`];
}

/** The start of a primary key, and what tells long ones apart: no index takes the whole of them. */
function keyIndex(key: string): string {
  return `(${keyStart(key)}, (case when length(${key}) > ${WHOLE_IN_INDEX} then md5(${key}) else '' end))`;
}

/** The part of a primary key that its index begins with. */
export function keyStart(key: string): string {
  return `left(${key}, ${WHOLE_IN_INDEX})`;
}

/** The columns of values, then those of searched forms. */
export function columnNames({ columns }: TableLayout): readonly string[] {
  return [
    ...columns.map(({ name }) => name),
    ...columns.flatMap(({ formName }) => (formName === null ? [] : [formName])),
  ];
}

function columnsOf(table: TableLayout): string {
  return columnNames(table)
    .map((name) => `${quote(name)} ${TEXT}`)
    .join(', ');
}

/** One list of numbers (sql/pairs.ts) for each record or row, beside the wide table so that many are read from few pages. */
function pairsStatements(layout: Layout, { pairs }: TableLayout, more: string, key: string): readonly string[] {
  if (pairs === null) return [];
  return [
    `create table ${quote(pairs)} (${more}pms_id bigint not null, tokens int[] not null, primary key (${key}))`,
    `alter table ${quote(pairs)} alter column tokens set statistics ${STATISTICS}`,
    ...spread(layout, pairs, key.split(',')[0] as string),
  ];
}

/** The statements that make the indexes of the search settings. */
export function indexStatements(layout: Layout): readonly string[] {
  // The settings of a connection do not reach the other databases.
  const pending = layout.keys === null ? '' : ` with (gin_pending_list_limit = ${PENDING.few})`;
  return [layout.form, ...layout.tables].flatMap((table) => {
    const trees = table.columns.flatMap((column) => {
      if (column.index === null) return [];
      const name = quote(column.formName ?? column.name);
      const order = table === layout.form ? '(pms_seq + 0)' : 'pms_record';
      const key = isLong(column) ? `left(${name}, ${WHOLE_IN_INDEX})` : name;
      return [`create index if not exists ${quote(column.index)} on ${quote(table.name)} (${key}, ${order})`];
    });
    if (table.pairs === null) return trees;
    const name = quote(pairsIndex(table.pairs));
    return [...trees, `create index if not exists ${name} on ${quote(table.pairs)} using gin (tokens)${pending}`];
  });
}

/** Name of the index on the lists of a pair index. */
export function pairsIndex(pairs: string): string {
  return `${pairs}_gin`;
}

/** Every table of a generation; the history is not one of them. */
export function tableNames({ form, tables, keys }: Layout): readonly string[] {
  const names = [form, ...tables].flatMap(({ name, pairs }) => (pairs === null ? [name] : [pairs, name]));
  return keys === null ? names : [...names, keys];
}
