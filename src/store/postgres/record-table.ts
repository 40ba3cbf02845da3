// Reads and writes the records of one generation of an app, many in each statement.
import type { Values } from '../../envelope/record.ts';
import { isStorable } from '../../fields/field-type.ts';
import { type Column, keyColumn, type Layout, type TableLayout, uniqueKey } from '../../sql/layout.ts';
import { tokenNumbers } from '../../sql/pairs.ts';
import { quote } from '../../sql/sql.ts';
import type { Derived, StoredRecord } from '../derive.ts';
import { type KeptVersion, MAY_BE_DELETION } from '../versions.ts';
import { arrayText, type Connection, rowsOf, run } from './connection.ts';
import { spreadTable } from './spread-table.ts';
import { columnNames, DELETED, keyStart } from './tables.ts';

/** A record as it is written. */
export interface WrittenRecord {
  readonly seq: number;
  readonly revision: number;
  readonly derived: Derived;
}

/** Rows of one record, each with the number by which the pair index knows it. */
export interface WrittenRows {
  readonly seq: number;
  readonly rows: readonly { readonly id: number; readonly derived: Derived }[];
}

export interface RecordTable {
  readonly layout: Layout;
  /** By primary key; locked until the end of the transaction, in one order for all, so that no two wait for each other. */
  findForUpdate(tx: Connection, primaryKeys: readonly string[]): Promise<readonly StoredRecord[]>;
  /** The same, not locked. */
  find(on: Connection, primaryKeys: readonly string[]): Promise<readonly StoredRecord[]>;
  /** The place of the record that has a value in a unique field; null where none has. */
  placeOf(on: Connection, fieldId: string, value: string): Promise<number | null>;
  /** The same of several values, in their order. */
  placesOf(on: Connection, fieldId: string, values: readonly string[]): Promise<readonly (number | null)[]>;
  /** Versions of a record, in their order. */
  versions(on: Connection, seq: number): Promise<readonly KeptVersion[]>;
  /** The place that the last deleted record with a primary key had; null where none was deleted. */
  deletedPlace(on: Connection, primaryKey: string): Promise<number | null>;
  /** Records after a place, in order. */
  after(tx: Connection, seq: number, limit: number, lock?: boolean): Promise<readonly StoredRecord[]>;
  /** Those of the places that there are, in order. */
  at(tx: Connection, places: readonly number[]): Promise<readonly StoredRecord[]>;
  insert(tx: Connection, records: readonly WrittenRecord[]): Promise<void>;
  /** Writes records anew; the pair index only of those of `paired`. */
  update(tx: Connection, records: readonly WrittenRecord[], paired: ReadonlySet<number>): Promise<void>;
  remove(tx: Connection, places: readonly number[]): Promise<void>;
  /** Rows of records, by place, each record's in their order. */
  rows(tx: Connection, table: number, places: readonly number[]): Promise<ReadonlyMap<number, readonly Values[]>>;
  insertRows(tx: Connection, table: number, rows: readonly WrittenRows[]): Promise<void>;
  /** Writes a row that differs from the one before in columns that no index is made of; `row` is its number. */
  updateRow(tx: Connection, table: number, seq: number, row: number, derived: Derived): Promise<void>;
  removeRows(tx: Connection, table: number, places: readonly number[]): Promise<void>;
  keepVersions(tx: Connection, versions: readonly KeptVersion[]): Promise<void>;
}

/** Reads records (alias t) by the rest of a query. */
export type StoredRows = (
  tx: Connection,
  where: string,
  parameters: readonly (string | number)[],
) => Promise<readonly StoredRecord[]>;

