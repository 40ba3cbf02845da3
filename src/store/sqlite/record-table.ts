// Reads and writes the records of one generation of an app: values, searched forms, rendered answers and pairs together.

import type { Values } from '../../envelope/record.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { type Column, keyColumn, type Layout, type TableLayout, tokensDiffer, uniqueKey } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Derived, deriver, type StoredRecord } from '../derive.ts';
import { type KeptVersion, MAY_BE_DELETION, versionText, type WholeRecord } from '../versions.ts';
import type { Connection, Statement } from './connection.ts';

export interface RecordTable {
  readonly layout: Layout;
  find(primaryKey: string): StoredRecord | null;
  /** Records after a place, in order. */
  after(seq: number, limit: number): readonly StoredRecord[];
  /** Puts a record in, at a place of its own or at the given one; gives the place. */
  insert(record: Derived, revision: number, seq?: number): number;
  /** Writes what differs between the stored record and its new values; the pair index follows with settle. */
  update(stored: StoredRecord, values: Values, revision: number, context: RenderContext): void;
  /**
   * Brings the pair index up to date with the updates since the last call; in their transaction, before its commit. In the
   * order of the records: the index writes to disk whenever it is asked to go back.
   */
  settle(): void;
  remove(seq: number): void;
  rows(table: number, seq: number): readonly Values[];
  /** Puts rows in the place of a record's rows; `fresh` where the record has just been put in and has none. */
  putRows(table: number, seq: number, rows: readonly Derived[], fresh?: boolean): void;
  /** Writes a row that differs from the one before in columns that no index is made of. */
  updateRow(table: number, seq: number, row: number, values: Values, context: RenderContext): void;
  /** The place of the record that has a value in a unique field; null where none has. */
  placeOf(fieldId: string, value: string): number | null;
  at(seq: number): StoredRecord | null;
  /** A place that no record has, nor had: its history would be taken for that of the new one. */
  nextPlace(): number;
  /** Keeps a version of a record (D29); `deleted` is the primary key where the record goes with it. */
  keepVersion(
    stored: StoredRecord,
    userId: string,
    at: string,
    tables?: ReadonlyMap<string, readonly Values[]>,
    deleted?: string,
  ): void;
  /** Versions of a record from a revision on, in their order, up to so many. */
  versions(seq: number, from?: number, limit?: number): readonly KeptVersion[];
  /** The place that the last deleted record with a primary key had; null where none was deleted. */
  deletedPlace(primaryKey: string): number | null;
}

