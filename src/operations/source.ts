// A file to import, whatever its format: its lines, how they are read as records, how its bad rows are written.
import { open } from 'node:fs/promises';
import type { App } from '../app/app.ts';
import { Mistake } from '../store/register.ts';
import { matchColumns } from './csv-columns.ts';
import { type RecordReader, recordReader } from './csv-records.ts';
import { csvErrors, type ErrorsFormat } from './errors-file.ts';
import type { Format } from './exported.ts';
import { jsonlErrors, jsonRecordReader } from './jsonl-records.ts';
import { type LinesPiece, readCsv } from './read-csv.ts';
import { readJsonl } from './read-jsonl.ts';
import { detectEncoding, type Encoding } from './read-text.ts';
import { readXlsx } from './read-xlsx.ts';
import type { CsvLine } from './scan-csv.ts';

/** What may be said of a file. */
export interface SourceOptions {
  /** Of CSV; found out where it is left out. */
  readonly encoding?: Encoding;
  /** Of XLSX; left out, the first that is not hidden. */
  readonly sheet?: string;
}

/** The lines of a file. */
export interface Lines {
  readonly format: Format;
  /** Null where the format says it. */
  readonly encoding: Encoding | null;
  readonly pieces: AsyncGenerator<LinesPiece>;
}

/** Opens a file, XLSX and JSON lines found out by what it is and by its name; throws a Mistake for options of another format. */
export async function openLines(file: string, { encoding, sheet }: SourceOptions): Promise<Lines> {
  const format = await formatOf(file);
  if (sheet !== undefined && format !== 'xlsx') throw new Mistake(`--sheet is for XLSX, and ${file} is none`);
  if (encoding !== undefined && format !== 'csv') throw new Mistake(`--encoding is for CSV, and ${file} is none`);
  if (format === 'xlsx') return { format, encoding: null, pieces: readXlsx(file, sheet) };
  if (format === 'jsonl') return { format, encoding: null, pieces: readJsonl(file) };
  const found = await detectEncoding(file, encoding);
  return { format, encoding: found, pieces: readCsv(file, found) };
}

async function formatOf(file: string): Promise<Format> {
  const handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0).finally(() => handle.close());
  const start = buffer.toString('hex');
  if (start.startsWith('504b0304')) return 'xlsx';
  if (start === 'd0cf11e0a1b11ae1')
    throw new Mistake(
      `${file} is an Excel file of the old format, or one with a password; save it as XLSX without a password`,
    );
  if (/\.xlsx$/i.test(file)) throw new Mistake(`${file} is not an XLSX file`);
  return /\.(?:jsonl|ndjson)$/i.test(file) ? 'jsonl' : 'csv';
}

/** The first line, which names the columns, and those that came with it. The generator goes on after them. */
export async function readHeader(file: string, pieces: Lines['pieces']): Promise<readonly [CsvLine, ...CsvLine[]]> {
  // Not for await, which would end the generator.
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    const [header, ...rest] = piece.value.lines;
    if (header === undefined) continue;
    if (header.fault !== undefined) throw new Mistake(`${file}: the header row: ${header.fault}`);
    return [header, ...rest];
  }
  throw new Mistake(`${file} has no header row`);
}

/** How the lines of a file are records of an app. */
export interface RecordLines {
  readonly reader: RecordReader;
  readonly errors: ErrorsFormat;
  /** Lines that were read with the header. */
  readonly first: readonly CsvLine[];
  readonly notes: readonly string[];
}

/** Throws a Mistake where the file as a whole cannot be imported into the app. */
export async function recordLines(
  app: App,
  file: string,
  { format, pieces }: Lines,
  map: ReadonlyMap<string, string>,
): Promise<RecordLines> {
  if (format === 'jsonl') return { reader: jsonRecordReader(app, map), errors: jsonlErrors, first: [], notes: [] };
  const [header, ...first] = await readHeader(file, pieces);
  const columns = matchColumns(app, header.cells, map);
  if ('problems' in columns)
    throw new Mistake(`${file} cannot be imported into ${app.code}:\n${columns.problems.join('\n')}`);
  return { reader: recordReader(app, columns), errors: csvErrors(header.cells), first, notes: columns.notes };
}
