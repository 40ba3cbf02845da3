// `record export`: writes records of an app as CSV, JSON lines or XLSX, and their files into a folder.

import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import type { FileStore } from '../files/file-store.ts';
import { drained } from '../operations/drained.ts';
import type { ExportReport } from '../operations/export-records.ts';
import { FORMATS, type Format } from '../operations/exported.ts';
import { ENCODINGS, type Encoding } from '../operations/read-text.ts';
import { engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { type Context, opening, withFiles } from './context.ts';
import { addFileSettings, appArgument, describeCommand, jsonOption, PLACE_SETTINGS } from './options.ts';

interface Options {
  readonly format?: Format;
  readonly encoding?: Encoding;
  readonly where: readonly string[];
  readonly names?: true;
  readonly output?: string;
  readonly files?: string;
  readonly json?: true;
}

export function recordExport(context: Context): Command {
  const command = describeCommand(
    'export',
    'Write records of an app as CSV, JSON lines or XLSX, as they are at one moment; record import reads them.',
    'daicho record export ORDERS > orders.csv',
    'daicho record export ORDERS --output orders.xlsx --where ord_date=2026-04-01 --where ord_date_to=2026-04-30',
    'daicho record export ORDERS --output orders.csv --encoding cp932 --names',
    'daicho record export ORDERS --output orders.csv --files ./attachments',
  )
    .addArgument(appArgument())
    .addOption(
      new Option(
        '--format <name>',
        'what to write; by the name of the output (.jsonl, .xlsx) where it is left out, else CSV',
      ).choices(FORMATS),
    )
    .addOption(new Option('--encoding <name>', 'encoding of CSV (default: utf-8)').choices(ENCODINGS))
    .option(
      '--where <field=keyword>',
      'only records that a search finds by it; FIELD_to=… is the upper bound of a range, TABLE.FIELD=… is for rows; can be repeated, all must be met',
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option('--names', 'name the columns by the names of the fields, not by their IDs')
    .option('--output <file>', 'file to write; standard output where it is left out')
    .option(
      '--files <folder>',
      'folder to write the contents of file and image fields into; their cells hold the paths, without it the file IDs',
    )
    .addOption(jsonOption())
    .action(async (code: string, options: Options, used: Command) => {
      const { output, json } = options;
      if (json && output === undefined) throw new Mistake('--json reports what --output wrote; give --output too');
      if (output === undefined) {
        await exportAll(context, used, code, process.stdout, options);
        return;
      }
      const report = await intoFile(output, (target) => exportAll(context, used, code, target, options));
      if (json) context.printJson({ app: code, output, format: formatOf(options), ...report });
      else context.print(describe(report, code, output));
    });
  return addFileSettings(command);
}

function formatOf({ format, output = '' }: Options): Format {
  return format ?? FORMATS.find((name) => output.toLowerCase().endsWith(`.${name}`)) ?? 'csv';
}

/** Writes a file that gets its name when it is whole; until then one of that name stays as it is. */
async function intoFile<T>(output: string, work: (target: Writable) => Promise<T>): Promise<T> {
  const before = await stat(output).catch(() => null);
  // A pipe or a device cannot be replaced.
  const isReplaced = before === null || before.isFile();
  const path = isReplaced ? `${output}.part` : output;
  // An error is thrown at the next piece, or at the end.
  const target = createWriteStream(path).on('error', () => {});
  try {
    const done = await work(target);
    target.end();
    await finished(target);
    if (isReplaced) await rename(path, output);
    return done;
  } catch (error) {
    target.destroy();
    if (isReplaced) await rm(path, { force: true });
    throw error;
  }
}

async function exportAll(
  context: Context,
  used: Command,
  appCode: string,
  target: Writable,
  options: Options,
): Promise<ExportReport> {
  const { encoding, names = false, where, files: folder } = options;
  const format = formatOf(options);
  if (encoding !== undefined && format !== 'csv') throw new Mistake(`--encoding is for CSV; ${format} has its own`);
  if (names && format === 'jsonl') throw new Mistake('--names is for CSV and XLSX; JSON lines are named by field IDs');
  if (format === 'xlsx' && target === process.stdout && process.stdout.isTTY)
    throw new Mistake('XLSX is no text; write it to a file with --output');
  const { exportRecords } = await import('../operations/export-records.ts');
  const settings = readConfig(PLACE_SETTINGS, used.optsWithGlobals(), context.environment);
  const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
  if (!(await opening(engine, () => engine.hasRegister())))
    throw new Mistake(`there is no register in ${engine.place}`);
  const run = async (store?: FileStore) => {
    const source = await opening(engine, () => engine.openSource());
    const bar = context.startProgress('records');
    try {
      return await exportRecords(source, {
        ...{ appCode, format, encoding: encoding ?? 'utf-8', names, where },
        ...(folder !== undefined && store && { files: { folder, store } }),
        async write(piece) {
          if (!target.write(piece)) await drained(target);
          // Whoever reads standard output may have seen enough.
          if (target.errored !== null && target !== process.stdout) throw target.errored;
        },
        progress: bar.report,
      });
    } finally {
      bar.end();
      await source.close();
    }
  };
  return folder === undefined ? run() : withFiles(context, used, run);
}

function describe({ records, files }: ExportReport, code: string, output: string): string {
  const count = (number: number) => number.toLocaleString('en');
  return `${code}: ${count(records)} records and ${count(files)} files written to ${output}\n`;
}