/** The records of a generation; statements are prepared when first used. */
export function recordTable(db: Connection, layout: Layout): RecordTable {
  const { form } = layout;
  const name = quote(form.name);
  const columns = form.columns.map((column) => quote(column.name)).join(', ');
  const derive = deriver(layout, null);
  const formPositions = form.columns.map((_, position) => formPosition(form, position));

  /** Place → tokens of records that were updated. */
  const unsettled = new Map<number, string>();
  const statements = new Map<string, Statement>();
  const statement = (text: string) => {
    let prepared = statements.get(text);
    if (prepared === undefined) {
      prepared = db.prepare(text);
      statements.set(text, prepared);
    }
    return prepared;
  };
  const select = `select pms_seq, pms_revision, ${columns} from ${name}`;
  const find: Statement = db.prepare(`${select} where ${quote(keyColumn(layout))} = ?`).raw();
  const insert: Statement = db.prepare(insertText(form, ['pms_seq', 'pms_revision', 'pms_answer']));

  const tokensText = new Map(
    [form, ...layout.tables].map(({ pairs }) => {
      const of = quote(pairs ?? '');
      return [
        pairs,
        { put: `insert into ${of} (rowid, tokens) values (?, ?)`, drop: `delete from ${of} where rowid = ?` },
      ] as const;
    }),
  );
  const putTokens = ({ pairs }: TableLayout, id: number, tokens: string) => {
    if (tokens !== '') statement(tokensText.get(pairs)?.put as string).run(id, tokens);
  };
  const dropTokens = ({ pairs }: TableLayout, id: number) => {
    if (pairs !== null) statement(tokensText.get(pairs)?.drop as string).run(id);
  };
  const insertRow = layout.tables.map((table) => insertText(table, ['pms_record', 'pms_row', 'pms_answer']));
  const removeRows = (index: number, seq: number) => {
    const table = layout.tables[index] as TableLayout;
    if (table.pairs !== null) {
      const ids = statement(`select pms_id from ${quote(table.name)} where pms_record = ?`)
        .pluck()
        .all(seq) as number[];
      for (const id of ids) dropTokens(table, id);
    }
    statement(`delete from ${quote(table.name)} where pms_record = ?`).run(seq);
  };

  return {
    layout,
    find(primaryKey) {
      const row = find.get(primaryKey) as unknown[] | undefined;
      return row === undefined ? null : storedRecord(row);
    },
    after(seq, limit) {
      const rows = statement(`${select} where pms_seq > ? order by pms_seq limit ?`).raw().all(seq, limit);
      return (rows as unknown[][]).map(storedRecord);
    },
    insert(record, revision, seq) {
      const { lastInsertRowid } = insert.run(seq ?? null, revision, record.answer, ...record.columns);
      const place = Number(lastInsertRowid);
      putTokens(form, place, record.tokens);
      return place;
    },
    update(stored, values, revision, context) {
      const derived = derive(values, context);
      const names: string[] = [];
      const changed: (string | null)[] = [];
      for (let position = 0; position < values.length; position++) {
        if (values[position] === stored.values[position]) continue;
        const column = form.columns[position] as (typeof form.columns)[number];
        names.push(`${quote(column.name)} = ?`);
        changed.push(derived.columns[position] ?? null);
        if (column.formName !== null) {
          names.push(`${quote(column.formName)} = ?`);
          changed.push(derived.columns[formPositions[position] as number] ?? null);
        }
      }
      const set = ['pms_revision = ?', 'pms_answer = ?', ...names].join(', ');
      statement(`update ${name} set ${set} where pms_seq = ?`).run(revision, derived.answer, ...changed, stored.seq);
      if (tokensDiffer(form, stored.values, values)) unsettled.set(stored.seq, derived.tokens);
    },
    settle() {
      for (const seq of [...unsettled.keys()].sort((a, b) => a - b)) {
        dropTokens(form, seq);
        putTokens(form, seq, unsettled.get(seq) as string);
      }
      unsettled.clear();
    },
    remove(seq) {
      unsettled.delete(seq);
      dropTokens(form, seq);
      for (let index = 0; index < layout.tables.length; index++) removeRows(index, seq);
      statement(`delete from ${name} where pms_seq = ?`).run(seq);
    },
    rows(index, seq) {
      const table = layout.tables[index] as TableLayout;
      const names = table.columns.map((column) => quote(column.name)).join(', ');
      const rows = statement(`select ${names} from ${quote(table.name)} where pms_record = ? order by pms_row`);
      return (rows.raw().all(seq) as unknown[][]).map(valuesOf);
    },
    putRows(index, seq, rows, fresh = false) {
      const table = layout.tables[index] as TableLayout;
      if (!fresh) removeRows(index, seq);
      const put = statement(insertRow[index] as string);
      for (let row = 0; row < rows.length; row++) {
        const { answer, columns: values, tokens } = rows[row] as Derived;
        const { lastInsertRowid } = put.run(seq, row + 1, answer, ...values);
        putTokens(table, Number(lastInsertRowid), tokens);
      }
    },
    updateRow(index, seq, row, values, context) {
      const table = layout.tables[index] as TableLayout;
      const { answer, columns } = deriver(layout, index)(values, context);
      const set = table.columns.map(({ name }) => `${quote(name)} = ?`);
      statement(
        `update ${quote(table.name)} set pms_answer = ?, ${set.join(', ')} where pms_record = ? and pms_row = ?`,
      ).run(answer, ...columns.slice(0, table.columns.length), seq, row);
    },
    placeOf(fieldId, value) {
      const column = form.columns.find(({ field }) => field.id === fieldId) as Column;
      const { name: of, value: key } = uniqueKey(column, value);
      const found = statement(`select pms_seq from ${name} where ${quote(of)} = ?`)
        .pluck()
        .get(key);
      return (found as number | undefined) ?? null;
    },
    at(seq) {
      const row = statement(`${select} where pms_seq = ?`).raw().get(seq) as unknown[] | undefined;
      return row === undefined ? null : storedRecord(row);
    },
    nextPlace() {
      const last = (column: string, of: string) => `coalesce((select max(${column}) from ${of}), 0)`;
      const text = `select max(${last('pms_seq', name)}, ${last('record', quote(layout.history))}) + 1`;
      return statement(text).pluck().get() as number;
    },
    keepVersion(stored, userId, at, tables = new Map(), deleted) {
      if (deleted !== undefined) db.exec(deletedIndex(layout.history));
      statement(
        `insert into ${quote(layout.history)} (record, revision, user_id, at, version) values (?, ?, ?, ?, ?)`,
      ).run(stored.seq, stored.revision, userId, at, versionText(layout, stored, tables, deleted));
    },
    versions(seq, from = 0, limit = -1) {
      const text = `select record as seq, revision, user_id as userId, at, version from ${quote(layout.history)}
        where record = ? and revision >= ? order by revision limit ?`;
      return statement(text).all(seq, from, limit) as KeptVersion[];
    },
    deletedPlace(primaryKey) {
      // The index is made with the first record that is deleted.
      const index = statement(`select 1 from sqlite_schema where name = ?`).get(`${layout.history}_deleted`);
      if (index === undefined) return null;
      const text = `select record from ${quote(layout.history)} h where ${DELETED} = ? and ${MAY_BE_DELETION} and not exists
        (select 1 from ${name} where pms_seq = h.record) order by record desc limit 1`;
      return (statement(text).pluck().get(primaryKey) as number | undefined) ?? null;
    },
  };
}

