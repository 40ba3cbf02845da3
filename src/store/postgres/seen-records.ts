// Reads what the edits of a transaction need, for many of them at once, and remembers it while it stays as it is.
import type { Values } from '../../envelope/record.ts';
import type { Edit } from '../../update/edit.ts';
import { primaryKeyOf } from '../edited.ts';
import { namedFiles } from '../files.ts';
import type { WholeRecord } from '../versions.ts';
import { type Connection, rowsOf } from './connection.ts';
import type { Run, Seen, Sought, UniqueValue } from './edit-run.ts';
import { useFiles } from './files.ts';
import type { RecordTable } from './record-table.ts';

export interface SeenRecords extends Seen {
  /** Looks for what it has not seen. Records that it finds are locked until the end of the transaction. */
  look(sought: Sought): Promise<void>;
  /** What a run wrote is looked for again. */
  forget(run: Pick<Run, 'touched' | 'touchedValues'>): void;
}

/** For edits that are behind the lock of the app's counters, so that nobody else puts records in or takes them out. */
export async function seenRecords(
  tx: Connection,
  appId: number,
  table: RecordTable,
  edits: readonly Edit[],
): Promise<SeenRecords> {
  const { layout } = table;
  const records = new Map<string, WholeRecord | null>();
  const byPlace = new Map<number, WholeRecord>();
  const places = new Map<string, number | null>();
  const named = new Set(edits.flatMap((edit) => (edit.kind === 'put' ? namedFiles(edit.files) : [])));

  const lookForPlaces = async (sought: ReadonlyMap<string, UniqueValue>): Promise<void> => {
    const unseen = [...sought].filter(([id]) => !places.has(id));
    for (const [fieldId, of] of Map.groupBy(unseen, ([, value]) => value.fieldId)) {
      const values = of.map(([, { value }]) => value);
      const found = await table.placesOf(tx, fieldId, values);
      of.forEach(([id], index) => void places.set(id, found[index] ?? null));
    }
  };
  const keysAt = async (ids: ReadonlySet<string>): Promise<readonly string[]> => {
    const unseen = [...ids].flatMap((id) => places.get(id) ?? []).filter((place) => !byPlace.has(place));
    if (unseen.length === 0) return [];
    return (await table.at(tx, unseen)).map(({ values }) => primaryKeyOf(layout, values));
  };
  const lookForRecords = async (keys: readonly string[]): Promise<void> => {
    const unseen = keys.filter((key) => !records.has(key));
    if (unseen.length === 0) return;
    for (const key of unseen) records.set(key, null);
    for (const record of await wholeRecords(tx, table, unseen)) {
      records.set(primaryKeyOf(layout, record.values), record);
      byPlace.set(record.seq, record);
    }
  };

  return {
    files: await useFiles(tx, appId, [...named]),
    isBeingLoaded: await isBeingLoaded(tx, appId),
    record: (primaryKey) => records.get(primaryKey),
    at: (place) => byPlace.get(place),
    place: (id) => places.get(id),
    async look({ keys, values, holders }) {
      await lookForPlaces(values);
      await lookForRecords([...new Set([...keys, ...(await keysAt(holders))])]);
    },
    forget({ touched, touchedValues }) {
      for (const key of touched) {
        const place = records.get(key)?.seq;
        if (place !== undefined) byPlace.delete(place);
        records.delete(key);
      }
      for (const id of touchedValues) places.delete(id);
    },
  };
}

/** Records by primary key with their rows, locked until the end of the transaction; those that there are, in the order of their places. */
export async function wholeRecords(
  tx: Connection,
  table: RecordTable,
  primaryKeys: readonly string[],
): Promise<readonly WholeRecord[]> {
  const found = await table.findForUpdate(tx, primaryKeys);
  if (found.length === 0) return [];
  const places = found.map(({ seq }) => seq);
  const rows: ReadonlyMap<number, readonly Values[]>[] = await Promise.all(
    table.layout.tables.map((_, index) => table.rows(tx, index, places)),
  );
  return found.map((stored) => ({ ...stored, rows: rows.map((of) => of.get(stored.seq) ?? []) }));
}

/** Whether an import into the app, which was empty, is under way: what is put in beside it would get the same places. */
export async function isBeingLoaded(tx: Connection, appId: number): Promise<boolean> {
  return (await rowsOf(tx, `select 1 from builds where app_id = $1::int and kind = 'import'`, [appId])).length > 0;
}
