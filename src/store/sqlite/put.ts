// Puts records of a load in, or over those with their primary keys; keeps the versions that it replaces (D29).
import type { Field } from '../../app/app.ts';
import type { Values } from '../../envelope/record.ts';
import { autoNumberCount, formatAutoNumber } from '../../fields/auto-number.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { typeOf } from '../../fields/field-types.ts';
import type { Layout } from '../../sql/layout.ts';
import type { Loaded, LoadRecord } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { currentNames } from './build.ts';
import { now } from './clock.ts';
import type { Connection } from './connection.ts';
import { type Derived, deriver, type RecordTable } from './record-table.ts';

/** Puts records of a load in. */
export interface RecordPutter {
  put(records: readonly LoadRecord[]): Loaded;
  /** Before each commit; not more often, since its savepoint makes the pair index write to disk. */
  saveCounters(): void;
}

/** A putter into one generation of an app. */
export function recordPutter(
  db: Connection,
  registered: RegisteredApp,
  table: RecordTable,
  userId: string,
): RecordPutter {
  const deriving = recordDeriver(db, registered, table.layout, userId);
  return {
    put(records) {
      const at = now();
      let inserted = 0;
      for (const record of records) if (putDerived(table, deriving.derive(record, at), deriving.context)) inserted++;
      table.settle();
      return { inserted, updated: records.length - inserted };
    },
    saveCounters: () => saveCounters(db, registered.id, deriving.changedCounters()),
  };
}

interface RecordDeriver {
  readonly context: RenderContext;
  derive(record: LoadRecord, at: string): DerivedRecord;
  /** Counters that changed since they were last asked for: name → next number. */
  changedCounters(): ReadonlyMap<string, number>;
}

/** From records of a source to what is written for them: defaults, numbers and system fields filled in. */
function recordDeriver(db: Connection, registered: RegisteredApp, layout: Layout, userId: string): RecordDeriver {
  const { app, id: appId } = registered;
  const fields = layout.form.columns.map(({ field }) => field);
  const positions = new Map(fields.map((field, position) => [field.id, position]));
  const keyPosition = positions.get(app.primaryKey.id) as number;
  const defaults = fields.map((field) => field.default);
  const numbered = app.fields.flatMap((field, position) => (isNumbered(field) ? [{ field, position }] : []));
  const counters = counterTable(db, appId);
  const context = currentNames(db);
  const derive = deriver(layout, null);
  const tables = layout.tables.map((rows, index) => ({ code: rows.table.code, derive: deriver(layout, index) }));
  const system = app.fields.length;

  return {
    context,
    derive(record, at) {
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
    },
    changedCounters: () => counters.changed(),
  };
}

/** Primary keys that the counter of primary keys has to pass. */
const WHOLE = /^[1-9]\d{0,14}$/;

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
const PRIMARY_KEY = '';

interface Counters {
  take(name: string): number;
  passed(name: string, count: number): void;
  /** What changed since the last call; it is for the caller to save. */
  changed(): ReadonlyMap<string, number>;
}

/** The next numbers of an app: read when first asked for, then counted here. */
function counterTable(db: Connection, appId: number): Counters {
  const read = db.prepare('select next from counters where app_id = ? and name = ?').pluck();
  const known = new Map<string, number>();
  let changed = new Map<string, number>();
  const next = (name: string) => {
    let count = known.get(name);
    if (count === undefined) {
      count = (read.get(appId, name) as number | undefined) ?? 1;
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
      return result;
    },
  };
}

/** What is written for a record of a load. */
interface DerivedRecord {
  readonly primaryKey: string;
  readonly record: Derived;
  /** By table: its rows, or null to keep those that are there. */
  readonly rows: readonly (readonly Derived[] | null)[];
  /** Positions of the values that the source gave; the others are only for a new record. */
  readonly given: readonly number[];
}

/** Whether the record was put in; false where it was there and has been updated. */
function putDerived(table: RecordTable, derived: DerivedRecord, context: RenderContext): boolean {
  let seq: number;
  try {
    seq = table.insert(derived.record, 1);
  } catch (error) {
    // The primary key is there already.
    if ((error as { code?: string }).code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
    updateDerived(table, derived, context);
    return false;
  }
  for (let index = 0; index < derived.rows.length; index++) {
    const rows = derived.rows[index] as readonly Derived[] | null;
    if (rows !== null && rows.length > 0) table.putRows(index, seq, rows, true);
  }
  return true;
}

function updateDerived(
  table: RecordTable,
  { primaryKey, record, rows, given }: DerivedRecord,
  context: RenderContext,
): void {
  const stored = table.find(primaryKey);
  if (stored === null) throw new Error(`record ${primaryKey} can neither be put in nor found`);
  const values = [...stored.values];
  const system = values.length - 4;
  for (const position of [...given, system + 2, system + 3]) values[position] = record.columns[position] ?? '';
  const before = new Map<string, readonly Values[]>();
  for (let index = 0; index < rows.length; index++) {
    const code = table.layout.tables[index]?.table.code as string;
    if (rows[index] !== null) before.set(code, table.rows(index, stored.seq));
  }
  table.keepVersion(stored, values[system + 2] as string, values[system + 3] as string, before);
  table.update(stored, values, stored.revision + 1, context);
  for (let index = 0; index < rows.length; index++) {
    const replaced = rows[index] as readonly Derived[] | null;
    if (replaced !== null) table.putRows(index, stored.seq, replaced);
  }
}

/** Writes counters, in the transaction of the records that they were counted for. */
function saveCounters(db: Connection, appId: number, counters: ReadonlyMap<string, number>): void {
  if (counters.size === 0) return;
  const write = db.prepare('insert or replace into counters (app_id, name, next) values (?, ?, ?)');
  for (const [name, count] of counters) write.run(appId, name, count);
}
