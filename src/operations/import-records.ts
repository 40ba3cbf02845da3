// Puts the records of a file, CSV, JSON lines or XLSX, into an app: good ones in batches, bad ones into a file with the reasons.
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { type Loader, Mistake, type Progress, type Register } from '../store/register.ts';
import type { Catalog, RegisteredApp } from '../store/store.ts';
import { emptyRecord, type RecordReader, type ReusableRecord } from './csv-records.ts';
import { type ErrorsFile, type ErrorsFormat, errorsPath, openErrorsFile } from './errors-file.ts';
import type { Format } from './exported.ts';
import { type FileCell, type FileCells, type FileSource, filesInFolder, knownFiles } from './file-cells.ts';
import type { Encoding } from './read-text.ts';
import type { CsvLine } from './scan-csv.ts';
import { type Lines, openLines, recordLines, type SourceOptions } from './source.ts';

export interface ImportOptions extends SourceOptions {
  readonly appCode: string;
  readonly file: string;
  /** Column → field ID; '' leaves the column out. */
  readonly map: ReadonlyMap<string, string>;
  /** Nothing is written but the file of bad rows. */
  readonly dryRun: boolean;
  /** Where the files come from that cells name by paths; left out, cells hold IDs of files that the app has. */
  readonly files?: FileSource;
  /** Who puts the records in; left out, the first administrator of the app, else nobody. */
  readonly userId?: string;
  /** Ends the import after the batch it is at; it can be gone on with. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** All records are in; what follows reports to `progress` too. */
  readonly onIndexing: () => void;
}

export interface ImportReport {
  readonly app: string;
  readonly file: string;
  readonly format: Format;
  /** Null where it is not CSV. */
  readonly encoding: Encoding | null;
  readonly dryRun: boolean;
  readonly inserted: number;
  readonly updated: number;
  readonly good: number;
  readonly bad: number;
  readonly errorsFile: string | null;
  /** Records that an interrupted import of the file had taken before. */
  readonly resumedAt: number;
  readonly stopped: boolean;
  readonly seconds: number;
  readonly recordsPerSecond: number;
  readonly notes: readonly string[];
}

/** Records put in at a time, and the most of them that have files, so that these do not wait for long. */
const BATCH = 500;
const FILES_BATCH = 50;

/** Imports a file; throws a Mistake before anything is written where the file as a whole cannot be imported. */
export async function importRecords(register: Register, options: ImportOptions): Promise<ImportReport> {
  const started = performance.now();
  const { appCode, file, dryRun } = options;
  const catalog = register.catalog();
  const registered = catalog.apps.get(appCode);
  if (registered === undefined) throw new Mistake(`there is no app ${appCode}`);
  const userId = importingUser(catalog, registered, options.userId);
  const lines = await openLines(file, options);
  const { format, encoding, pieces } = lines;
  try {
    const { reader, errors: written, first, notes } = await recordLines(registered.app, file, lines, options.map);
    const fileCells = options.files === undefined ? knownFiles(register, appCode) : await filesInFolder(options.files);
    const { size } = await stat(file);
    const loader = dryRun ? null : await register.load(appCode, userId, await fingerprint(options));
    const resumedAt = loader?.position ?? 0;
    const errors = await openErrors(errorsPath(file, format === 'jsonl' ? 'jsonl' : 'csv'), written, loader);
    const loaded = await loadAll(pieces, first, { reader, loader, errors, size, fileCells, options });
    const seconds = (performance.now() - started) / 1000;
    return {
      ...{ app: appCode, file, format, encoding, dryRun, ...loaded, errorsFile: errors.path, resumedAt },
      seconds: Math.round(seconds * 1000) / 1000,
      recordsPerSecond: Math.round((loaded.good + loaded.bad) / seconds),
      notes,
    };
  } finally {
    await pieces.return(undefined);
  }
}

/** Opens the file of bad rows; where that fails, the load is stopped. */
async function openErrors(path: string, format: ErrorsFormat, loader: Loader | null): Promise<ErrorsFile> {
  try {
    return openErrorsFile(path, format, (loader?.position ?? 0) > 0);
  } catch (error) {
    // Where stopping fails too, the next load of the file takes it up.
    await loader?.stop().catch(() => {});
    throw error;
  }
}

interface Loading {
  readonly reader: RecordReader;
  /** Null for a dry run. */
  readonly loader: Loader | null;
  readonly errors: ErrorsFile;
  /** Bytes of the file. */
  readonly size: number;
  readonly fileCells: FileCells;
  readonly options: ImportOptions;
}

type Pieces = Lines['pieces'];

/** Loads what follows the header, and ends the loading whichever way it goes. */
async function loadAll(pieces: Pieces, first: readonly CsvLine[], loading: Loading) {
  const { loader, errors, fileCells, options } = loading;
  try {
    const counts = await loadPieces(pieces, first, loading);
    if (!counts.stopped) options.onIndexing();
    const last = counts.stopped ? await loader?.stop() : await loader?.finish(options.progress);
    // Those of the last put, and of the one before it.
    for (let n = 0; n < 2; n++) await fileCells.confirm();
    const inserted = counts.inserted + (last?.inserted ?? 0);
    return { ...counts, inserted, updated: counts.updated + (last?.updated ?? 0) };
  } catch (error) {
    // Where stopping fails too, it is for the same reason.
    await loader?.stop().catch(() => {});
    throw error;
  } finally {
    errors.close();
  }
}

