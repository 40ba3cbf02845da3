// The definition of an app, as a plain tree → App, or every problem found in it.
import { APP_STATES, type App, type Field, plainField, SYSTEM_FIELDS, type Table } from './app.ts';
import { type DefinedField, defineField, readSearch } from './define-field.ts';
import { reportFormulas } from './define-formulas.ts';
import { defineName } from './define-name.ts';
import { type DefinedTable, reportClashes } from './definition-clashes.ts';
import {
  type DefinitionProblem,
  label,
  openSection,
  readBoolean,
  readList,
  readWord,
  report,
  type Section,
  subsection,
} from './definition-section.ts';
import { RESERVED_FOR_APP_CODE, readIdentifier } from './identifier.ts';

export type { DefinitionProblem } from './definition-section.ts';

/** Greatest number of fields in the form, and in each table. */
export const MAX_FIELDS = 900;
/** Greatest number of tables in an app. */
export const MAX_TABLES = 100;

const KEYS = ['code', 'name', 'recordsKey', 'state', 'fold', 'everyone', 'fields', 'tables', 'system'] as const;
const TABLE_KEYS = ['code', 'name', 'fields'] as const;

/** Reads a tree whose maps are `Map`s with string keys, so that no key has a meaning of its own. */
export function define(tree: unknown): { app: App } | { problems: readonly DefinitionProblem[] } {
  const problems: DefinitionProblem[] = [];
  const top = openSection(tree, { path: [], where: '', problems }, KEYS);
  if (top === undefined) return { problems };
  const app = defineApp(top);
  return app === undefined || problems.length > 0 ? { problems } : { app };
}

function defineApp(top: Section): App | undefined {
  const code = readIdentifier(top, 'code', RESERVED_FOR_APP_CODE);
  const fold = readBoolean(top, 'fold') ?? false;
  const rest = {
    name: defineName(top),
    recordsKey: top.map.has('recordsKey') ? readIdentifier(top, 'recordsKey') : code,
    state: readWord(top, 'state', APP_STATES) ?? 'production',
    everyone: readBoolean(top, 'everyone') ?? false,
  };
  const defined = defineFields(top, fold);
  const tables = defineTables(top, fold);
  const system = defineSystem(top, fold);
  if (Array.isArray(top.map.get('fields'))) reportClashes(top, defined, tables);
  reportFormulas(defined, tables);
  const fields = readable(defined);
  const primaryKey = defined.find((field) => field.settings?.primaryKey)?.field;
  const { recordsKey } = rest;
  if (code === undefined || recordsKey === undefined || primaryKey === undefined) return undefined;
  return { ...rest, code, recordsKey, fields, primaryKey, tables: tables.map(asTable), system };
}

function defineFields(section: Section, fold: boolean): DefinedField[] {
  if (!section.map.has('fields')) report(section, 'fields', 'missing; expected a list of fields');
  const defined: DefinedField[] = [];
  for (const [index, value] of readList(section, 'fields', MAX_FIELDS).entries()) {
    const where = label(section.where, `fields[${index}]${nameOf(value, 'id')}`);
    const place = { path: [...section.path, 'fields', index], where, problems: section.problems };
    const field = defineField(value, place, fold);
    if (field !== undefined) defined.push(field);
  }
  return defined;
}

function defineTables(top: Section, fold: boolean): DefinedTable[] {
  const tables: DefinedTable[] = [];
  for (const [index, value] of readList(top, 'tables', MAX_TABLES).entries()) {
    const where = `tables[${index}]${nameOf(value, 'code')}`;
    const section = openSection(value, { path: ['tables', index], where, problems: top.problems }, TABLE_KEYS);
    if (section === undefined) continue;
    const fields = section.map.get('fields');
    if (Array.isArray(fields) && fields.length === 0) report(section, 'fields', 'empty; expected at least one field');
    tables.push({
      section,
      code: readIdentifier(section, 'code'),
      name: defineName(section),
      fields: defineFields(section, fold),
    });
  }
  return tables;
}

/** The four system fields; only their search can be set. */
function defineSystem(top: Section, fold: boolean): readonly Field[] {
  const system = subsection(top, 'system', SYSTEM_FIELDS);
  return SYSTEM_FIELDS.map((id) => {
    const field = { ...plainField(id, id), fold };
    const settings = system === undefined ? undefined : subsection(system, id, ['search']);
    return settings === undefined ? field : { ...field, search: readSearch(settings, field) ?? field.search };
  });
}

function asTable({ code, name, fields }: DefinedTable): Table {
  return { code: code ?? '', name, fields: readable(fields) };
}

function readable(defined: readonly DefinedField[]): Field[] {
  return defined.map(({ field }) => field).filter((field) => field !== undefined);
}

/** ` <identifier>` of a field or table, for messages; '' when it has none that can be shown. */
function nameOf(value: unknown, key: 'id' | 'code'): string {
  const name = value instanceof Map ? value.get(key) : undefined;
  return typeof name === 'string' && /^[\w-]{1,64}$/.test(name) ? ` ${name}` : '';
}