/** The primary key of the record that went with a version. */
const DELETED = `json_extract(version, '$.deleted')`;

/** Makes the index of deleted records, where some of the versions may say that theirs was; most histories need none. */
export function indexDeleted(db: Connection, history: string): void {
  const some = `select 1 from ${quote(history)} where ${MAY_BE_DELETION} limit 1`;
  if (db.prepare(some).get() !== undefined) db.exec(deletedIndex(history));
}

/** Made with the first record that is deleted. */
function deletedIndex(history: string): string {
  return `create index if not exists ${quote(`${history}_deleted`)} on ${quote(history)} (${DELETED}) where ${MAY_BE_DELETION}`;
}

/** A record with its rows. */
export function wholeRecord(table: RecordTable, stored: StoredRecord | null): WholeRecord | null {
  if (stored === null) return null;
  return { ...stored, rows: table.layout.tables.map((_, index) => table.rows(index, stored.seq)) };
}

function insertText(table: TableLayout, own: readonly string[]): string {
  const forms = table.columns.flatMap(({ formName }) => (formName === null ? [] : [formName]));
  const names = [...own, ...table.columns.map(({ name }) => name), ...forms];
  return `insert into ${quote(table.name)} (${names.map(quote).join(', ')}) values (${names.map(() => '?').join(', ')})`;
}

/** Where the searched form of a column lies among the derived columns. */
function formPosition(table: TableLayout, position: number): number {
  let index = table.columns.length;
  for (let before = 0; before < position; before++) if (table.columns[before]?.formName != null) index++;
  return index;
}

function storedRecord(row: unknown[]): StoredRecord {
  const [seq, revision, ...values] = row;
  return { seq: seq as number, revision: revision as number, values: valuesOf(values) };
}

function valuesOf(row: unknown[]): Values {
  return row.map((value) => (value as string | null) ?? '');
}
