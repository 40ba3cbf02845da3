// Writes the records of an app in a format that can be imported again, with their files beside it.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { App, Field } from '../app/app.ts';
import { typeOf } from '../fields/field-types.ts';
import { fileOf } from '../fields/file.ts';
import type { FileStore } from '../files/file-store.ts';
import { parseDefinition } from '../store/definition-text.ts';
import type { MovedRecord, MoveSource } from '../store/move.ts';
import { Mistake, type Progress } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import { csvWriter } from './export-csv.ts';
import { writeJsonl } from './export-jsonl.ts';
import { conditionsOf } from './export-where.ts';
import { xlsxWriter } from './export-xlsx.ts';
import type { ExportedCell, ExportedFile, ExportedRecord, Format, Piece, RecordsWriter } from './exported.ts';
import { pathPart } from './path-part.ts';
import type { Encoding } from './read-text.ts';

export interface ExportOptions {
  readonly appCode: string;
  readonly format: Format;
  /** Of CSV. */
  readonly encoding: Encoding;
  /** The header has names of fields, not IDs. */
  readonly names: boolean;
  /** Conditions of a search, `field=keyword` each; none for all records. */
  readonly where: readonly string[];
  /** Where the files go; left out, cells hold their IDs. */
  readonly files?: { readonly folder: string; readonly store: FileStore };
  /** Takes a piece; resolves when it takes more. */
  write(piece: Piece): Promise<void>;
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

/** Writes the records as of one moment, in the order of their creation. */
export async function exportRecords(source: MoveSource, options: ExportOptions): Promise<ExportReport> {
  const { appCode, where, files, write, progress } = options;
  await source.look();
  const moved = (await source.catalog()).apps.find(({ code }) => code === appCode);
  if (moved === undefined) throw new Mistake(`there is no app ${appCode}`);
  const app = parseDefinition(moved.definition);
  const conditions = where.length === 0 ? undefined : conditionsOf(app, where);
  const total = conditions === undefined ? (await source.count(moved.id)).records : 0;
  const done = { records: 0, files: 0 };

  async function* batches(): AsyncGenerator<readonly ExportedRecord[]> {
    for (let after: Pick<MovedRecord, 'place'> = { place: 0 }; ; ) {
      const batch = await source.records((moved as { id: number }).id, after, BATCH, conditions);
      const named: ExportedFile[] = [];
      const records = batch.map((record, index) =>
        exported(app, record, { number: done.records + index + 1, hasPaths: files !== undefined, named }),
      );
      if (files !== undefined) {
        await writeFiles(files, await source.filesNamed((moved as { id: number }).id, idsOf(named)), named);
        done.files += named.length;
      }
      yield records;
      done.records += batch.length;
      progress(done.records, total);
      if (batch.length < BATCH) return;
      after = batch.at(-1) as MovedRecord;
    }
  }

  for await (const piece of writerOf(options)(app, batches())) await write(piece);
  return done;
}

function writerOf({ format, encoding, names, appCode }: ExportOptions): RecordsWriter {
  if (format === 'csv') return csvWriter(encoding, names);
  return format === 'jsonl' ? writeJsonl : xlsxWriter(appCode, names);
}

const idsOf = (files: readonly ExportedFile[]) => [...new Set(files.map(({ id }) => id))];

/** A record with its files named; those are put into `named` too. */
function exported(
  app: App,
  { values, rows }: MovedRecord,
  { number, hasPaths, named }: { readonly number: number; readonly hasPaths: boolean; readonly named: ExportedFile[] },
): ExportedRecord {
  const primaryKey = values[app.fields.indexOf(app.primaryKey)] ?? '';
  const cellOf = (field: Field, value: string, place: string): ExportedCell => {
    const file = value === '' || typeOf(field).holds === undefined ? null : fileOf(value);
    if (file === null) return value;
    const path = [primaryKey, place, file.name === '' ? file.id : file.name].map(pathPart).join('/');
    named.push({ id: file.id, name: file.name, size: file.size, path: hasPaths ? path : null });
    return named.at(-1) as ExportedFile;
  };
  return {
    ...{ number, primaryKey },
    form: [...app.fields, ...app.system].map((field, index) => cellOf(field, values[index] ?? '', field.id)),
    rows: app.tables.map(({ fields }, table) =>
      (rows[table] ?? []).map((ofRow, row) =>
        fields.map((field, index) => cellOf(field, ofRow[index] ?? '', `${field.id}_${row + 1}`)),
      ),
    ),
  };
}

async function writeFiles(
  to: { readonly folder: string; readonly store: FileStore },
  known: ReadonlyMap<string, StoredFile>,
  named: readonly ExportedFile[],
): Promise<void> {
  for (let at = 0; at < named.length; at += AT_ONCE) {
    await Promise.all(named.slice(at, at + AT_ONCE).map((file) => writeFile(to, known.get(file.id), file)));
  }
}

async function writeFile(
  { folder, store }: { readonly folder: string; readonly store: FileStore },
  file: StoredFile | undefined,
  { id, path }: ExportedFile,
): Promise<void> {
  const content = file === undefined ? null : await store.read(file.digest);
  if (content === null) throw new Mistake(`file ${id} is not in ${store.place}; daicho check tells more`);
  const to = join(folder, ...(path as string).split('/'));
  await mkdir(dirname(to), { recursive: true });
  await pipeline(content, createWriteStream(to));
}
