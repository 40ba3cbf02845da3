// Applies an edit to a record, in a transaction of its own (D39): finds the record, has decided what it becomes, writes that.
import { recordRenderer, type Values } from '../../envelope/record.ts';
import type { Problem } from '../../errors.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { type Column, layoutOf, uniqueKey } from '../../sql/layout.ts';
import type { NewFile } from '../../update/change.ts';
import type { Put } from '../../update/edit.ts';
import type { EditJob } from '../changed.ts';
import { now } from '../clock.ts';
import { deriver } from '../derive.ts';
import {
  type EditContext,
  type Edited,
  editorOf,
  notUnique,
  primaryKeyOf,
  recordExists,
  refuseDelete,
  uniqueChanges,
} from '../edited.ts';
import { namedFiles } from '../files.ts';
import { type RegisteredApp, Unavailable, type Written } from '../store.ts';
import { rowsByCode, versionText, type WholeRecord } from '../versions.ts';
import type { Told } from '../webhooks.ts';
import type { VersionedCatalog } from './catalog.ts';
import { noteChanges } from './changes.ts';
import type { Connection } from './connection.ts';
import { lockCounters, saveCounters, takeNumbers } from './counters.ts';
import { addFiles, useFiles } from './files.ts';
import { type RecordTable, recordTable, type WrittenRows } from './record-table.ts';
import { isBeingLoaded, wholeRecords } from './seen-records.ts';
import { tellAll } from './tell.ts';

/** What edits of an app need; made once for a layout. */
export interface RecordEditor {
  /** In a transaction that is past the app's gate, and whose catalog is the one given. */
  run(tx: Connection, schema: string, job: EditJob, catalog: VersionedCatalog): Promise<Written>;
}

export function recordEditor({ app, id, generation, distributed, webhooks }: RegisteredApp): RecordEditor {
  const layout = layoutOf(app, id, generation, distributed);
  const table = recordTable(layout);
  const editor = editorOf(layout);
  const derive = deriver(layout, null);
  const deriveRow = layout.tables.map((_, index) => deriver(layout, index));
  const renderFull = recordRenderer(app).full;

  const foundBy = (tx: Connection, { key }: Put): Promise<WholeRecord | null> => {
    if (key === null) return Promise.resolve(null);
    return key.fieldId === app.primaryKey.id ? find(tx, table, key.value) : findUnique(tx, table, key);
  };

  return {
    async run(tx, schema, { edit, userId }, catalog) {
      const render: RenderContext = { userName: (user) => catalog.users.get(user)?.name ?? '' };
      const at = now();
      const counters = await lockCounters(tx, id);
      const context: EditContext = { userId, at, counters, knownFiles: new Set() };
      const note = async (seq: number) => {
        if (catalog.building.has(id)) await noteChanges(tx, id, [seq]);
      };
      const tell = async (told: Pick<Told, 'event' | 'seq' | 'revision' | 'primaryKey'>) => {
        if (webhooks.length > 0) await tellAll(tx, schema, { id, webhooks }, [{ ...told, userId, at }]);
      };
      const putRows = async (seq: number, index: number, rows: readonly Values[], isFresh: boolean) => {
        if (!isFresh) await table.removeRows(tx, index, [seq]);
        if (rows.length === 0) return;
        let rowId = await takeNumbers(tx, id, 'row', rows.length);
        const derive = deriveRow[index] as (typeof deriveRow)[number];
        const written: WrittenRows = { seq, rows: rows.map((row) => ({ id: rowId++, derived: derive(row, render) })) };
        await table.insertRows(tx, index, [written]);
      };
      const write = async (
        stored: WholeRecord | null,
        place: number | null,
        revision: number,
        { values, rows, faults }: Edited,
        added: readonly NewFile[] = [],
      ): Promise<Written> => {
        const problems: Problem[] = [];
        for (const change of uniqueChanges(layout, stored?.values ?? null, values)) {
          if ((await table.placeOf(tx, change.fieldId, change.value)) !== null) {
            problems.push(notUnique(change.fieldId, change.value));
          }
        }
        const isNew = stored === null;
        if (isNew && (await find(tx, table, primaryKeyOf(layout, values))) !== null)
          problems.push(recordExists(layout, values));
        if (isNew && (await isBeingLoaded(tx, id))) problems.push({ code: 'being_loaded' });
        if (problems.length > 0) return { kind: 'refused', problems };
        await addFiles(tx, schema, id, added);
        const seq = stored?.seq ?? place ?? (await takeNumbers(tx, id, 'place', 1));
        const written = { seq, revision, derived: derive(values, render) };
        if (isNew) await table.insert(tx, [written]);
        else {
          const version = versionText(
            layout,
            stored,
            rowsByCode(layout, stored, (index) => rows[index] !== null),
          );
          await table.keepVersions(tx, [{ seq, revision: stored.revision, userId, at, version }]);
          await table.update(tx, [written], new Set([seq]));
        }
        for (const [index, of] of rows.entries()) if (of !== null) await putRows(seq, index, of, isNew);
        await note(seq);
        const primaryKey = primaryKeyOf(layout, values);
        await tell({ event: isNew ? 'insert' : 'update', seq, revision, primaryKey });
        await saveCounters(tx, id, counters.changed());
        return { kind: 'updated', entries: renderFull(values, render), revision, faults };
      };

      switch (edit.kind) {
        case 'put': {
          const stored = await foundBy(tx, edit);
          const knownFiles = await useFiles(tx, id, namedFiles(edit.files));
          const edited = editor.put(stored, edit, { ...context, knownFiles });
          if (edited.kind !== 'edited') return edited;
          return write(stored, null, (stored?.revision ?? 0) + 1, edited, edit.files?.added);
        }
        case 'delete': {
          const stored = await find(tx, table, edit.primaryKey);
          const refused = refuseDelete(stored, edit.revision);
          if (stored === null || refused !== null) return refused ?? { kind: 'unknown_record' };
          const { seq, revision } = stored;
          const version = versionText(layout, stored, rowsByCode(layout, stored), edit.primaryKey);
          await table.keepVersions(tx, [{ seq, revision, userId, at, version }]);
          await table.remove(tx, [seq]);
          await note(seq);
          await tell({ event: 'delete', seq, revision, primaryKey: edit.primaryKey });
          return { kind: 'deleted' };
        }
        case 'restore': {
          const live = await find(tx, table, edit.primaryKey);
          const place = live?.seq ?? (await table.deletedPlace(tx, edit.primaryKey));
          if (place === null) return { kind: 'unknown_record' };
          const versions = await table.versions(tx, place);
          const edited = editor.restore(live, versions, edit, context);
          if (edited.kind !== 'edited') return edited;
          return write(live, place, (live?.revision ?? versions.at(-1)?.revision ?? 0) + 1, edited);
        }
      }
    },
  };
}

