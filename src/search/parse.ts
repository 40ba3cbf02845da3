// From a request's `param` to conditions (spec 4.1 rules 1-4, D14-D18); every problem is reported, never only the first.
import type { App, Field, Table } from '../app/app.ts';
import type { Problem } from '../errors.ts';
import type { Unreadable } from '../fields/field-type.ts';
import type { JsonObject } from '../json.ts';
import type { Condition, Conditions, TableConditions } from './condition.ts';
import { keywordCondition, readBound } from './methods.ts';

/** The conditions of `param`, or every problem in it. */
export function parseConditions(app: App, param: JsonObject): Conditions | readonly Problem[] {
  const problems: Problem[] = [];
  const names = searchNames(app);
  const form = parseGroup(names.form, names.tables, param, '', problems);
  const sentTables = new Map<string, ReadonlyMap<string, string>>();
  const tables: TableConditions[] = [];
  for (const [code, value] of param) {
    const table = names.tables.get(code);
    if (table === undefined) continue;
    if (!(value instanceof Map)) {
      problems.push({ code: 'conditions_not_object', at: code });
      continue;
    }
    const group = parseGroup(table.fields, null, value, `${code}.`, problems);
    sentTables.set(code, group.sent);
    if (group.conditions.length > 0) tables.push({ table: table.table, conditions: group.conditions });
  }
  if (problems.length > 0) return problems;
  return { form: form.conditions, tables, sent: { form: form.sent, tables: sentTables } };
}

/** A key of the search form: a field, or the upper bound of a range field. */
interface SearchName {
  readonly field: Field;
  readonly side: 'keyword' | 'lower' | 'upper';
}

interface SearchNames {
  readonly form: ReadonlyMap<string, SearchName>;
  readonly tables: ReadonlyMap<string, { readonly table: Table; readonly fields: ReadonlyMap<string, SearchName> }>;
}

const namesOfApp = new WeakMap<App, SearchNames>();

function searchNames(app: App): SearchNames {
  const known = namesOfApp.get(app);
  if (known !== undefined) return known;
  const tables = new Map(app.tables.map((table) => [table.code, { table, fields: fieldNames(table.fields) }]));
  const names = { form: fieldNames([...app.fields, ...app.system]), tables };
  namesOfApp.set(app, names);
  return names;
}

function fieldNames(fields: readonly Field[]): Map<string, SearchName> {
  const names = new Map<string, SearchName>();
  for (const field of fields) {
    if (field.search !== 'range') names.set(field.id, { field, side: 'keyword' });
    else {
      names.set(field.id, { field, side: 'lower' });
      names.set(`${field.id}_to`, { field, side: 'upper' });
    }
  }
  return names;
}

function parseGroup(
  names: ReadonlyMap<string, SearchName>,
  tables: SearchNames['tables'] | null,
  group: JsonObject,
  place: string,
  problems: Problem[],
): { conditions: readonly Condition[]; sent: ReadonlyMap<string, string> } {
  const conditions: Condition[] = [];
  const ranges = new Map<Field, { from: string | null; to: string | null }>();
  const sent = new Map<string, string>();
  for (const [id, value] of group) {
    if (tables?.has(id)) continue;
    const name = names.get(id);
    const at = place + id;
    if (name === undefined) {
      // An object can only be meant for a table; tables hold none themselves.
      problems.push({ code: tables !== null && value instanceof Map ? 'unknown_table_code' : 'unknown_field', at });
    } else if (name.field.search === 'hidden') problems.push({ code: 'field_not_searchable', at });
    else if (typeof value !== 'string') problems.push({ code: 'condition_not_string', at });
    else {
      sent.set(id, value);
      const problem =
        name.side === 'keyword' ? keyword(name.field, value, conditions) : bound(name.field, name.side, value, ranges);
      if (problem !== null) problems.push({ ...problem, at, sent: value.slice(0, 100).toWellFormed() });
    }
  }
  for (const [field, { from, to }] of ranges) conditions.push({ kind: 'between', field, from, to });
  return { conditions, sent };
}

function keyword(field: Field, value: string, conditions: Condition[]): Unreadable | null {
  const condition = keywordCondition(field, value);
  if (condition === null) return null;
  if ('code' in condition) return condition;
  conditions.push(condition);
  return null;
}

function bound(
  field: Field,
  side: 'lower' | 'upper',
  value: string,
  ranges: Map<Field, { from: string | null; to: string | null }>,
): Unreadable | null {
  if (value === '') return null;
  const read = readBound(field, value, side);
  if (typeof read !== 'string') return read;
  const range = ranges.get(field) ?? { from: null, to: null };
  ranges.set(field, side === 'lower' ? { ...range, from: read } : { ...range, to: read });
  return null;
}
