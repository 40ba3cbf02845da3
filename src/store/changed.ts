// What an update makes of a stored record (spec 4.2, D24, D27, D29): its new values, or why it stays as it is.
import { SYSTEM_FIELDS } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import type { Problem } from '../errors.ts';
import type { Layout } from '../sql/layout.ts';
import type { Change, RowFile } from '../update/change.ts';
import type { Edit } from '../update/edit.ts';
import type { StoredRecord } from './derive.ts';
import { isTooLate } from './files.ts';
import type { Updated, Written } from './store.ts';

/** An update on its way to the database. */
export interface UpdateJob {
  readonly appCode: string;
  /** Version of the definition that the change was parsed against. */
  readonly version: number;
  readonly change: Change;
  readonly userId: string;
}

/** An edit on its way to the database. */
export interface EditJob extends Omit<UpdateJob, 'change'> {
  readonly edit: Edit;
  /** Of the record after it only the primary key is asked for. */
  readonly onlyKey?: true;
}

/** What became of a job, or the fault that hit it. */
export type JobResult = Written | { readonly kind: 'fault'; readonly error: unknown };

/** What became of it; throws the fault. */
export function resultOrFault(result: JobResult): Written {
  if (result.kind === 'fault') throw result.error;
  return result;
}

/** What an update with files needs to know beside its record, as of its transaction. */
export interface FilesAtHand {
  /** Those of the IDs that it names anew (files.ts) which the app has. */
  readonly known: ReadonlySet<string>;
  /** The record's rows in a table of the form. */
  rows(table: number): readonly Values[];
}

/** A row whose file is another one. */
export interface ChangedRow {
  readonly table: number;
  /** From 1. */
  readonly row: number;
  readonly values: Values;
}

export interface Changed {
  readonly values: Values;
  readonly rows: readonly ChangedRow[];
  /** Table code → rows before, of the tables that it changes. */
  readonly before: ReadonlyMap<string, readonly Values[]>;
}

export type Changer = (
  stored: StoredRecord,
  job: UpdateJob,
  at: string,
  files: FilesAtHand,
) => Changed | Extract<Updated, { kind: 'revision_conflict' | 'refused' }>;

const NO_ROWS: Pick<Changed, 'rows' | 'before'> = { rows: [], before: new Map() };

/** Applies the changes of one app: pure, made once for a layout. */
export function changer(layout: Layout): Changer {
  const positions = new Map(layout.form.columns.map(({ field }, position) => [field.id, position]));
  const [, , updatingUser, updateTime] = SYSTEM_FIELDS;
  return (stored, { change, userId }, at, files) => {
    const revision = String(stored.revision);
    if (change.revision !== null && change.revision !== revision) return { kind: 'revision_conflict', revision };
    const values = [...stored.values];
    for (const [id, value] of change.values) values[positions.get(id) as number] = value;
    values[positions.get(updatingUser) as number] = userId;
    values[positions.get(updateTime) as number] = at;
    if (change.files === null) return { values, ...NO_ROWS };
    if (isTooLate(change.files.added)) return { kind: 'refused', problems: [{ code: 'unavailable' }] };
    const problems: Problem[] = [];
    const held = new Set(stored.values);
    for (const [id, fileId] of change.files.named) {
      const isHeld = held.has(change.values.get(id) as string);
      if (!isHeld && !files.known.has(fileId)) problems.push({ code: 'unknown_file', at: id, sent: fileId });
    }
    const changed = changeRows(layout, change.files.rows, files, problems);
    return problems.length > 0 ? { kind: 'refused', problems } : { values, ...changed };
  };
}

function changeRows(
  { tables }: Layout,
  rowFiles: readonly RowFile[],
  { rows }: FilesAtHand,
  problems: Problem[],
): Pick<Changed, 'rows' | 'before'> {
  if (rowFiles.length === 0) return NO_ROWS;
  const before = new Map<string, readonly Values[]>();
  const changed = new Map<string, { table: number; row: number; values: string[] }>();
  for (const { part, tableCode, fieldId, row, value } of rowFiles) {
    const index = tables.findIndex(({ table }) => table.code === tableCode);
    const stored = before.get(tableCode) ?? rows(index);
    before.set(tableCode, stored);
    const key = `${index} ${row}`;
    const values = changed.get(key)?.values ?? [...(stored[row - 1] ?? [])];
    if (values.length === 0) problems.push({ code: 'unknown_row', at: part, limit: stored.length });
    else {
      const position = tables[index]?.columns.findIndex(({ field }) => field.id === fieldId) as number;
      values[position] = value;
      changed.set(key, { table: index, row, values });
    }
  }
  return { rows: [...changed.values()], before };
}