async function loadPieces(pieces: Pieces, first: readonly CsvLine[], loading: Loading) {
  const { reader, loader, errors, size, fileCells, options } = loading;
  const skipped = loader?.position ?? 0;
  const counts = { stopped: false, inserted: 0, updated: 0, good: 0, bad: 0 };
  const pool: ReusableRecord[] = [];
  let batch: ReusableRecord[] = [];
  /** Records of the batch whose file cells are to be looked at, with their lines. */
  const withFiles = new Map<ReusableRecord, readonly CsvLine[]>();
  /** Bad records since the last batch; what is wrong with their file cells is still to be told. */
  let bad: BadRecord[] = [];
  /** Records of the file that are done with once the batch is in. */
  let position = 0;
  let record: CsvLine[] = [];

  const take = () => {
    if (record.length === 0) return;
    position++;
    if (position <= skipped) return;
    const filled = pool[batch.length] ?? emptyRecord();
    pool[batch.length] = filled;
    const reasons = reader.fill(filled, record);
    if (reasons === null) {
      batch.push(filled);
      if (filled.fileCells.length > 0) withFiles.set(filled, record);
    } else {
      bad.push({ lines: record, reasons, cells: [...filled.fileCells] });
    }
  };
  const takeFiles = async () => {
    for (const [filled, lines] of withFiles) {
      const { files, reasons } = await fileCells.take(filled.fileCells, true);
      filled.files = files;
      if (reasons.every((reason) => reason === null)) continue;
      batch = batch.filter((other) => other !== filled);
      bad.push({ lines, reasons: byLine(lines, filled.fileCells, reasons), cells: [] });
    }
    withFiles.clear();
  };
  const tellBad = async () => {
    counts.bad += bad.length;
    // Those that are bad for their files come after the others.
    bad.sort((a, b) => (a.lines[0]?.line ?? 0) - (b.lines[0]?.line ?? 0));
    for (const { lines, reasons, cells } of bad) {
      const more = cells.length === 0 ? [] : byLine(lines, cells, (await fileCells.take(cells, false)).reasons);
      errors.write(
        lines,
        reasons.map((of, line) => [...of, ...(more[line] ?? [])]),
      );
    }
    bad = [];
  };
  const flush = async () => {
    await takeFiles();
    await tellBad();
    if (batch.length > 0 || position > skipped) {
      const loaded = await loader?.put(batch, position);
      counts.inserted += loaded?.inserted ?? 0;
      counts.updated += loaded?.updated ?? 0;
      await fileCells.confirm();
    }
    counts.good += batch.length;
    batch = [];
  };
  const takeLines = async (lines: readonly CsvLine[]) => {
    for (const line of lines) {
      if (reader.isBlank(line)) continue;
      if (record.length > 0 && reader.continues(record[0] as CsvLine, line)) {
        record.push(line);
        continue;
      }
      take();
      record = [line];
      if (batch.length === BATCH || bad.length === BATCH || withFiles.size === FILES_BATCH) {
        await flush();
        if (options.signal.aborted) break;
      }
    }
  };

  await takeLines(first);
  for await (const { lines, bytes } of pieces) {
    await takeLines(lines);
    if (options.signal.aborted) {
      await flush();
      return { ...counts, stopped: true };
    }
    options.progress(position, bytes > 0 ? Math.max(position, Math.round((position * size) / bytes)) : 0);
  }
  take();
  await flush();
  return counts;
}

/** What is wrong with the lines of a record. */
type Reasons = readonly (readonly string[])[];

interface BadRecord {
  readonly lines: readonly CsvLine[];
  readonly reasons: Reasons;
  /** File cells that were not looked at. */
  readonly cells: readonly FileCell[];
}

/** What is wrong with cells, by the lines that they are in. */
function byLine(lines: readonly CsvLine[], cells: readonly FileCell[], reasons: readonly (string | null)[]): Reasons {
  return lines.map((_, line) =>
    reasons.flatMap((reason, cell) => (reason !== null && cells[cell]?.line === line ? [reason] : [])),
  );
}

function importingUser(catalog: Catalog, { access }: RegisteredApp, asked: string | undefined): string {
  if (asked === undefined) return access.rights.entries().find(([, { admin }]) => admin)?.[0] ?? '';
  if (!catalog.users.has(asked)) throw new Mistake(`there is no user ${asked}`);
  return asked;
}

/** Bytes at both ends of a file that its fingerprint looks at. */
const ENDS = 64 * 1024;

/** Names a file and how it is read, so that an interrupted import of it can be gone on with. */
async function fingerprint({ file, map, appCode, encoding, sheet }: ImportOptions): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const hash = createHash('sha256').update(
      JSON.stringify(
        // Without a sheet as it was before there were any, so that an import begun then goes on.
        [appCode, size, [...map].sort(), encoding ?? '', ...(sheet === undefined ? [] : [sheet])],
      ),
    );
    for (const start of [0, Math.max(0, size - ENDS)]) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(ENDS), 0, ENDS, start);
      hash.update(buffer.subarray(0, bytesRead));
    }
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}
