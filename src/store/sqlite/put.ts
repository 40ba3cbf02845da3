// Puts records of a load in, or over those with their primary keys; keeps the versions that it replaces (D29).
import type { Values } from '../../envelope/record.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { uniqueKey } from '../../sql/layout.ts';
import { now } from '../clock.ts';
import type { StoredRecord } from '../derive.ts';
import { refuseLate } from '../files.ts';
import type { Loaded, LoadRecord } from '../register.ts';
import { countersFrom, type DerivedRecord, sourceDeriver, valuesAfter } from '../source-records.ts';
import type { RegisteredApp } from '../store.ts';
import { refuseClash } from '../unique.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, isTaken } from './connection.ts';
import { saveCounters } from './counters.ts';
import { fileTable } from './files.ts';
import type { RecordTable } from './record-table.ts';

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
  const read = db.prepare('select next from counters where app_id = ? and name = ?').pluck();
  const counters = countersFrom((name) => read.get(registered.id, name) as number | undefined);
  const files = fileTable(db);
  const catalog = catalogReader(db);
  let { users } = catalog.current();
  const context = { userName: (id: string) => users.get(id)?.name ?? '' };
  const derive = sourceDeriver(table.layout, userId, counters, context);
  return {
    put(records) {
      const at = now();
      // Names may have changed since the batch before.
      users = catalog.current().users;
      let inserted = 0;
      let place = table.nextPlace();
      for (const record of records) {
        if (record.files !== undefined) {
          refuseLate(record.files);
          files.add(registered.id, record.files);
        }
        if (putDerived(table, derive(record, at), place, context)) {
          inserted++;
          place++;
        }
      }
      table.settle();
      return { inserted, updated: records.length - inserted };
    },
    saveCounters: () => saveCounters(db, registered.id, counters.changed()),
  };
}

/** Whether the record was put in; false where it was there and has been updated. */
function putDerived(table: RecordTable, derived: DerivedRecord, place: number, context: RenderContext): boolean {
  let seq: number;
  try {
    seq = table.insert(derived.record, 1, place);
  } catch (error) {
    // The primary key is there already, or a value of a unique field.
    if (!isTaken(error)) throw error;
    const stored = table.find(derived.primaryKey);
    if (stored === null) refuseClash(derived, table.layout, takenField(table, error));
    updateDerived(table, derived, stored, context);
    return false;
  }
  for (let index = 0; index < derived.rows.length; index++) {
    const rows = derived.rows[index] as DerivedRecord['rows'][number];
    if (rows !== null && rows.length > 0) table.putRows(index, seq, rows, true);
  }
  return true;
}

/** The unique field of an error: it names the column. */
function takenField({ layout: { form } }: RecordTable, error: unknown): string | null {
  const { message } = error as Error;
  const column = form.columns.find((candidate) => {
    return candidate.unique !== null && message.endsWith(`${form.name}.${uniqueKey(candidate, '').name}`);
  });
  return column?.field.id ?? null;
}

function updateDerived(table: RecordTable, derived: DerivedRecord, stored: StoredRecord, context: RenderContext): void {
  const { rows } = derived;
  const { values, userId, at } = valuesAfter(stored, derived);
  const before = new Map<string, readonly Values[]>();
  for (let index = 0; index < rows.length; index++) {
    const code = table.layout.tables[index]?.table.code as string;
    if (rows[index] !== null) before.set(code, table.rows(index, stored.seq));
  }
  table.keepVersion(stored, userId, at, before);
  try {
    table.update(stored, values, stored.revision + 1, context);
  } catch (error) {
    if (isTaken(error)) refuseClash(derived, table.layout, takenField(table, error));
    throw error;
  }
  for (let index = 0; index < rows.length; index++) {
    const replaced = rows[index] as DerivedRecord['rows'][number];
    if (replaced !== null) table.putRows(index, stored.seq, replaced);
  }
}
