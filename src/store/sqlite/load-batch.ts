// Records of a load as one piece of UTF-8, in which they cross to a thread at a fraction of the cost of their parts.
import type { LoadRecord } from '../register.ts';

// No value holds NUL (D41), so it can part them. No primary key is empty, and no field ID is this mark.
const PART = '\0';
const SAME = '=';

/** Packs records, each as it comes, so that little garbage grows old. The line of a record stays behind. */
export function packRecords(records: readonly LoadRecord[]): Uint8Array<ArrayBuffer> {
  let packed = Buffer.allocUnsafeSlow(1 << 18);
  let end = 0;
  let ids = '';
  for (const { primaryKey, values, tables, files = [] } of records) {
    const keys = [...values.keys()].join(',');
    const parts = [primaryKey ?? '', keys === ids ? SAME : keys, ...values.values(), String(tables.size)];
    ids = keys;
    for (const [code, rows] of tables) {
      parts.push(code, String(rows.length));
      for (const row of rows) parts.push(String(row.length), ...row);
    }
    parts.push(files.length === 0 ? '' : JSON.stringify(files), '');
    const text = parts.join(PART);
    while (end + 3 * text.length > packed.length) packed = Buffer.concat([packed, packed]);
    end += packed.write(text, end);
  }
  return new Uint8Array(packed.buffer, 0, end);
}

/** The records of packRecords. */
export function unpackRecords(packed: Uint8Array): readonly LoadRecord[] {
  const parts = Buffer.from(packed.buffer, packed.byteOffset, packed.length).toString().split(PART);
  const records: LoadRecord[] = [];
  let at = 0;
  const next = () => parts[at++] as string;
  let ids: readonly string[] = [];
  while (at < parts.length - 1) {
    const primaryKey = next();
    const keys = next();
    if (keys !== SAME) ids = keys === '' ? [] : keys.split(',');
    const values = new Map<string, string>();
    for (const id of ids) values.set(id, next());
    const tables = new Map<string, readonly (readonly string[])[]>();
    for (let left = Number(next()); left > 0; left--) {
      const code = next();
      const rows: string[][] = [];
      for (let row = Number(next()); row > 0; row--) {
        const width = Number(next());
        rows.push(parts.slice(at, at + width));
        at += width;
      }
      tables.set(code, rows);
    }
    const files = next();
    records.push({
      line: 0,
      primaryKey: primaryKey === '' ? null : primaryKey,
      values,
      tables,
      files: files === '' ? [] : JSON.parse(files),
    });
  }
  return records;
}
