// Puts many rows into a table at once, by COPY.
import { finished } from 'node:stream/promises';
import { quote } from '../../sql/sql.ts';
import type { Connection } from './connection.ts';

/** Characters after which what is gathered is sent. */
const CHUNK = 1 << 18;

/** Copies rows into columns of a table; null is no value. */
export async function copyInto(
  tx: Connection,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const stream = await tx.unsafe(`copy ${quote(table)} (${columns.map(quote).join(', ')}) from stdin`).writable();
  const ended = finished(stream);
  // Whoever waits for the end below gets the error.
  ended.catch(() => {});
  let text = '';
  for (const row of rows) {
    let line = '';
    for (const value of row) line += (line === '' ? '' : '\t') + cell(value);
    text += `${line}\n`;
    if (text.length < CHUNK) continue;
    if (!stream.write(text)) await new Promise((resolve) => stream.once('drain', resolve).once('close', resolve));
    text = '';
  }
  stream.end(text);
  await ended;
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function cell(value: string | number | null): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => ESCAPED[character] as string) : value;
}
