// From records of a source to what is written for them: defaults, numbers and system fields filled in (D42).
import type { Field } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import { autoNumberCount, formatAutoNumber } from '../fields/auto-number.ts';
import type { RenderContext } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';
import type { Layout } from '../sql/layout.ts';
import { type Derived, deriver, type StoredRecord } from './derive.ts';
import type { LoadRecord } from './register.ts';

/** What is written for a record of a load. */
export interface DerivedRecord {
  readonly primaryKey: string;
  readonly record: Derived;
  /** By table: its rows, or null to keep those that are there. */
  readonly rows: readonly (readonly Derived[] | null)[];
  /** Positions of the values that the source gave; the others are only for a new record. */
  readonly given: readonly number[];
}

/** What a load makes of a record that is there already: the values that the source gave, the others as they are. */
export function valuesAfter(
  { values: before }: StoredRecord,
  { record, given }: DerivedRecord,
): { values: Values; userId: string; at: string } {
  const values = [...before];
  const [updatingUser, updateTime] = [values.length - 2, values.length - 1];
  for (const position of [...given, updatingUser, updateTime]) values[position] = record.columns[position] ?? '';
  return { values, userId: values[updatingUser] as string, at: values[updateTime] as string };
}

/** How records that `userId` puts in are derived; `counters` gives their numbers. */
export function sourceDeriver(
  layout: Layout,
  userId: string,
  counters: Counters,
  context: RenderContext,
): (record: LoadRecord, at: string) => DerivedRecord {
  const { app } = layout;
  const fields = layout.form.columns.map(({ field }) => field);
  const positions = new Map(fields.map((field, position) => [field.id, position]));
  const keyPosition = positions.get(app.primaryKey.id) as number;
  const defaults = fields.map((field) => field.default);
  const numbered = app.fields.flatMap((field, position) => (isNumbered(field) ? [{ field, position }] : []));
  const derive = deriver(layout, null);
  const tables = layout.tables.map((rows, index) => ({ code: rows.table.code, derive: deriver(layout, index) }));
  const system = app.fields.length;

  return (record, at) => {
    const values = [...defaults];
    const given: number[] = [];
    for (const [id, value] of record.values) {
      const position = positions.get(id) as number;
      values[position] = value;
      if (position !== keyPosition) given.push(position);
    }
    values[keyPosition] = record.primaryKey ?? String(counters.take(PRIMARY_KEY));
    if (record.primaryKey !== null && WHOLE.test(record.primaryKey)) {
      counters.passed(PRIMARY_KEY, Number(record.primaryKey));
    }
    for (const { field, position } of numbered) number(field, position, values, at, counters);
    values[system] = userId;
    values[system + 1] = at;
    values[system + 2] = userId;
    values[system + 3] = at;
    const rows = tables.map(({ code, derive: deriveRow }) => {
      return record.tables.get(code)?.map((row) => deriveRow(row, context)) ?? null;
    });
    return { record: derive(values, context), rows, primaryKey: values[keyPosition], given };
  };
}

/** Primary keys that the counter of primary keys has to pass. */
export const WHOLE = /^[1-9]\d{0,14}$/;

function isNumbered(field: Field): boolean {
  return typeOf(field).filledBy === 'server';
}

/** Gives an auto number where the record brings none; counts on behind one that it brings. */
function number(field: Field, position: number, values: string[], at: string, counters: Counters): void {
  const value = values[position];
  if (!value) values[position] = formatAutoNumber(field, counters.take(field.id), at.slice(0, 10));
  else {
    const count = autoNumberCount(field, value);
    if (count !== null) counters.passed(field.id, count);
  }
}

/** Name of the counter of primary keys (D42); no field ID is empty. */
export const PRIMARY_KEY = '';

export interface Counters {
  take(name: string): number;
  passed(name: string, count: number): void;
  /** What changed since the last call; it is for the caller to save, in the transaction that ends then: others may count before the next. */
  changed(): ReadonlyMap<string, number>;
  /** What it gives takes back all that was counted since. */
  mark(): () => void;
}

/** Counters of an app; `read` gives the next number of one that has counted before, when it is first asked for. */
export function countersFrom(read: (name: string) => number | undefined): Counters {
  let known = new Map<string, number>();
  let changed = new Map<string, number>();
  const next = (name: string) => {
    let count = known.get(name);
    if (count === undefined) {
      count = read(name) ?? 1;
      known.set(name, count);
    }
    return count;
  };
  const set = (name: string, count: number) => {
    known.set(name, count);
    changed.set(name, count);
  };
  return {
    take(name) {
      const count = next(name);
      set(name, count + 1);
      return count;
    },
    passed(name, count) {
      if (count >= next(name)) set(name, count + 1);
    },
    changed() {
      const result = changed;
      changed = new Map();
      known = new Map();
      return result;
    },
    mark() {
      const [knownThen, changedThen] = [new Map(known), new Map(changed)];
      return () => {
        known = knownThen;
        changed = changedThen;
      };
    },
  };
}
