// The file of an import's bad rows: as they came, with a last column that says why.
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { ERROR_COLUMN } from './csv-columns.ts';
import type { CsvLine } from './scan-csv.ts';

export interface ErrorsFile {
  /** Null until there is a bad row. */
  readonly path: string | null;
  /** Writes the lines of a record, and of each what is wrong with it. */
  write(lines: readonly CsvLine[], reasons: readonly (readonly string[])[]): void;
  close(): void;
}

/** `orders.errors.csv` for `orders.csv`. */
export function errorsPath(file: string): string {
  return `${file.replace(/\.csv$/i, '')}.errors.csv`;
}

/** Begins a file in the place of an earlier one, or goes on with that; made when there is something to write. */
export function openErrorsFile(path: string, header: readonly string[], goOn: boolean): ErrorsFile {
  if (!goOn) rmSync(path, { force: true });
  let isThere = goOn && existsSync(path);
  let file: number | null = null;
  const open = () => {
    const opened = openSync(path, isThere ? 'a' : 'w');
    // With this mark spreadsheet programs read the file as UTF-8.
    if (!isThere) writeSync(opened, `\ufeff${csvLine([...header, ERROR_COLUMN])}`);
    isThere = true;
    return opened;
  };
  return {
    get path() {
      return isThere ? path : null;
    },
    write(lines, reasons) {
      file ??= open();
      let text = '';
      for (const [index, { cells }] of lines.entries()) {
        const padding = Array.from({ length: Math.max(0, header.length - cells.length) }, () => '');
        text += csvLine([...cells, ...padding, (reasons[index] ?? []).join(' / ')]);
      }
      writeSync(file, text);
    },
    close() {
      if (file !== null) closeSync(file);
    },
  };
}

function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(',')}\r\n`;
}
