// Decides a run of edits (D39): as many as neither need nor write what one before them wrote, so that what they need can be read,
// and what they become can be written, for all of them at once. Pure.
import { type Column, type Layout, uniqueKey } from '../../sql/layout.ts';
import type { Delete, Edit, Put } from '../../update/edit.ts';
import {
  type EditContext,
  type Edited,
  type Editor,
  type EditRefused,
  notUnique,
  primaryKeyOf,
  recordExists,
  refuseDelete,
  uniqueChanges,
} from '../edited.ts';
import type { WholeRecord } from '../versions.ts';

/** A value of a unique field. */
export interface UniqueValue {
  readonly fieldId: string;
  readonly value: string;
}

/** What has to be looked for; values by `uniqueId`. */
export interface Sought {
  readonly keys: Set<string>;
  readonly values: Map<string, UniqueValue>;
  /** Those of the values whose records are needed, and not only whether there are any. */
  readonly holders: Set<string>;
}

/** What was found; undefined for what was not looked for yet, null for what is not there. */
export interface Seen {
  /** By primary key. */
  record(primaryKey: string): WholeRecord | null | undefined;
  /** By place; undefined where it is no more what it was found by. */
  at(place: number): WholeRecord | undefined;
  /** The place of the record that has a value in a unique field, by `uniqueId`. */
  place(id: string): number | null | undefined;
  /** Files that the app has, of those that the edits name. */
  readonly files: ReadonlySet<string>;
  /** An import into the app, which was empty, is under way. */
  readonly isBeingLoaded: boolean;
}

/** What is done to a record. */
export type Step =
  | { readonly kind: 'insert'; readonly primaryKey: string; readonly edited: Edited }
  | { readonly kind: 'update'; readonly primaryKey: string; readonly stored: WholeRecord; readonly edited: Edited }
  | { readonly kind: 'delete'; readonly primaryKey: string; readonly stored: WholeRecord };

/** What became of the first of the edits, each by itself; what lies behind them begins the next run. */
export interface Run {
  /** Empty where the first edit cannot be in a run. */
  readonly decided: readonly (Step | EditRefused)[];
  /** What they write: primary keys, and values of unique fields that they take or leave, by `uniqueId`. */
  readonly touched: ReadonlySet<string>;
  readonly touchedValues: ReadonlySet<string>;
  /** What was taken for not being there, unseen: the run counts only if this is empty. */
  readonly missing: Sought;
}

/** Characters of values, of records before and after, behind which a run takes no further edit. */
const MOST_CHARACTERS = 1 << 20;

export function nothingSought(): Sought {
  return { keys: new Set(), values: new Map(), holders: new Set() };
}

/** What can be known before that edits will need. */
export function soughtBy(layout: Layout, edits: readonly Edit[]): Sought {
  const sought = nothingSought();
  const unique = layout.form.columns.filter((column) => column.unique !== null);
  for (const edit of edits) {
    if (edit.kind === 'delete') sought.keys.add(edit.primaryKey);
    if (edit.kind !== 'put') continue;
    const { key, values, whenNew } = edit;
    if (key?.fieldId === layout.app.primaryKey.id) sought.keys.add(key.value);
    for (const { field } of unique) {
      const isHolder = key?.fieldId === field.id;
      const value = isHolder ? key.value : (whenNew.get(field.id) ?? values.get(field.id) ?? '');
      if (value === '') continue;
      const id = uniqueId(layout, { fieldId: field.id, value });
      sought.values.set(id, { fieldId: field.id, value });
      if (isHolder) sought.holders.add(id);
    }
  }
  return sought;
}

/** What two values of a unique field have in common where they count as the same. */
export function uniqueId({ form }: Layout, { fieldId, value }: UniqueValue): string {
  const column = form.columns.find(({ field }) => field.id === fieldId) as Column;
  return `${fieldId}\0${uniqueKey(column, value).value}`;
}

