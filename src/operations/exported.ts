// What an export writes, whatever the format: records with their files named.
import type { App } from '../app/app.ts';

/** Ways of writing records. */
export const FORMATS = ['csv', 'jsonl', 'xlsx'] as const;
export type Format = (typeof FORMATS)[number];

/** A file that a value names. */
export interface ExportedFile {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Where its content was written to, with `/` between the parts; null where contents are not exported. */
  readonly path: string | null;
}

/** What a field holds: its value as it is kept, or a file. */
export type ExportedCell = string | ExportedFile;

export interface ExportedRecord {
  /** Which of the exported records it is, from 1. */
  readonly number: number;
  readonly primaryKey: string;
  /** Of the form's fields, then of the system fields. */
  readonly form: readonly ExportedCell[];
  /** By table of the form. */
  readonly rows: readonly (readonly (readonly ExportedCell[])[])[];
}

/** A piece of what is written. */
export type Piece = string | Uint8Array;

/** Writes records in a format, piece by piece. */
export type RecordsWriter = (app: App, records: AsyncIterable<readonly ExportedRecord[]>) => AsyncIterable<Piece>;

/** What a cell says of a file: where its content is, else its ID. */
export function cellText(cell: ExportedCell): string {
  return typeof cell === 'string' ? cell : (cell.path ?? cell.id);
}

/** The record and field that a message is about. */
export function placeOf({ number, primaryKey }: ExportedRecord, column: string): string {
  return `record ${number.toLocaleString('en')} (${primaryKey}), ${column}`;
}
