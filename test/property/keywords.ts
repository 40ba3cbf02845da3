// From planned conditions to the `param` of a search: keywords taken from the values that some record has.
import assert from 'node:assert/strict';
import { type JsonObject, parseJson } from '../../src/json.ts';
import type { PlainCondition } from './plain-filter.ts';
import type { AppPlan, ConditionPlan, FieldPlan, Pick } from './search-plans.ts';

export type Param = Map<string, string | Map<string, string>>;
/** Conditions on the form, or on one table; `position` is that of the field in it. */
export type PlainGroup = { readonly condition: PlainCondition; readonly position: number }[];

/** The value that a keyword is taken from; `table` is -1 for the form. */
export type ValueAt = (pick: Pick, position: number, table: number) => string;

/** `param` for the conditions, and what they say; `others` are keywords that come from no record. */
export function conditionsOf(
  plan: AppPlan,
  conditions: readonly ConditionPlan[],
  others: readonly string[],
  valueAt: ValueAt,
): { param: Param; form: PlainGroup; tables: PlainGroup[] } {
  const param: Param = new Map();
  const form: PlainGroup = [];
  const tables = plan.tables.map((): PlainGroup => []);
  const searchable = [
    ...[...plan.fields, ...plan.system].map((field, position) => ({ field, position, table: -1 })),
    ...plan.tables.flatMap(({ fields }, table) => fields.map((field, position) => ({ field, position, table }))),
  ].filter(({ field }) => field.search !== 'hidden');
  for (const condition of conditions) {
    const chosen = searchable[condition.field % Math.max(1, searchable.length)];
    if (chosen === undefined) continue;
    const { field, position, table } = chosen;
    const group = table < 0 ? form : (tables[table] as PlainGroup);
    if (group.some((other) => other.position === position)) continue;
    const values = (pick: Pick) => valueAt(pick, position, table);
    const [keyword, upper] = keywordsOf(field, condition.picks, values, others);
    group.push({ condition: { field: { ...field, fold: folds(field) }, keyword, upper }, position });
    const target = table < 0 ? param : nested(param, plan.tables[table]?.code as string);
    if (keyword !== '') target.set(field.id, keyword);
    if (upper !== '') target.set(`${field.id}_to`, upper);
  }
  return { param, form, tables };
}

/** System fields have no folding of their own in these definitions. */
function folds(field: FieldPlan): boolean {
  return field.fold && !field.id.startsWith('pms_');
}

function nested(param: Param, code: string): Map<string, string> {
  const group = (param.get(code) as Map<string, string> | undefined) ?? new Map<string, string>();
  param.set(code, group);
  return group;
}

function keywordsOf(
  { type, search }: FieldPlan,
  picks: readonly Pick[],
  valueAt: (pick: Pick) => string,
  others: readonly string[],
): [string, string] {
  const [first, second] = picks as [Pick, Pick?];
  if (search === 'range') {
    const bound = (pick: Pick | undefined) => (pick === undefined ? '' : boundOf(type, valueAt(pick), pick));
    return first.change === 9 ? ['', bound(first)] : [bound(first), bound(second)];
  }
  if (search === 'any_of') {
    const words = picks.map((pick) => partOf(valueAt(pick), pick, type, others));
    return [words.join(first.change === 0 ? ' ,' : ','), ''];
  }
  if (/^(number|date|time|datetime|pms_.*ymd)$/.test(type)) return [boundOf(type, valueAt(first), first), ''];
  const value = valueAt(first);
  const points = [...value];
  // Of a long text, as often as not, nearly all.
  const count = points.length > 100 && first.start > 10 ? points.length - (first.length % 4) : 1 + (first.length % 4);
  if (search === 'exact') return [first.change < 8 ? value : partOf(value, first, type, others), ''];
  if (search === 'prefix') return [points.slice(0, count).join('') || other(first, others), ''];
  if (search === 'suffix') return [points.slice(-count).join('') || other(first, others), ''];
  return [partOf(value, first, type, others), ''];
}

function partOf(value: string, pick: Pick, type: string, others: readonly string[]): string {
  const points = [...value];
  const start = pick.start % Math.max(1, points.length);
  let part = points.slice(start, start + 1 + (pick.length % 3 === 0 ? pick.length : pick.length % 3)).join('');
  const choices = value.split(',');
  if (/^(dropdown|checkbox|radio|list|pms_.*usr)$/.test(type) && pick.change > 2)
    part = choices[pick.start % choices.length] ?? '';
  if (part === '' || pick.change === 0) return other(pick, others);
  if (pick.change === 1) return part.toUpperCase();
  if (pick.change === 2) return part.normalize('NFKC');
  return part;
}

function other({ other: at }: Pick, others: readonly string[]): string {
  return others[at % others.length] ?? '';
}

/** A bound taken from a value, written in one of the ways it may be sent. */
function boundOf(type: string, value: string, { change, other: at }: Pick): string {
  if (value === '') return BOUNDS[type.replace(/^pms_.*/, 'datetime')]?.[at % 3] ?? `A-${at}`;
  if (type === 'number') {
    if (change === 1 && !value.startsWith('-')) return `+${value}`;
    if (change === 2 && value.length < 20) return value.includes('.') ? `${value}0` : `${value}.0`;
    if (change === 3) return value.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ',');
    return change === 4 ? value.slice(0, 2).replace(/^-$/, '0').replace(/\.$/, '') : value;
  }
  if (change === 1) return value.replaceAll('-', type === 'auto_number' ? '-' : '/');
  if (type === 'time') return change === 2 ? value.slice(0, 5) : value;
  if (type === 'datetime' || type.startsWith('pms_')) {
    if (change === 2) return value.slice(0, 16);
    if (change === 3) return value.replace(' ', 'T');
    if (change > 6) return value.slice(0, 10);
  }
  if (type === 'auto_number' && change > 5) return [...value].slice(0, 1 + (at % 3)).join('');
  return value;
}

const BOUNDS: { readonly [type: string]: readonly string[] } = {
  number: ['0', '1,000', '-5.5'],
  date: ['2024-02-29', '2024/01/15', '0001-01-01'],
  time: ['12:00', '00:00:00', '23:59:59'],
  datetime: ['2024-02-15', '2024/02/15 09:30', '2024-12-31T23:59:59'],
};

/** JSON text of a map, so that no key has a meaning of its own. */
export function textOf(map: ReadonlyMap<string, unknown>): string {
  const members = [...map].map(
    ([key, value]) => `${JSON.stringify(key)}:${value instanceof Map ? textOf(value) : JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

export function objectOf(entries: readonly (readonly [string, unknown])[]): JsonObject {
  const parsed = parseJson(textOf(new Map(entries)));
  assert.ok('value' in parsed);
  return parsed.value as JsonObject;
}
