// From a request's `param` to a record that is put in or changed as on a form (D39); every problem is reported, never only the first.
import { type App, type Field, SYSTEM_FIELDS, type Table } from '../app/app.ts';
import type { Problem } from '../errors.ts';
import { typeOf } from '../fields/field-types.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { EditedRow, Put } from './edit.ts';
import { entryValue, parseValue, REVISION } from './parse.ts';
import type { PartTarget } from './parts.ts';
import { updateRule } from './rules.ts';

/** Entry of a row that says which of the stored rows it is, by its number. */
const ROW = 'pms_row';

/** A value that names a file of the app; `set` puts what the field keeps for it in its place. */
export interface NamedFile {
  /** Field, with its table's code before it. */
  readonly at: string;
  readonly field: Field;
  readonly fileId: string;
  set(value: string): void;
}

/** What is asked for, as far as it can be known without the register. */
export interface ParsedPut extends Omit<Put, 'kind' | 'files'> {
  readonly named: readonly NamedFile[];
}

export interface PutOptions {
  readonly mode: Put['mode'];
  /** Field that says which record; the primary key, or one that is unique. */
  readonly keyField: Field;
  readonly parts: readonly PartTarget[];
  /** Of the form, only the field that says which record is read: a record can be sent back as it was. */
  readonly onlyRows: boolean;
  /** Fields that the form shows and that are absent are emptied, as data/update does (spec 4.2 rule 2). */
  readonly emptiesAbsent: boolean;
}

/** A record to put in or to change. */
export function parsePut(app: App, param: JsonObject, options: PutOptions, problems: Problem[]): ParsedPut {
  const { mode, keyField, parts, onlyRows, emptiesAbsent } = options;
  const values = new Map<string, string>();
  const whenNew = new Map<string, string>();
  // What is new for certain is judged with the rest.
  const problemsWhenNew: Problem[] = mode === 'insert' ? problems : [];
  const named: NamedFile[] = [];
  const inParts = new Set(parts.flatMap(({ field, row }) => (row === null ? field : [])));
  let key: Put['key'] = null;
  for (const field of app.fields) {
    const entry = param.get(field.id);
    const isKey = field === keyField;
    if (onlyRows && !isKey) continue;
    const sent = entry === undefined || isServers(field) ? null : entryValue(field.id, entry, problems);
    if (inParts.has(field)) continue;
    if (sent === null) {
      if (isKey && mode !== 'insert') problems.push({ code: 'missing_primary_key', at: field.id });
      else if (emptiesAbsent && entry === undefined && updateRule(field, app.primaryKey).absent === 'empty') {
        if (field.required) problems.push({ code: 'required_value', at: field.id });
        else if (!isServers(field)) values.set(field.id, '');
      } else if (isLacking(field, app.primaryKey)) problemsWhenNew.push({ code: 'required_value', at: field.id });
      continue;
    }
    if (sent === '' && isKey && mode !== 'insert') problems.push({ code: 'missing_primary_key', at: field.id });
    else if (sent === '' && field.required && !field.protected) problems.push({ code: 'required_value', at: field.id });
    else if (sent !== '' && typeOf(field).holds !== undefined) {
      const into = updateRule(field, app.primaryKey).sent === 'ignore' ? whenNew : values;
      named.push({ at: field.id, field, fileId: sent, set: (value) => void into.set(field.id, value) });
    } else {
      const value = parseFormValue(field, field.id, sent, problems);
      if (value === null) continue;
      if (isKey && value !== '') key = { fieldId: field.id, value };
      else if (field === app.primaryKey || field.protected) whenNew.set(field.id, value);
      else values.set(field.id, value);
    }
  }
  const tables = new Map<string, readonly EditedRow[]>();
  for (const table of app.tables) {
    const sent = param.get(table.code);
    if (sent !== undefined) tables.set(table.code, parseRows(table, sent, parts, named, problems));
  }
  const revision = param.has(REVISION) ? entryValue(REVISION, param.get(REVISION) ?? null, problems) : null;
  reportUnknown(app, param, problems);
  const later = mode === 'insert' ? [] : problemsWhenNew;
  return { mode, key, revision, values, whenNew, tables, problemsWhenNew: later, named };
}

