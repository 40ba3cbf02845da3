// What an edit makes of a record (D39): its values and rows as they will be, or why nothing is done. Pure.
import type { Field } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import type { Problem } from '../errors.ts';
import { formatAutoNumber } from '../fields/auto-number.ts';
import { typeOf } from '../fields/field-types.ts';
import { type CalculationFault, evaluateAll } from '../formulas/evaluate-all.ts';
import { type Layout, uniqueKey } from '../sql/layout.ts';
import type { RowFile } from '../update/change.ts';
import type { EditedRow, Put, Restore } from '../update/edit.ts';
import type { StoredRecord } from './derive.ts';
import { isTooLate } from './files.ts';
import { type Counters, PRIMARY_KEY, WHOLE } from './source-records.ts';
import { type KeptVersion, recordAt, type WholeRecord } from './versions.ts';

/** What an edit needs to know beside its record, as of its transaction. */
export interface EditContext {
  readonly userId: string;
  readonly at: string;
  readonly counters: Counters;
  /** Those of the files named by it that the app has. */
  readonly knownFiles: ReadonlySet<string>;
}

/** The record as it will be. */
export interface Edited {
  readonly kind: 'edited';
  readonly values: Values;
  /** By table of the form; null for one that stays as it is. */
  readonly rows: readonly (readonly Values[] | null)[];
  /** Fields that could not be calculated; they are empty. */
  readonly faults: readonly CalculationFault[];
}

export type EditRefused =
  | { readonly kind: 'unknown_record' }
  | { readonly kind: 'revision_conflict'; readonly revision: string }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

export interface Editor {
  /** `stored` is null where there is no record of the edit's key. */
  put(stored: WholeRecord | null, put: Put, context: EditContext): Edited | EditRefused;
  /** `versions` are all that the history has of the record, in their order. */
  restore(
    live: WholeRecord | null,
    versions: readonly KeptVersion[],
    restore: Restore,
    context: EditContext,
  ): Edited | EditRefused;
}

/** Applies the edits of one app. */
export function editorOf(layout: Layout): Editor {
  const { app } = layout;
  const fields = layout.form.columns.map(({ field }) => field);
  const positions = new Map(fields.map(({ id }, position) => [id, position]));
  const system = app.fields.length;
  const keyPosition = positions.get(app.primaryKey.id) as number;

  const fresh = (put: Put, { userId, at, counters }: EditContext): string[] => {
    const values = fields.map((field) => field.default);
    if (put.key !== null) values[positions.get(put.key.fieldId) as number] = put.key.value;
    for (const [id, value] of [...put.values, ...put.whenNew]) values[positions.get(id) as number] = value;
    const sent = values[keyPosition] as string;
    if (sent === '') values[keyPosition] = String(counters.take(PRIMARY_KEY));
    else if (WHOLE.test(sent)) counters.passed(PRIMARY_KEY, Number(sent));
    app.fields.forEach((field, position) => {
      if (typeOf(field).filledBy !== 'server') return;
      values[position] = formatAutoNumber(field, counters.take(field.id), at.slice(0, 10));
    });
    values[system] = userId;
    values[system + 1] = at;
    return values;
  };

  return {
    put(stored, put, context) {
      if (stored === null && put.mode === 'update') return { kind: 'unknown_record' };
      if (stored !== null && put.mode === 'insert') {
        return { kind: 'refused', problems: [{ code: 'record_exists', ...keyOf(put) }] };
      }
      if (stored === null && put.revision !== null) return { kind: 'unknown_record' };
      const revision = String(stored?.revision ?? '');
      if (put.revision !== null && put.revision !== revision) return { kind: 'revision_conflict', revision };
      if (put.files !== null && isTooLate(put.files.added)) {
        return { kind: 'refused', problems: [{ code: 'unavailable' }] };
      }
      const problems: Problem[] = stored === null ? [...put.problemsWhenNew] : [];
      for (const [at, id] of put.files?.named ?? []) {
        if (!context.knownFiles.has(id)) problems.push({ code: 'unknown_file', at, sent: id });
      }
      const rows = layout.tables.map(({ table }, index) => {
        const edited = put.tables.get(table.code);
        const before = stored?.rows[index] ?? [];
        const files = (put.files?.rows ?? []).filter(({ tableCode }) => tableCode === table.code);
        if (edited === undefined && files.length === 0) return null;
        const whole = edited ?? before.map((_, row): EditedRow => ({ from: row + 1, values: new Map() }));
        return editRows(table.code, table.fields, before, whole, files, problems);
      });
      if (problems.length > 0) return { kind: 'refused', problems };
      const values = stored === null ? fresh(put, context) : [...stored.values];
      if (stored !== null) for (const [id, value] of put.values) values[positions.get(id) as number] = value;
      values[system + 2] = context.userId;
      values[system + 3] = context.at;
      const whole = rows.map((of, index) => of ?? stored?.rows[index] ?? []);
      const calculated = evaluateAll(app, values, whole);
      return {
        kind: 'edited',
        values: calculated.values,
        rows: calculated.rows.map((of, index) => (of === whole[index] ? (rows[index] ?? null) : of)),
        faults: calculated.faults,
      };
    },
    restore(live, versions, { primaryKey, version, revision: asked }, { userId, at }) {
      if (live !== null && asked !== null && asked !== String(live.revision)) {
        return { kind: 'revision_conflict', revision: String(live.revision) };
      }
      if (live !== null && version === null) {
        return { kind: 'refused', problems: [{ code: 'record_exists', at: app.primaryKey.id, sent: primaryKey }] };
      }
      const revision = version ?? versions.at(-1)?.revision ?? 0;
      const before = recordAt(layout, live, versions, revision);
      if (before === null) {
        return { kind: 'refused', problems: [{ code: 'unknown_version', at: 'version', sent: String(revision) }] };
      }
      const values = [...before.values];
      values[keyPosition] = primaryKey;
      values[system + 2] = userId;
      values[system + 3] = at;
      return { kind: 'edited', values, rows: before.rows, faults: [] };
    },
  };
}