/** The records of a generation. */
export function recordTable(layout: Layout): RecordTable {
  const { form } = layout;
  const name = quote(form.name);
  const values = form.columns.map((column) => `t.${quote(column.name)}`).join(', ');
  const select = `select t.pms_seq, t.pms_revision, ${values} from ${name} t`;
  const stored: StoredRows = async (tx, where, parameters) =>
    (await rowsOf(tx, `${select} ${where}`, parameters)).map(storedRecord);
  const key = `t.${quote(keyColumn(layout))}`;
  const isKey = isOneOf(key);
  const columns = columnNames(form);
  const set = ['pms_revision', 'pms_answer', ...columns].map((column) => `${quote(column)} = v.${quote(column)}`);
  const lists = columns.map((_, index) => `$${index + 4}::text[]`).join(', ');
  const updateText = `update ${name} t set ${set.join(', ')} from unnest($1::bigint[], $2::int[], $3::text[], ${lists})
    as v (seq, pms_revision, pms_answer, ${columns.map(quote).join(', ')}) where t.pms_seq = v.seq`;

  const table: RecordTable = {
    layout,
    findForUpdate: (tx, primaryKeys) =>
      stored(tx, `where ${isKey} order by t.pms_seq for update`, [arrayText(primaryKeys.filter(isStorable))]),
    find: (on, primaryKeys) =>
      stored(on, `where ${isKey} order by t.pms_seq`, [arrayText(primaryKeys.filter(isStorable))]),
    placeOf: async (on, fieldId, value) => (await table.placesOf(on, fieldId, [value]))[0] ?? null,
    async placesOf(on, fieldId, of) {
      const column = form.columns.find(({ field }) => field.id === fieldId) as Column;
      const key = `t.${quote(uniqueKey(column, '').name)}`;
      const sought = of.map((value) => uniqueKey(column, value).value);
      const text = `select t.pms_seq, ${key} from ${name} t where ${isOneOf(key)}`;
      const found = new Map(
        (await rowsOf<[string, string]>(on, text, [arrayText(sought)])).map(([seq, value]) => [value, Number(seq)]),
      );
      return sought.map((value) => found.get(value) ?? null);
    },
    async versions(on, seq) {
      const text = `select revision, user_id, at, version from ${quote(layout.history)} where record = $1::bigint order by revision`;
      const rows = await rowsOf<[number, string, string, string]>(on, text, [seq]);
      return rows.map(([revision, userId, at, version]) => ({ seq, revision, userId, at, version }));
    },
    async deletedPlace(on, primaryKey) {
      if (!isStorable(primaryKey)) return null;
      const text = `select record from ${quote(layout.history)} h where ${DELETED} = $1::text
        and ${MAY_BE_DELETION} and not exists (select 1 from ${name} t where t.pms_seq = h.record) order by record desc limit 1`;
      const [row] = await rowsOf<[string]>(on, text, [primaryKey]);
      return row === undefined ? null : Number(row[0]);
    },
    after: (tx, seq, limit, lock = false) =>
      stored(tx, `where t.pms_seq > $1::bigint order by t.pms_seq limit $2::int${lock ? ' for update' : ''}`, [
        seq,
        limit,
      ]),
    at: (tx, places) => stored(tx, `where t.pms_seq = any($1::bigint[]) order by t.pms_seq`, [arrayText(places)]),
    async insert(tx, records) {
      const rows = records.map(({ seq, revision, derived }) => [seq, revision, derived.answer, ...derived.columns]);
      const tokens = records.map(({ seq, derived }) => [seq, derived.tokens] as const);
      await Promise.all([
        insertRows(tx, form.name, { pms_seq: 'bigint', pms_revision: 'int', pms_answer: 'text' }, columns, rows),
        insertTokens(tx, form, tokens),
      ]);
    },
    async update(tx, records, paired) {
      if (records.length === 0) return;
      const changed = records.filter(({ seq }) => paired.has(seq));
      const writing = [
        run(tx, updateText, [
          arrayText(records.map(({ seq }) => seq)),
          arrayText(records.map(({ revision }) => revision)),
          arrayText(records.map(({ derived }) => derived.answer)),
          ...columns.map((_, index) => arrayText(records.map(({ derived }) => derived.columns[index] ?? null))),
        ]),
      ];
      if (changed.length > 0 && form.pairs !== null) {
        writing.push(
          run(
            tx,
            `update ${quote(form.pairs)} p set tokens = v.tokens::int[] from unnest($1::bigint[], $2::text[]) as v (id, tokens) where p.pms_id = v.id`,
            [
              arrayText(changed.map(({ seq }) => seq)),
              arrayText(changed.map(({ seq, derived }) => arrayText(tokenNumbers(derived.tokens, seq)))),
            ],
          ),
        );
      }
      await Promise.all(writing);
    },
    async remove(tx, places) {
      for (let index = 0; index < layout.tables.length; index++) await table.removeRows(tx, index, places);
      const list = [arrayText(places)];
      if (form.pairs !== null) {
        await run(tx, `delete from ${quote(form.pairs)} where pms_id = any($1::bigint[])`, list);
      }
      await run(tx, `delete from ${name} where pms_seq = any($1::bigint[])`, list);
    },
    async rows(tx, index, places) {
      const table = layout.tables[index] as TableLayout;
      const names = table.columns.map((column) => `, ${quote(column.name)}`).join('');
      const text = `select pms_record${names} from ${quote(table.name)} where pms_record = any($1::bigint[]) order by pms_record, pms_row`;
      const found = new Map<number, Values[]>();
      for (const [record, ...row] of await rowsOf(tx, text, [arrayText(places)])) {
        const seq = Number(record);
        const rows = found.get(seq);
        if (rows === undefined) found.set(seq, [valuesOf(row)]);
        else rows.push(valuesOf(row));
      }
      return found;
    },
    async insertRows(tx, index, written) {
      const table = layout.tables[index] as TableLayout;
      const own = { pms_id: 'bigint', pms_record: 'bigint', pms_row: 'int', pms_answer: 'text' };
      const rows = written.flatMap(({ seq, rows: some }) =>
        some.map(({ id, derived }, row) => [id, seq, row + 1, derived.answer, ...derived.columns]),
      );
      const tokens = written.flatMap(({ seq, rows: some }) =>
        some.map(({ id, derived }) => [id, derived.tokens, seq] as const),
      );
      await Promise.all([insertRows(tx, table.name, own, columnNames(table), rows), insertTokens(tx, table, tokens)]);
    },
    async updateRow(tx, index, seq, row, { answer, columns: derived }) {
      const { name: rowsName, columns: of } = layout.tables[index] as TableLayout;
      const set = of.map((column, position) => `${quote(column.name)} = $${position + 4}`);
      await run(
        tx,
        `update ${quote(rowsName)} set pms_answer = $3, ${set.join(', ')} where pms_record = $1::bigint and pms_row = $2::int`,
        [seq, row, answer, ...derived.slice(0, of.length)],
      );
    },
    async removeRows(tx, index, places) {
      const table = layout.tables[index] as TableLayout;
      const list = [arrayText(places)];
      if (table.pairs !== null) {
        await run(tx, `delete from ${quote(table.pairs)} where pms_record = any($1::bigint[])`, list);
      }
      await run(tx, `delete from ${quote(table.name)} where pms_record = any($1::bigint[])`, list);
    },
    async keepVersions(tx, versions) {
      if (versions.length === 0) return;
      await run(
        tx,
        `insert into ${quote(layout.history)} (record, revision, user_id, at, version)
         select * from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[])`,
        [
          arrayText(versions.map(({ seq }) => seq)),
          arrayText(versions.map(({ revision }) => revision)),
          arrayText(versions.map(({ userId }) => userId)),
          arrayText(versions.map(({ at }) => at)),
          arrayText(versions.map(({ version }) => version)),
        ],
      );
    },
  };
  return layout.keys === null ? table : { ...table, ...spreadTable(layout, layout.keys, table, stored) };
}

