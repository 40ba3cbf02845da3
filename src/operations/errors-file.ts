// The file of an import's bad rows: as they came, with a last column that says why.
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { ERROR_COLUMN } from './csv-columns.ts';
import { csvLine } from './csv-line.ts';
import type { CsvLine } from './scan-csv.ts';

export interface ErrorsFile {
  /** Null until there is a bad row. */
  readonly path: string | null;
  /** Writes the lines of a record, and of each what is wrong with it. */
  write(lines: readonly CsvLine[], reasons: readonly (readonly string[])[]): void;
  close(): void;
}

/** How bad rows are written: the text before all of them, and that of the lines of a record. */
export interface ErrorsFormat {
  readonly begin: string;
  write(lines: readonly CsvLine[], reasons: readonly (readonly string[])[]): string;
}

/** `orders.errors.csv` for `orders.csv` and `orders.xlsx`. */
export function errorsPath(file: string, extension: 'csv' | 'jsonl'): string {
  return `${file.replace(/\.(?:csv|xlsx|jsonl|ndjson)$/i, '')}.errors.${extension}`;
}

/** With the header of the file, and a column more. */
export function csvErrors(header: readonly string[]): ErrorsFormat {
  return {
    // With this mark spreadsheet programs read the file as UTF-8.
    begin: `\ufeff${csvLine([...header, ERROR_COLUMN])}`,
    write: (lines, reasons) =>
      lines
        .map(({ cells }, index) => {
          const padding = Array.from({ length: Math.max(0, header.length - cells.length) }, () => '');
          return csvLine([...cells, ...padding, (reasons[index] ?? []).join(' / ')]);
        })
        .join(''),
  };
}

/** Begins a file in the place of an earlier one, or goes on with that; made when there is something to write. */
export function openErrorsFile(path: string, { begin, write }: ErrorsFormat, goOn: boolean): ErrorsFile {
  if (!goOn) rmSync(path, { force: true });
  let isThere = goOn && existsSync(path);
  let file: number | null = null;
  const open = () => {
    const opened = openSync(path, isThere ? 'a' : 'w');
    if (!isThere) writeSync(opened, begin);
    isThere = true;
    return opened;
  };
  return {
    get path() {
      return isThere ? path : null;
    },
    write(lines, reasons) {
      file ??= open();
      writeSync(file, write(lines, reasons));
    },
    close() {
      if (file !== null) closeSync(file);
    },
  };
}
