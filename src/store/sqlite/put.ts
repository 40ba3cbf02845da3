// Puts a derived record in, or over the one with its primary key; keeps the version that it replaces (D29).
import type { Values } from '../../envelope/record.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import type { Connection } from './connection.ts';
import type { Derived, RecordTable } from './record-table.ts';

/** What is written for a record of a load; it can be sent to a thread. */
export interface DerivedRecord {
  readonly primaryKey: string;
  readonly record: Derived;
  /** By table: its rows, or null to keep those that are there. */
  readonly rows: readonly (readonly Derived[] | null)[];
  /** Positions of the values that the source gave; the others are only for a new record. */
  readonly given: readonly number[];
}

// No value holds NUL (D41), so it can part them: one piece of UTF-8 crosses to a thread at a fraction of the cost of its parts.
const PART = '\0';

/** Derived records as one piece of UTF-8; each is packed as it comes, so that little garbage grows old. */
export function packRecords(records: Iterable<DerivedRecord>): Uint8Array<ArrayBuffer> {
  let packed = Buffer.allocUnsafeSlow(1 << 20);
  let end = 0;
  for (const { primaryKey, record, rows, given } of records) {
    const parts = [primaryKey, given.join()];
    pack(record, parts);
    parts.push(String(rows.length));
    for (const tableRows of rows) {
      parts.push(tableRows === null ? '' : String(tableRows.length));
      for (const row of tableRows ?? []) pack(row, parts);
    }
    parts.push('');
    const text = parts.join(PART);
    while (end + 3 * text.length > packed.length) packed = Buffer.concat([packed, packed]);
    end += packed.write(text, end);
  }
  return new Uint8Array(packed.buffer, 0, end);
}

function pack({ answer, tokens, columns }: Derived, parts: string[]): void {
  parts.push(answer, tokens, String(columns.length));
  for (const value of columns) parts.push(value ?? '');
}

/** The records of packRecords. */
export function* unpackRecords(packed: Uint8Array): Generator<DerivedRecord> {
  const parts = Buffer.from(packed.buffer, packed.byteOffset, packed.length).toString().split(PART);
  let at = 0;
  const next = () => parts[at++] as string;
  const derived = (): Derived => {
    const answer = next();
    const tokens = next();
    const columns: (string | null)[] = [];
    for (let left = Number(next()); left > 0; left--) columns.push(next() || null);
    return { answer, tokens, columns };
  };
  while (at < parts.length - 1) {
    const primaryKey = next();
    const given = next();
    const record = derived();
    const rows = Array.from({ length: Number(next()) }, () => {
      const count = next();
      return count === '' ? null : Array.from({ length: Number(count) }, derived);
    });
    yield { primaryKey, given: given === '' ? [] : given.split(',').map(Number), record, rows };
  }
}

/** Whether the record was put in; false where it was there and has been updated. */
export function putDerived(table: RecordTable, derived: DerivedRecord, context: RenderContext): boolean {
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
export function saveCounters(db: Connection, appId: number, counters: ReadonlyMap<string, number>): void {
  if (counters.size === 0) return;
  const write = db.prepare('insert or replace into counters (app_id, name, next) values (?, ?, ?)');
  for (const [name, count] of counters) write.run(appId, name, count);
}