/** A test whether a column whose index begins with the start of its values has one of those in the first parameter. */
function isOneOf(column: string): string {
  const starts = `array(select ${keyStart('k')} from unnest($1::text[]) k)`;
  return `${keyStart(column)} = any(${starts}) and ${column} = any($1::text[])`;
}

/** Puts rows into a table: first the columns of `own` by their types, then texts. */
async function insertRows(
  tx: Connection,
  name: string,
  own: Readonly<Record<string, string>>,
  texts: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const types = [...Object.values(own), ...texts.map(() => 'text')];
  const columns = [...Object.keys(own), ...texts];
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`);
  await run(
    tx,
    `insert into ${quote(name)} (${columns.map(quote).join(', ')}) select * from unnest(${lists.join(', ')})`,
    columns.map((_, index) => arrayText(rows.map((row) => row[index] ?? null))),
  );
}

/** Every record has a row in the pair index, an empty list where it has no tokens; rows have their record beside it. */
async function insertTokens(
  tx: Connection,
  { pairs }: TableLayout,
  tokens: readonly (readonly [id: number, tokens: string, record?: number])[],
): Promise<void> {
  if (pairs === null || tokens.length === 0) return;
  const ids = arrayText(tokens.map(([id]) => id));
  const lists = arrayText(
    tokens.map(([id, text, record]) => arrayText(tokenNumbers(text, record === undefined ? id : null))),
  );
  if (tokens[0]?.[2] === undefined) {
    await run(
      tx,
      `insert into ${quote(pairs)} (pms_id, tokens) select id, list::int[] from unnest($1::bigint[], $2::text[]) v (id, list)`,
      [ids, lists],
    );
    return;
  }
  await run(
    tx,
    `insert into ${quote(pairs)} (pms_id, pms_record, tokens)
     select id, record, list::int[] from unnest($1::bigint[], $2::bigint[], $3::text[]) v (id, record, list)`,
    [ids, arrayText(tokens.map(([, , record]) => record as number)), lists],
  );
}

function storedRecord(row: readonly unknown[]): StoredRecord {
  const [seq, revision, ...values] = row;
  return { seq: Number(seq), revision: revision as number, values: valuesOf(values) };
}

function valuesOf(row: readonly unknown[]): Values {
  return row.map((value) => (value as string | null) ?? '');
}
