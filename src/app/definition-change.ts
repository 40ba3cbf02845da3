// What applying a changed definition does to an app that has data.
import { isSameType } from '../fields/field-types.ts';
import type { App, Field, Table } from './app.ts';

/** A field whose values are to be read again by its new type. */
export interface Conversion {
  /** Field ID; the type changes, the ID never does. */
  readonly field: string;
  readonly from: Field['type'];
  readonly to: Field['type'];
  /** Code of the table the field is in; a field of the form has none. */
  readonly table?: string;
}

export interface DefinitionChange {
  /** What applying it will do, one line each; none when the definitions agree. */
  readonly steps: readonly string[];
  /** Values that will be gone, one line each. */
  readonly losses: readonly string[];
  readonly conversions: readonly Conversion[];
  /** Something changed that is stored in the records or derived from them: answers, indexes, columns. */
  readonly rebuild: boolean;
}

interface Change {
  readonly steps: string[];
  readonly losses: string[];
  readonly conversions: Conversion[];
  rebuild: boolean;
}

/** Compares two definitions of one app. */
export function compareApps(before: App, after: App): DefinitionChange {
  const change: Change = { steps: [], losses: [], conversions: [], rebuild: false };
  compareSettings(APP_SETTINGS, 'app', before, after, change);
  compareFields(before.fields, after.fields, undefined, change, before.primaryKey.id, after.primaryKey.id);
  compareTables(before.tables, after.tables, change);
  compareFields(before.system, after.system, undefined, change);
  if (change.rebuild) change.steps.push('rebuild the answers and indexes of all records');
  return change;
}

type Shown<Of> = readonly {
  readonly name: string;
  /** Whether records hold something that depends on the setting. */
  readonly rebuild: boolean;
  of(it: Of): unknown;
}[];

const APP_SETTINGS: Shown<App> = [
  { name: 'name', rebuild: false, of: (app) => app.name },
  { name: 'recordsKey', rebuild: false, of: (app) => app.recordsKey },
  { name: 'state', rebuild: false, of: (app) => app.state },
  { name: 'everyone', rebuild: false, of: (app) => app.everyone },
];

const FIELD_SETTINGS = {
  name: false,
  search: true,
  list: true,
  protected: false,
  shownInForm: false,
  required: false,
  unique: true,
  default: false,
  maxLength: false,
  choices: false,
  numberFormat: true,
  autoNumberFormat: false,
  formula: false,
  fold: true,
} satisfies Record<Exclude<keyof Field, 'id' | 'type'>, boolean>;

const SETTINGS_OF_FIELDS: Shown<Field> = Object.entries(FIELD_SETTINGS).map(([name, rebuild]) => ({
  name: name === 'numberFormat' || name === 'autoNumberFormat' ? 'format' : name,
  rebuild,
  of: (field) => field[name as keyof Field],
}));

function compareSettings<Of>(settings: Shown<Of>, what: string, before: Of, after: Of, change: Change): void {
  for (const { name, rebuild, of } of settings) {
    const [from, to] = [canonical(of(before)), canonical(of(after))];
    if (from === to) continue;
    change.steps.push(`change ${name} of ${what} from ${from} to ${to}`);
    if (rebuild) change.rebuild = true;
  }
}

/** JSON text that does not depend on the order of members. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(members));
}

/** Fields of the form or of one table; the primary key stays the same field when its ID changes. */
function compareFields(
  before: readonly Field[],
  after: readonly Field[],
  table: string | undefined,
  change: Change,
  keyBefore?: string,
  keyAfter?: string,
): void {
  const place = table === undefined ? '' : ` of table ${table}`;
  const idAfter = (field: Field): string | undefined => {
    if (field.id === keyBefore) return keyAfter;
    return field.id === keyAfter ? undefined : field.id;
  };
  const old = new Map<string, Field>();
  for (const field of before) {
    const id = idAfter(field);
    if (id !== undefined && after.some((other) => other.id === id)) old.set(id, field);
    else lose(`field ${field.id}${place} (${field.type})`, change);
  }
  for (const field of after) {
    const previous = old.get(field.id);
    if (previous !== undefined) compareField(previous, field, table, change);
    else rebuilding(`add field ${field.id}${place} (${field.type})`, change);
  }
  compareOrder(
    [...old.keys()],
    after.map((field) => field.id),
    `the fields${place}`,
    change,
  );
}

function compareField(before: Field, after: Field, table: string | undefined, change: Change): void {
  const what = `field ${after.id}${table === undefined ? '' : ` of table ${table}`}`;
  if (before.id !== after.id) rebuilding(`rename the primary key from ${before.id} to ${after.id}`, change);
  if (!isSameType(before, after)) {
    const conversion = { field: after.id, from: before.type, to: after.type };
    change.conversions.push(table === undefined ? conversion : { ...conversion, table });
    rebuilding(`convert the values of ${what} from ${before.type} to ${after.type}`, change);
  }
  compareSettings(SETTINGS_OF_FIELDS, what, before, after, change);
}

function compareTables(before: readonly Table[], after: readonly Table[], change: Change): void {
  const old = new Map(before.map((table) => [table.code, table]));
  const codes = new Set(after.map((table) => table.code));
  for (const table of before) if (!codes.has(table.code)) lose(`table ${table.code} with all of its rows`, change);
  for (const table of after) {
    const previous = old.get(table.code);
    if (previous === undefined) {
      rebuilding(`add table ${table.code} with ${table.fields.map((field) => field.id).join(', ')}`, change);
      continue;
    }
    compareSettings(TABLE_SETTINGS, `table ${table.code}`, previous, table, change);
    compareFields(previous.fields, table.fields, table.code, change);
  }
  const kept = before.filter((table) => codes.has(table.code)).map((table) => table.code);
  compareOrder(
    kept,
    after.map((table) => table.code),
    'the tables',
    change,
  );
}

const TABLE_SETTINGS: Shown<Table> = [{ name: 'name', rebuild: false, of: (table) => table.name }];

/** Whether what both have stands in another order; where new ones stand among them does not matter. */
function compareOrder(kept: readonly string[], after: readonly string[], what: string, change: Change): void {
  const keptSet = new Set(kept);
  const order = after.filter((name) => keptSet.has(name));
  if (order.some((name, index) => name !== kept[index])) rebuilding(`reorder ${what}: ${after.join(', ')}`, change);
}

function lose(what: string, change: Change): void {
  change.losses.push(`${what} is removed with its values`);
  rebuilding(`remove ${what}`, change);
}

function rebuilding(step: string, change: Change): void {
  change.steps.push(step);
  change.rebuild = true;
}
