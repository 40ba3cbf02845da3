// Puts records of a load in, or over those with their primary keys; keeps the versions that it replaces (D29).
import type { Values } from '../../envelope/record.ts';
import { uniqueKey } from '../../sql/layout.ts';
import { now } from '../clock.ts';
import { deriver, type StoredRecord } from '../derive.ts';
import { refuseLate } from '../files.ts';
import type { Loaded, LoadRecord } from '../register.ts';
import { type DerivedRecord, sourceDeriver, valuesAfter } from '../source-records.ts';
import type { RegisteredApp } from '../store.ts';
import { refuseClash } from '../unique.ts';
import { versionText } from '../versions.ts';
import { currentNames } from './build.ts';
import type { Connection } from './connection.ts';
import { lockCounters, saveCounters, takeNumbers } from './counters.ts';
import { addFiles } from './files.ts';
import type { RecordTable, WrittenRows } from './record-table.ts';

/** Puts records of a load into one generation of an app, in a transaction. */
export async function putRecords(
  tx: Connection,
  schema: string,
  { id: appId }: RegisteredApp,
  table: RecordTable,
  userId: string,
  records: readonly LoadRecord[],
): Promise<Loaded> {
  const files = records.flatMap((record) => record.files ?? []);
  refuseLate(files);
  await addFiles(tx, schema, appId, files);
  const counters = await lockCounters(tx, appId);
  const context = await currentNames(tx, ' for share');
  const derive = sourceDeriver(table.layout, userId, counters, context);
  const at = now();
  let inserted = 0;
  // A record that comes twice is put in first and updated then.
  for (const some of withoutRepeats(records.map((record) => derive(record, at)))) {
    const { layout } = table;
    const keyPosition = layout.form.columns.findIndex(({ field }) => field === layout.app.primaryKey);
    const found = await table.findForUpdate(
      tx,
      some.map(({ primaryKey }) => primaryKey),
    );
    const stored = new Map(found.map((record) => [record.values[keyPosition] as string, record]));
    const fresh = some.filter(({ primaryKey }) => !stored.has(primaryKey));
    await refuseTaken(tx, table, some, stored);
    await insertFresh(tx, appId, table, fresh);
    const known = some.flatMap((derived) => {
      const record = stored.get(derived.primaryKey);
      return record === undefined ? [] : [{ derived, record }];
    });
    await updateKnown(tx, appId, table, known, (values) => deriver(layout, null)(values, context));
    inserted += fresh.length;
  }
  await saveCounters(tx, appId, counters.changed());
  return { inserted, updated: records.length - inserted };
}

/** Refuses records with values of unique fields that other records have, in the batch or before it. */
async function refuseTaken(
  tx: Connection,
  { layout, placeOf }: RecordTable,
  records: readonly DerivedRecord[],
  stored: ReadonlyMap<string, StoredRecord>,
): Promise<void> {
  for (const [position, column] of layout.form.columns.entries()) {
    if (column.unique === null) continue;
    const seen = new Set<string>();
    for (const derived of records) {
      const value = derived.record.columns[position] ?? '';
      const known = stored.get(derived.primaryKey);
      // What the load does not give keeps its value.
      if (value === '' || (known !== undefined && !derived.given.includes(position))) continue;
      const { value: key } = uniqueKey(column, value);
      const place = await placeOf(tx, column.field.id, value);
      if (seen.has(key) || (place !== null && place !== known?.seq)) refuseClash(derived, layout, column.field.id);
      seen.add(key);
    }
  }
}

function withoutRepeats(records: readonly DerivedRecord[]): readonly (readonly DerivedRecord[])[] {
  const parts: DerivedRecord[][] = [];
  let keys = new Set<string>();
  for (const record of records) {
    if (parts.length === 0 || keys.has(record.primaryKey)) {
      parts.push([]);
      keys = new Set();
    }
    keys.add(record.primaryKey);
    parts.at(-1)?.push(record);
  }
  return parts;
}

async function insertFresh(
  tx: Connection,
  appId: number,
  table: RecordTable,
  records: readonly DerivedRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const first = await takeNumbers(tx, appId, 'place', records.length);
  await table.insert(
    tx,
    records.map(({ record }, index) => ({ seq: first + index, revision: 1, derived: record })),
  );
  await putRows(
    tx,
    appId,
    table,
    records.map(({ rows }, index) => ({ seq: first + index, rows })),
  );
}

interface Known {
  readonly derived: DerivedRecord;
  readonly record: StoredRecord;
}

async function updateKnown(
  tx: Connection,
  appId: number,
  table: RecordTable,
  known: readonly Known[],
  derive: (values: Values) => ReturnType<ReturnType<typeof deriver>>,
): Promise<void> {
  if (known.length === 0) return;
  const { layout } = table;
  const before = await Promise.all(
    layout.tables.map((_, index) => {
      const places = known.flatMap(({ derived, record }) => (derived.rows[index] === null ? [] : [record.seq]));
      return places.length === 0 ? new Map<number, readonly Values[]>() : table.rows(tx, index, places);
    }),
  );
  const versions = known.map(({ derived, record }) => {
    const { userId, at } = valuesAfter(record, derived);
    const tables = layout.tables.flatMap(({ table: { code } }, index) =>
      derived.rows[index] === null ? [] : [[code, before[index]?.get(record.seq) ?? []] as const],
    );
    const version = versionText(layout, record, new Map(tables));
    return { seq: record.seq, revision: record.revision, userId, at, version };
  });
  await table.keepVersions(tx, versions);
  const written = known.map(({ derived, record: { seq, revision, values } }) => ({
    seq,
    revision: revision + 1,
    derived: derive(valuesAfter({ seq, revision, values }, derived).values),
  }));
  await table.update(tx, written, new Set(written.map(({ seq }) => seq)));
  for (let index = 0; index < layout.tables.length; index++) {
    const places = known.flatMap(({ derived, record }) => (derived.rows[index] === null ? [] : [record.seq]));
    if (places.length > 0) await table.removeRows(tx, index, places);
  }
  await putRows(
    tx,
    appId,
    table,
    known.map(({ derived, record }) => ({ seq: record.seq, rows: derived.rows })),
  );
}

/** Rows of a record as they are derived, by table; null for a table whose rows stay. */
export interface RowsOfRecord {
  readonly seq: number;
  readonly rows: DerivedRecord['rows'];
}

/** Puts the rows of records in that have none. */
export async function putRows(
  tx: Connection,
  appId: number,
  table: RecordTable,
  records: readonly RowsOfRecord[],
): Promise<void> {
  for (let index = 0; index < table.layout.tables.length; index++) {
    const count = records.reduce((sum, { rows }) => sum + (rows[index]?.length ?? 0), 0);
    if (count === 0) continue;
    let id = await takeNumbers(tx, appId, 'row', count);
    const written: WrittenRows[] = records.flatMap(({ seq, rows }) => {
      const derived = rows[index] ?? [];
      return derived.length === 0 ? [] : [{ seq, rows: derived.map((row) => ({ id: id++, derived: row })) }];
    });
    await table.insertRows(tx, index, written);
  }
}