/** Numbers that refused edits took are given back. */
export function decideRun(
  layout: Layout,
  editor: Editor,
  edits: readonly Edit[],
  seen: Seen,
  context: Omit<EditContext, 'knownFiles'>,
): Run {
  const decided: (Step | EditRefused)[] = [];
  const touched = new Set<string>();
  const touchedValues = new Set<string>();
  const missing = nothingSought();
  let characters = 0;

  const record = (primaryKey: string): WholeRecord | null | 'touched' => {
    if (touched.has(primaryKey)) return 'touched';
    const found = seen.record(primaryKey);
    if (found === undefined) missing.keys.add(primaryKey);
    return found ?? null;
  };
  const place = (value: UniqueValue): number | null | 'touched' => {
    const id = uniqueId(layout, value);
    if (touchedValues.has(id)) return 'touched';
    const found = seen.place(id);
    if (found === undefined) missing.values.set(id, value);
    return found ?? null;
  };
  const recordOf = ({ key }: Put): WholeRecord | null | 'touched' | 'moved' => {
    if (key === null) return null;
    if (key.fieldId === layout.app.primaryKey.id) return record(key.value);
    const at = place(key);
    if (typeof at !== 'number') return at;
    const found = seen.at(at);
    // Until it was locked it may have got another value, or gone.
    if (found === undefined || !hasValue(layout, found, key)) return 'moved';
    return touched.has(primaryKeyOf(layout, found.values)) ? 'touched' : found;
  };
  const put = (edit: Put): Step | EditRefused | null => {
    const stored = recordOf(edit);
    if (stored === 'touched' || stored === 'moved') return null;
    const edited = editor.put(stored, edit, { ...context, knownFiles: seen.files });
    if (edited.kind !== 'edited') return edited;
    const problems = [];
    for (const change of uniqueChanges(layout, stored?.values ?? null, edited.values)) {
      const at = place(change);
      if (at === 'touched') return null;
      if (at !== null) problems.push(notUnique(change.fieldId, change.value));
    }
    const primaryKey = primaryKeyOf(layout, edited.values);
    if (stored === null) {
      const same = record(primaryKey);
      if (same === 'touched') return null;
      if (same !== null) problems.push(recordExists(layout, edited.values));
      if (seen.isBeingLoaded) problems.push({ code: 'being_loaded' } as const);
    }
    if (problems.length > 0) return { kind: 'refused', problems };
    return stored === null ? { kind: 'insert', primaryKey, edited } : { kind: 'update', primaryKey, stored, edited };
  };
  const remove = ({ primaryKey, revision }: Delete): Step | EditRefused | null => {
    const stored = record(primaryKey);
    if (stored === 'touched') return null;
    const refused = refuseDelete(stored, revision);
    if (stored === null || refused !== null) return refused ?? { kind: 'unknown_record' };
    return { kind: 'delete', primaryKey, stored };
  };
  const touch = (step: Step): void => {
    touched.add(step.primaryKey);
    const before = step.kind === 'insert' ? null : step.stored.values;
    const after = step.kind === 'delete' ? null : step.edited.values;
    const taken = after === null ? [] : uniqueChanges(layout, before, after);
    const left = before === null ? [] : uniqueChanges(layout, after, before);
    for (const value of [...taken, ...left]) touchedValues.add(uniqueId(layout, value));
  };

  for (const edit of edits) {
    if (!canBeInRun(edit) || characters > MOST_CHARACTERS) break;
    const undo = context.counters.mark();
    const each = edit.kind === 'put' ? put(edit) : remove(edit as Delete);
    if (each === null) {
      undo();
      break;
    }
    decided.push(each);
    if (each.kind === 'insert' || each.kind === 'update' || each.kind === 'delete') {
      touch(each);
      if (each.kind !== 'delete') characters += length(each.edited);
      if (each.kind !== 'insert') characters += length(each.stored);
    } else undo();
  }
  return { decided, touched, touchedValues, missing };
}

/** What puts the record together from other versions, or brings files that nobody has, goes alone. */
function canBeInRun(edit: Edit): boolean {
  return edit.kind === 'delete' || (edit.kind === 'put' && (edit.files?.added ?? []).length === 0);
}

function hasValue(layout: Layout, { values }: WholeRecord, { fieldId, value }: UniqueValue): boolean {
  const has = values[layout.form.columns.findIndex(({ field }) => field.id === fieldId)] ?? '';
  return uniqueId(layout, { fieldId, value: has }) === uniqueId(layout, { fieldId, value });
}

function length({ values, rows }: Pick<Edited, 'values' | 'rows'>): number {
  const all = [values, ...rows.flatMap((of) => of ?? [])];
  return all.reduce((sum, some) => some.reduce((of, value) => of + value.length, sum), 0);
}