/** The record with a primary key and its rows, locked until the end of the transaction. */
async function find(tx: Connection, table: RecordTable, primaryKey: string): Promise<WholeRecord | null> {
  return (await wholeRecords(tx, table, [primaryKey]))[0] ?? null;
}

async function findUnique(
  tx: Connection,
  table: RecordTable,
  { fieldId, value }: { readonly fieldId: string; readonly value: string },
): Promise<WholeRecord | null> {
  const { columns } = table.layout.form;
  const position = columns.findIndex(({ field }) => field.id === fieldId);
  const column = columns[position] as Column;
  const sought = uniqueKey(column, value).value;
  for (let look = 0; look < MOST_LOOKS; look++) {
    const place = await table.placeOf(tx, fieldId, value);
    const [stored] = place === null ? [] : await table.at(tx, [place]);
    if (stored === undefined) return null;
    const found = await find(tx, table, primaryKeyOf(table.layout, stored.values));
    // Until it was locked it may have got another value, or gone.
    if (found !== null && uniqueKey(column, found.values[position] ?? '').value === sought) return found;
  }
  throw new Unavailable(`the record with this value of ${fieldId} is changed all the time`);
}

/** How often a record is looked for that has another value whenever it is locked. */
const MOST_LOOKS = 4;

/** The record with a primary key and its rows, as it is. */
export async function readWhole(on: Connection, table: RecordTable, primaryKey: string): Promise<WholeRecord | null> {
  const [stored] = await table.find(on, [primaryKey]);
  if (stored === undefined) return null;
  const rows = await Promise.all(table.layout.tables.map((_, index) => table.rows(on, index, [stored.seq])));
  return { ...stored, rows: rows.map((of) => of.get(stored.seq) ?? []) };
}
