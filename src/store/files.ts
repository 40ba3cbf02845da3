// What both engines know of files: when one is adopted with a record, and what a sweep may take (D28, P18).
import { typeOf } from '../fields/field-types.ts';
import { fileOf } from '../fields/file.ts';
import type { Layout } from '../sql/layout.ts';
import { quote } from '../sql/sql.ts';
import type { Change, ChangedFiles, NewFile } from '../update/change.ts';
import type { StoredRecord } from './derive.ts';
import { Unavailable } from './store.ts';

/**
 * Milliseconds in which a content that was put into the file store must be adopted by a record. A sweep takes only what has been there
 * for much longer, and it looks while nobody adopts: so it never takes what an update in flight is about to adopt.
 */
export const ADOPTED_WITHIN = 10 * 60_000;

/** Whether a sweep may be about to take the content of one of the files, so that they cannot be adopted any more. */
export function isTooLate(files: readonly NewFile[]): boolean {
  const now = Date.now();
  return files.some(({ keptAt }) => Math.abs(now - keptAt) > ADOPTED_WITHIN);
}

/** Refuses a load whose files waited for too long: its source is at hand, so that it can be run again. */
export function refuseLate(files: readonly NewFile[]): void {
  if (files.length > 0 && isTooLate(files))
    throw new Unavailable('the files of a load waited for too long to be adopted');
}

/** The IDs of files that an update names and that its record does not hold already; `stored` is null where that is not known yet. */
export function namedAnew({ form }: Layout, stored: StoredRecord | null, { files }: Change): readonly string[] {
  if (files === null || files.named.size === 0) return [];
  if (stored === null) return [...new Set(files.named.values())];
  const held = new Set(
    form.columns.flatMap(({ field }, position) => {
      const value = files.named.has(field.id) ? fileOf(stored.values[position] ?? '') : null;
      return value === null ? [] : value.id;
    }),
  );
  return [...new Set(files.named.values())].filter((id) => !held.has(id));
}

/** The IDs of files that an edit names. */
export function namedFiles(files: ChangedFiles | null): readonly string[] {
  return files === null ? [] : [...new Set(files.named.values())];
}

/** A place where a file is named: a record, or a version in the history. */
export interface FileReference {
  readonly fileId: string;
  /** Place of the record in the creation order. */
  readonly place: number;
  readonly inHistory: boolean;
}

/** The queries that read every text which may name files of an app, each with the place of its record. */
export function referenceQueries({ form, tables, history }: Layout): { text: string; inHistory: boolean }[] {
  const fields = [form, ...tables].flatMap((table) =>
    table.columns.flatMap(({ field, name }) => {
      if (typeOf(field).holds === undefined) return [];
      const place = table === form ? 'pms_seq' : 'pms_record';
      const column = quote(name);
      return {
        text: `select ${place}, ${column} from ${quote(table.name)} where ${column} is not null`,
        inHistory: false,
      };
    }),
  );
  return [...fields, { text: `select record, version from ${quote(history)}`, inHistory: true }];
}
