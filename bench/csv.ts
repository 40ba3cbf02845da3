// Writes the bench's records as the CSV that `record import` reads.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { formValues, lineRows } from './records.ts';
import { FORM_FIELDS, LINE_FIELDS } from './register.ts';

const BLOCK_RECORDS = 2000;

/** Writes a file: a head, then the text of each of records 1 to `records`. Returns the number of bytes. */
export async function writeRecords(
  path: string,
  head: string,
  records: number,
  textOf: (n: number) => string,
): Promise<number> {
  const out = createWriteStream(path, { highWaterMark: 4 << 20 });
  out.write(head);
  for (let first = 1; first <= records; first += BLOCK_RECORDS) {
    let block = '';
    for (let n = first; n < first + BLOCK_RECORDS && n <= records; n++) block += textOf(n);
    if (!out.write(block)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  return out.bytesWritten;
}

/**
 * Writes records 1 to `records`: field IDs in the first line, the table's columns after the form's. Each further row of
 * a record's table is a line of its own with empty form columns. Returns the number of bytes.
 */
export function writeCsv(path: string, seed: number, records: number): Promise<number> {
  const head = `${[...FORM_FIELDS, ...LINE_FIELDS].join(',')}\n`;
  return writeRecords(path, head, records, (n) => csvLines(seed, n));
}

const NO_FORM = ','.repeat(FORM_FIELDS.length);
const NO_LINE = ','.repeat(LINE_FIELDS.length - 1);

/** One record's lines. */
export function csvLines(seed: number, n: number): string {
  const rows = lineRows(seed, n);
  let text = `${csvLine(formValues(seed, n))},${rows[0] === undefined ? NO_LINE : csvLine(rows[0])}\n`;
  for (let row = 1; row < rows.length; row++) text += `${NO_FORM}${csvLine(rows[row] as string[])}\n`;
  return text;
}

function csvLine(values: readonly string[]): string {
  let line = '';
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as string;
    line += i === 0 ? '' : ',';
    line += /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  }
  return line;
}
