// Writes the records of an app as CSV that can be imported again (P12), with their files beside it.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { App, Field } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import { typeOf } from '../fields/field-types.ts';
import { fileOf } from '../fields/file.ts';
import type { FileStore } from '../files/file-store.ts';
import { parseDefinition } from '../store/definition-text.ts';
import type { MovedRecord, MoveSource } from '../store/move.ts';
import { Mistake, type Progress } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import { pathPart } from './path-part.ts';

export interface ExportOptions {
  readonly appCode: string;
  /** Where the files go; left out, cells hold their IDs. */
  readonly files?: { readonly folder: string; readonly store: FileStore };
  /** Takes the text; resolves when it takes more. */
  write(text: string): Promise<void>;
  readonly progress: Progress;
}

export interface ExportReport {
  readonly records: number;
  readonly files: number;
}

/** Records read at a time. */
const BATCH = 500;
/** Files written at a time. */
const AT_ONCE = 8;
/** By it spreadsheets know that a file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Writes all records as of one moment, in the order of their creation. */
export async function exportRecords(source: MoveSource, options: ExportOptions): Promise<ExportReport> {
  const { appCode, files, write, progress } = options;
  await source.look();
  const moved = (await source.catalog()).apps.find(({ code }) => code === appCode);
  if (moved === undefined) throw new Mistake(`there is no app ${appCode}`);
  const app = parseDefinition(moved.definition);
  const { records: total } = await source.count(moved.id);
  await write(BYTE_ORDER_MARK + lineOf(columnsOf(app).map(({ id }) => id)));
  let records = 0;
  let written = 0;
  for (let after: Pick<MovedRecord, 'place'> = { place: 0 }; ; ) {
    const batch = await source.records(moved.id, after, BATCH);
    const cells = batch.map((record) => cellsOf(app, record));
    if (files !== undefined) {
      const named = cells.flatMap((lines) => lines.flatMap(({ files: of }) => of));
      const known = await source.filesNamed(moved.id, [...new Set(named.map(({ id }) => id))]);
      for (let at = 0; at < named.length; at += AT_ONCE) {
        await Promise.all(named.slice(at, at + AT_ONCE).map((file) => writeFile(files, known.get(file.id), file)));
      }
      written += named.length;
    }
    const text = cells.flat().map(({ cells: line, files: of }) => {
      for (const { column, id, path } of of) line[column] = files === undefined ? id : path;
      return lineOf(line);
    });
    await write(text.join(''));
    records += batch.length;
    progress(records, total);
    if (batch.length < BATCH) return { records, files: written };
    after = batch.at(-1) as MovedRecord;
  }
}

/** The fields of the columns: those of the form, the system fields, those of the tables. */
function columnsOf({ fields, system, tables }: App): readonly Field[] {
  return [...fields, ...system, ...tables.flatMap((table) => table.fields)];
}

interface Line {
  readonly cells: string[];
  /** Its cells for files: where the file goes. */
  readonly files: NamedFile[];
}

interface NamedFile {
  readonly column: number;
  readonly id: string;
  /** With `/` between its parts. */
  readonly path: string;
}

/** The lines of a record: the first with the form, each with one row of every table; the key stands in all of them. */
function cellsOf(app: App, { values, rows }: MovedRecord): readonly Line[] {
  const key = app.fields.indexOf(app.primaryKey);
  const primaryKey = values[key] ?? '';
  const form = [...app.fields, ...app.system];
  const count = Math.max(1, ...rows.map((ofTable) => ofTable.length));
  return Array.from({ length: count }, (_, row) => {
    const line: Line = { cells: [], files: [] };
    const put = (field: Field, value: string, place: string) => {
      const file = typeOf(field).holds === undefined ? null : fileOf(value);
      if (file !== null) {
        const path = [primaryKey, place, file.name === '' ? file.id : file.name].map(pathPart).join('/');
        line.files.push({ column: line.cells.length, id: file.id, path });
      }
      line.cells.push(value);
    };
    form.forEach((field, index) => {
      put(field, row === 0 || index === key ? (values[index] ?? '') : '', field.id);
    });
    app.tables.forEach(({ fields }, table) => {
      const ofRow: Values = rows[table]?.[row] ?? [];
      fields.forEach((field, index) => {
        put(field, ofRow[index] ?? '', `${field.id}_${row + 1}`);
      });
    });
    return line;
  });
}

async function writeFile(
  { folder, store }: { readonly folder: string; readonly store: FileStore },
  file: StoredFile | undefined,
  { id, path }: NamedFile,
): Promise<void> {
  const content = file === undefined ? null : await store.read(file.digest);
  if (content === null) throw new Mistake(`file ${id} is not in ${store.place}; daicho check tells more`);
  const to = join(folder, ...path.split('/'));
  await mkdir(dirname(to), { recursive: true });
  await pipeline(content, createWriteStream(to));
}

/** A line of CSV (RFC 4180). */
function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}
