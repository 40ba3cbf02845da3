// From a request's `param` to a change of one record (spec 4.2, D24-D26); every problem is reported, never only the first.
import { type App, type Field, SYSTEM_FIELDS } from '../app/app.ts';
import type { Problem } from '../errors.ts';
import { typeOf } from '../fields/field-types.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { UpdateMode } from './change.ts';
import type { PartTarget } from './parts.ts';
import { updateRule } from './rules.ts';

/** Entry by which a client says which revision it read (D24). */
export const REVISION = 'pms_revision';

/** What `param` asks for, as far as it can be known without the register. */
export interface ParsedChange {
  readonly primaryKey: string;
  readonly revision: string | null;
  /** Field ID → value to write; without the fields whose value is a file's ID. */
  readonly values: ReadonlyMap<string, string>;
  /** File or image field → the file ID that was sent. */
  readonly named: ReadonlyMap<Field, string>;
}

/** The change `param` asks for; what is wrong with it is added to `problems`. A part wins over the entry of its field (spec 4.2). */
export function parseChange(
  app: App,
  param: JsonObject,
  mode: UpdateMode,
  parts: readonly PartTarget[],
  problems: Problem[],
): ParsedChange {
  const values = new Map<string, string>();
  const named = new Map<Field, string>();
  const inParts = new Set(parts.flatMap(({ field, row }) => (row === null ? field : [])));
  let primaryKey = '';
  for (const field of app.fields) {
    if (inParts.has(field)) continue;
    const entry = param.get(field.id);
    const rule = updateRule(field, app.primaryKey);
    if (entry === undefined) {
      if (rule.absent === 'refuse') problems.push({ code: 'missing_primary_key', at: field.id });
      else if (rule.absent === 'empty' && mode === 'replace') values.set(field.id, '');
      continue;
    }
    if (rule.sent === 'ignore') continue;
    const sent = entryValue(field.id, entry, problems);
    if (sent === null) continue;
    if (rule.sent === 'identify') {
      if (sent === '') problems.push({ code: 'missing_primary_key', at: field.id });
      primaryKey = sent;
    } else if (typeOf(field).holds !== undefined && sent !== '') {
      named.set(field, sent);
    } else {
      const value = parseValue(field, sent, problems);
      if (value !== null) values.set(field.id, value);
    }
  }
  const revision = param.has(REVISION) ? entryValue(REVISION, param.get(REVISION) ?? null, problems) : null;
  const known = namesOf(app);
  for (const id of param.keys()) {
    if (!known.has(id)) problems.push({ code: 'unknown_field', at: id });
  }
  return { primaryKey, revision, values, named };
}

/** The value a field keeps for what was sent; null after adding the problem why it cannot. */
export function parseValue(field: Field, sent: string, problems: Problem[]): string | null {
  if (sent === '') return '';
  const value = typeOf(field).parse(sent, field);
  if (typeof value === 'string') return value;
  problems.push({ ...value, at: field.id, sent: sent.slice(0, 100).toWellFormed() });
  return null;
}

/** The `value` of an entry; null after adding the problem that it has none. */
export function entryValue(id: string, entry: JsonValue, problems: Problem[]): string | null {
  if (!(entry instanceof Map)) {
    problems.push({ code: 'entry_not_object', at: id });
    return null;
  }
  const value = (entry as JsonObject).get('value');
  if (typeof value === 'string') return value;
  problems.push({ code: 'value_not_string', at: id });
  return null;
}

const namesOfApp = new WeakMap<App, ReadonlySet<string>>();

/** What `param` may name: the form's fields; system fields and tables, which are ignored (D24). */
function namesOf(app: App): ReadonlySet<string> {
  const known = namesOfApp.get(app);
  if (known !== undefined) return known;
  const ids = app.fields.map((field) => field.id);
  const names = new Set([...ids, ...app.tables.map((table) => table.code), ...SYSTEM_FIELDS, REVISION]);
  namesOfApp.set(app, names);
  return names;
}