function keyOf({ key }: Put): Pick<Problem, 'at' | 'sent'> {
  return key === null ? {} : { at: key.fieldId, sent: key.value.slice(0, 100).toWellFormed() };
}

function editRows(
  code: string,
  fields: readonly Field[],
  before: readonly Values[],
  edited: readonly EditedRow[],
  files: readonly RowFile[],
  problems: Problem[],
): readonly Values[] {
  const rows = edited.map(({ from, values }, index) => {
    const row = from === null ? fields.map((field) => field.default) : [...(before[from - 1] ?? [])];
    if (row.length === 0) {
      problems.push({ code: 'unknown_row', at: `${code}[${index + 1}].pms_row`, limit: before.length });
    }
    for (const [id, value] of values) row[fields.findIndex((field) => field.id === id)] = value;
    return row;
  });
  for (const { part, fieldId, row, value } of files) {
    const target = rows[row - 1];
    if (target === undefined) problems.push({ code: 'unknown_row', at: part, limit: rows.length });
    else target[fields.findIndex((field) => field.id === fieldId)] = value;
  }
  return rows;
}

/** Why a record cannot be deleted; null where it can. */
export function refuseDelete(stored: StoredRecord | null, revision: string | null): EditRefused | null {
  if (stored === null) return { kind: 'unknown_record' };
  const is = String(stored.revision);
  return revision === null || revision === is ? null : { kind: 'revision_conflict', revision: is };
}

/** The values of unique fields that no other record may have: those that are not the ones before. */
export function uniqueChanges(
  { form }: Layout,
  before: Values | null,
  after: Values,
): readonly { readonly fieldId: string; readonly value: string }[] {
  return form.columns.flatMap((column, position) => {
    const value = after[position] ?? '';
    if (!column.field.unique || value === '') return [];
    const old = before?.[position] ?? '';
    if (old !== '' && uniqueKey(column, old).value === uniqueKey(column, value).value) return [];
    return [{ fieldId: column.field.id, value }];
  });
}

/** Another record has the value. */
export function notUnique(fieldId: string, value: string): Problem {
  return { code: 'not_unique', at: fieldId, sent: value.slice(0, 100).toWellFormed() };
}

/** The primary key among the values of a record. */
export function primaryKeyOf({ app, form }: Layout, values: Values): string {
  return values[form.columns.findIndex(({ field }) => field === app.primaryKey)] as string;
}

/** There is a record with the primary key. */
export function recordExists(layout: Layout, values: Values): Problem {
  return { code: 'record_exists', at: layout.app.primaryKey.id, sent: primaryKeyOf(layout, values) };
}
