// What no field can say alone: identifiers that clash with one another, and the one primary key (spec 2.1, D19).
import type { Name } from './app.ts';
import type { DefinedField } from './define-field.ts';
import { report, type Section } from './definition-section.ts';

/** A table as far as it could be read. */
export interface DefinedTable {
  readonly section: Section;
  readonly code: string | undefined;
  readonly name: Name;
  readonly fields: readonly DefinedField[];
}

/** Parameters of the operations (spec 4, D23, D30): a file field sends its file under its own ID beside them. */
const PARAMETERS: readonly string[] = [
  'appcode',
  'appkey',
  'execuserid',
  'lang',
  'tablecode',
  'param',
  'limit',
  'after',
  'revision',
  'mode',
];

const PRIMARY_KEY_ENDING = '_primarykey';

/** Reports every clash in an app. */
export function reportClashes(top: Section, fields: readonly DefinedField[], tables: readonly DefinedTable[]): void {
  reportPrimaryKey(top, fields, tables);
  const taken = reportRepeated(fields, tables);
  const everywhere = [...fields, ...tables.flatMap((table) => table.fields)];
  for (const field of everywhere) {
    reportUpperBound(field, taken);
    reportParameter(field);
  }
  reportParts(fields, tables);
  reportUnique(tables);
}

function reportPrimaryKey(top: Section, fields: readonly DefinedField[], tables: readonly DefinedTable[]): void {
  const inForm = fields.filter((field) => field.settings?.primaryKey);
  for (const { section } of tables.flatMap((table) => table.fields).filter((field) => field.settings?.primaryKey)) {
    report(section, 'type', 'the primary key is a field of the form; expected another type in a table');
  }
  const [primaryKey, ...more] = inForm;
  for (const { section } of more) report(section, 'type', `a second primary key; the first is ${primaryKey?.id ?? ''}`);
  for (const { section, id } of inForm) {
    if (id === undefined || id.endsWith(PRIMARY_KEY_ENDING)) continue;
    report(section, 'id', `"${id}" is not possible for the primary key; expected it to end in ${PRIMARY_KEY_ENDING}`);
  }
  // A field whose type could not be read may be the one.
  const isUnclear = fields.some((field) => field.settings === undefined);
  if (primaryKey !== undefined || isUnclear) return;
  report(top, 'fields', `no primary key; expected one field of type id whose ID ends in ${PRIMARY_KEY_ENDING}`);
}

/** Every identifier of the form and its tables, with what has it. */
function reportRepeated(fields: readonly DefinedField[], tables: readonly DefinedTable[]): Map<string, string> {
  const taken = new Map<string, string>();
  const take = (section: Section, key: 'id' | 'code', identifier: string | undefined): void => {
    if (identifier === undefined) return;
    const first = taken.get(identifier);
    if (first === undefined) taken.set(identifier, section.where);
    else report(section, key, `"${identifier}" is taken by ${first}; expected one that the app does not have yet`);
  };
  for (const { section, id } of fields) take(section, 'id', id);
  for (const { section, code } of tables) take(section, 'code', code);
  for (const table of tables) for (const { section, id } of table.fields) take(section, 'id', id);
  return taken;
}

/** D19: `<field_id>_to` is the upper bound of a range. */
function reportUpperBound({ section, id, field }: DefinedField, taken: ReadonlyMap<string, string>): void {
  const clash = id === undefined || field?.search !== 'range' ? undefined : taken.get(`${id}_to`);
  if (clash === undefined) return;
  report(section, 'search', `"range" needs the name ${id}_to for its upper bound, which is taken by ${clash}`);
}

function reportParameter({ section, id, field, settings }: DefinedField): void {
  if (id === undefined || !settings?.upload || !PARAMETERS.includes(id)) return;
  report(section, 'id', `"${id}" is not possible for ${field?.type}; it is the name of a request parameter`);
}

/** A file in a table is sent as `<field_id>_<row_number>` (spec 4.2), which must not be another field's own ID. */
function reportParts(fields: readonly DefinedField[], tables: readonly DefinedTable[]): void {
  const inTables = new Set<string>();
  for (const { id, settings } of tables.flatMap((table) => table.fields)) {
    if (id !== undefined && settings?.upload) inTables.add(id);
  }
  for (const { section, id, settings } of fields) {
    const inTable = /^(.+)_\d+$/.exec(id ?? '')?.[1];
    if (!settings?.upload || inTable === undefined || !inTables.has(inTable)) continue;
    report(section, 'id', `"${id}" is not possible; it would name the file of a row of the table field ${inTable}`);
  }
}

/** Rows of one record may have the same value, and those of others too. */
function reportUnique(tables: readonly DefinedTable[]): void {
  for (const { section, field } of tables.flatMap((table) => table.fields)) {
    if (field?.unique) report(section, 'unique', 'not possible in a table; expected only in the form');
  }
}