/** The primary key in `param`, and the revision, of an operation that takes no values. */
export function parseKey(
  app: App,
  param: JsonObject,
  problems: Problem[],
): { readonly primaryKey: string; readonly revision: string | null } {
  const { id } = app.primaryKey;
  const entry = param.get(id);
  const primaryKey = entry === undefined ? '' : entryValue(id, entry, problems);
  if (primaryKey === '') problems.push({ code: 'missing_primary_key', at: id });
  const revision = param.has(REVISION) ? entryValue(REVISION, param.get(REVISION) ?? null, problems) : null;
  reportUnknown(app, param, problems);
  return { primaryKey: primaryKey ?? '', revision };
}

/** Fields whose value the server gives: what is sent for them is ignored. */
function isServers(field: Field): boolean {
  return typeOf(field).filledBy === 'server' || field.formula !== '';
}

/** Whether a new record without a value sent lacks one that it must have. */
function isLacking(field: Field, primaryKey: Field | null): boolean {
  return field.required && field.default === '' && field !== primaryKey && !isServers(field);
}

/** The value of a field as a form takes it; null after adding the problem why it does not. */
function parseFormValue(field: Field, at: string, sent: string, problems: Problem[]): string | null {
  const found: Problem[] = [];
  const value = parseValue(field, sent, found);
  problems.push(...found.map((problem) => ({ ...problem, at })));
  if (value === null || value === '' || (typeOf(field).offers?.(value, field) ?? true)) return value;
  const limit = field.choices.slice(0, 20).join(', ');
  problems.push({ code: 'not_a_choice', at, sent: value.slice(0, 100).toWellFormed(), limit });
  return null;
}

function parseRows(
  { code, fields }: Table,
  sent: JsonValue,
  parts: readonly PartTarget[],
  named: NamedFile[],
  problems: Problem[],
): readonly EditedRow[] {
  if (!Array.isArray(sent)) {
    problems.push({ code: 'rows_not_array', at: code });
    return [];
  }
  return sent.map((row: JsonValue, index): EditedRow => {
    const values = new Map<string, string>();
    const where = `${code}[${index + 1}]`;
    if (!(row instanceof Map)) {
      problems.push({ code: 'entry_not_object', at: where });
      return { from: null, values };
    }
    const entries = row as JsonObject;
    const from = entries.has(ROW) ? rowNumber(where, entries.get(ROW) ?? null, problems) : null;
    for (const field of fields) {
      const at = `${where}.${field.id}`;
      const entry = entries.get(field.id);
      const isInPart = parts.some(
        (part) => part.field === field && part.row?.tableCode === code && part.row.number === index + 1,
      );
      // A protected field is filled when its row is put in, and never after.
      if (isInPart || (from !== null && field.protected)) continue;
      const value = entry === undefined || isServers(field) ? null : entryValue(at, entry, problems);
      if (value === null) {
        if (from === null && isLacking(field, null)) problems.push({ code: 'required_value', at });
      } else if (value === '' && field.required) problems.push({ code: 'required_value', at });
      else if (value !== '' && typeOf(field).holds !== undefined) {
        named.push({ at, field, fileId: value, set: (file) => void values.set(field.id, file) });
      } else {
        const parsed = parseFormValue(field, at, value, problems);
        if (parsed !== null) values.set(field.id, parsed);
      }
    }
    for (const id of entries.keys()) {
      if (id !== ROW && !fields.some((field) => field.id === id))
        problems.push({ code: 'unknown_field', at: `${where}.${id}` });
    }
    return { from, values };
  });
}

function rowNumber(where: string, entry: JsonValue, problems: Problem[]): number | null {
  const at = `${where}.${ROW}`;
  const value = entryValue(at, entry, problems);
  if (value === null) return null;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  problems.push({ code: 'unknown_row', at });
  return null;
}

function reportUnknown(app: App, param: JsonObject, problems: Problem[]): void {
  const known = new Set<string>([
    ...app.fields.map(({ id }) => id),
    ...app.tables.map(({ code }) => code),
    ...SYSTEM_FIELDS,
    REVISION,
  ]);
  for (const id of param.keys()) if (!known.has(id)) problems.push({ code: 'unknown_field', at: id });
}
