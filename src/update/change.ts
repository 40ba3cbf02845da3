// What an update asks for, parsed: the record and the values to write (spec 4.2).
import type { StoredFile } from '../fields/file.ts';

/** The file of a table's row that an update replaces, the one part of a table that it changes (D27). */
export interface RowFile {
  /** Name of the part that brought it, for problems. */
  readonly part: string;
  readonly tableCode: string;
  readonly fieldId: string;
  /** From 1. */
  readonly row: number;
  readonly value: string;
}

/** A file that comes into the register with an update or a load (D28); its content is in the file store already. */
export interface NewFile extends StoredFile {
  /** When its content was put into the file store, in milliseconds since 1970. */
  readonly keptAt: number;
}

/** The files of an update: those that it brings, and those that it names. */
export interface ChangedFiles {
  readonly added: readonly NewFile[];
  readonly rows: readonly RowFile[];
  /** Field ID → file ID, of the values that name a file which the app should have. */
  readonly named: ReadonlyMap<string, string>;
}

export interface Change {
  /** Primary key of the record to update. */
  readonly primaryKey: string;
  /** The revision the record must have (D24); null for whichever it has. */
  readonly revision: string | null;
  /** Field ID → value to write, '' to empty it; fields that are not here keep theirs. */
  readonly values: ReadonlyMap<string, string>;
  /** Null where the update has to do with no file. */
  readonly files: ChangedFiles | null;
}

/** `replace` empties absent fields (spec 4.2), `merge` keeps them (D30). */
export const UPDATE_MODES = ['replace', 'merge'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];
