// What an operation beside the specification's two does to one record (D39): as on a form, not as data/update.
import type { Problem } from '../errors.ts';
import type { ChangedFiles } from './change.ts';

/** A row of a table as it is to be: an existing one with other values, or a new one. */
export interface EditedRow {
  /** Number of the row it is made of, from 1; null for a new one. */
  readonly from: number | null;
  /** Field ID → value; a new row has the defaults of the others, an existing one keeps them. */
  readonly values: ReadonlyMap<string, string>;
}

/** Puts a record in or changes it. */
export interface Put {
  readonly kind: 'put';
  /** `insert` wants the record not to be there, `update` wants it to be, `upsert` takes either. */
  readonly mode: 'insert' | 'update' | 'upsert';
  /** The field that says which record, and its value: the primary key or a unique field; null for a new record with the next number. */
  readonly key: { readonly fieldId: string; readonly value: string } | null;
  /** The revision the record must have; null for whichever it has. */
  readonly revision: string | null;
  /** Field ID → value; a new record has the defaults of the others, an existing one keeps them. */
  readonly values: ReadonlyMap<string, string>;
  /** Field ID → value that only a new record takes: those of protected fields. */
  readonly whenNew: ReadonlyMap<string, string>;
  /** Table code → all of its rows, in their order; tables that are not here keep theirs. */
  readonly tables: ReadonlyMap<string, readonly EditedRow[]>;
  /** What is wrong with it if the record is new: required fields that it has no value for. */
  readonly problemsWhenNew: readonly Problem[];
  readonly files: ChangedFiles | null;
}

/** Takes a record out; it can be restored while its history is kept. */
export interface Delete {
  readonly kind: 'delete';
  readonly primaryKey: string;
  readonly revision: string | null;
}

/** Brings a record back to one of its versions, or back at all. */
export interface Restore {
  readonly kind: 'restore';
  readonly primaryKey: string;
  /** The revision the record must have, where it is there; null for whichever it has. */
  readonly revision: string | null;
  /** The version; null for a deleted record as it was. */
  readonly version: number | null;
}

export type Edit = Put | Delete | Restore;
