// Versions of records as the history keeps them (D29): written when a record is replaced or deleted, read to look back and to restore.
import type { Field, Table } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import { typeOf } from '../fields/field-types.ts';
import type { Layout } from '../sql/layout.ts';
import type { StoredRecord } from './derive.ts';

/** A record with its rows, by table of the form. */
export interface WholeRecord extends StoredRecord {
  readonly rows: readonly (readonly Values[])[];
}

/** A version in the history: what the record was until somebody replaced or deleted it. */
export interface KeptVersion {
  /** The record's place in the creation order. */
  readonly seq: number;
  readonly revision: number;
  /** Who replaced it, and when. */
  readonly userId: string;
  readonly at: string;
  /** As versionText makes it. */
  readonly version: string;
}

/** All versions of a record. */
export interface RecordHistory {
  /** The record as it is; null for a deleted one. */
  readonly live: WholeRecord | null;
  /** Those before, in their order. */
  readonly versions: readonly KeptVersion[];
}

interface VersionContent {
  /** By field ID. */
  readonly fields: Readonly<Record<string, string>>;
  /** Rows of the tables that were replaced with it, by field ID; in early versions by position. */
  readonly tables?: Readonly<Record<string, readonly (Readonly<Record<string, string>> | readonly string[])[]>>;
  /** Primary key of a record that was deleted. */
  readonly deleted?: string;
}

/** A test that versions of deleted records pass, and few others; it costs less than reading the text as JSON. */
export const MAY_BE_DELETION = `version like '%,"deleted":%'`;

/** The rows of a record by the code of their table, of the tables at the indexes that are meant. */
export function rowsByCode(
  { tables }: Layout,
  { rows }: WholeRecord,
  isMeant: (index: number) => boolean = () => true,
): ReadonlyMap<string, readonly Values[]> {
  return new Map(tables.flatMap(({ table: { code } }, index) => (isMeant(index) ? [[code, rows[index] ?? []]] : [])));
}

/** The text of a version; `tables` are those whose rows go with it, `deleted` is the primary key where the record goes too. */
export function versionText(
  { form, tables: layouts }: Layout,
  { values }: StoredRecord,
  tables: ReadonlyMap<string, readonly Values[]>,
  deleted?: string,
): string {
  const fields = byId(form.columns, values);
  const rows = Array.from(tables, ([code, of]) => {
    const columns = layouts.find(({ table }) => table.code === code)?.columns ?? [];
    return [code, of.map((row) => byId(columns, row))] as const;
  });
  const content: VersionContent = {
    fields,
    ...(rows.length > 0 && { tables: Object.fromEntries(rows) }),
    ...(deleted !== undefined && { deleted }),
  };
  return JSON.stringify(content);
}

function byId(columns: readonly { readonly field: Field }[], values: Values): Record<string, string> {
  return Object.fromEntries(columns.map(({ field }, position) => [field.id, values[position] ?? '']));
}

/** Whether the record was deleted with this version. */
export function isDeletion({ version }: KeptVersion): boolean {
  return (JSON.parse(version) as VersionContent).deleted !== undefined;
}

/** A state of a record: as it is, or as a version has it. */
export interface RecordState {
  readonly record: WholeRecord;
  /** The version that has it; null for the record as it is. */
  readonly version: KeptVersion | null;
}

/**
 * The states of a record from the newest to the oldest. Values that a field of today cannot hold are empty; rows are those of the next
 * later version that has them, or of the record as it is.
 */
export function* statesBack(layout: Layout, { live, versions }: RecordHistory): Generator<RecordState> {
  let rows: readonly (readonly Values[])[] = live?.rows ?? layout.tables.map(() => []);
  if (live !== null) yield { record: live, version: null };
  for (const version of versions.toReversed()) {
    const { fields, tables } = JSON.parse(version.version) as VersionContent;
    if (tables !== undefined)
      rows = layout.tables.map(({ table }, index) => rowsIn(tables, table) ?? rows[index] ?? []);
    const values = layout.form.columns.map(({ field }) => keptValue(field, fields[field.id]));
    yield { record: { seq: version.seq, revision: version.revision, values, rows }, version };
  }
}

function rowsIn(tables: NonNullable<VersionContent['tables']>, { code, fields }: Table): readonly Values[] | null {
  if (!Object.hasOwn(tables, code)) return null;
  return (tables[code] ?? []).map((row) =>
    fields.map((field, position) =>
      keptValue(field, Array.isArray(row) ? row[position] : (row as Record<string, string>)[field.id]),
    ),
  );
}

/** The record as it was at a revision; null where the history does not have it. `versions` are all from that revision on. */
export function recordAt(
  layout: Layout,
  live: WholeRecord | null,
  versions: readonly KeptVersion[],
  revision: number,
): WholeRecord | null {
  for (const { record } of statesBack(layout, { live, versions })) if (record.revision === revision) return record;
  return null;
}

function keptValue(field: Field, kept: string | undefined): string {
  if (kept === undefined || kept === '') return '';
  const value = typeOf(field).parse(kept, { ...field, maxLength: null });
  return typeof value === 'string' ? value : '';
}
