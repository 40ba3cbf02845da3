// `record export`: writes the records of an app as CSV, and their files into a folder.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import type { FileStore } from '../files/file-store.ts';
import type { ExportReport } from '../operations/export-records.ts';
import { engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { type Context, opening, withFiles } from './context.ts';
import { addFileSettings, appArgument, describeCommand, jsonOption, PLACE_SETTINGS } from './options.ts';

interface Options {
  readonly output?: string;
  readonly files?: string;
  readonly json?: true;
}

export function recordExport(context: Context): Command {
  const command = describeCommand(
    'export',
    'Write all records of an app as CSV, as they are at one moment; record import reads it.',
    'daicho record export ORDERS > orders.csv',
    'daicho record export ORDERS --output orders.csv --files ./attachments',
  )
    .addArgument(appArgument())
    .option('--output <file>', 'file to write; standard output where it is left out')
    .option(
      '--files <folder>',
      'folder to write the contents of file and image fields into; their cells hold the paths, without it the file IDs',
    )
    .addOption(jsonOption())
    .action(async (code: string, { output, files: folder, json }: Options, used: Command) => {
      if (json && output === undefined) throw new Mistake('--json reports what --output wrote; give --output too');
      const target = output === undefined ? process.stdout : createWriteStream(output);
      const run = (store?: FileStore) =>
        exportAll(context, used, code, target, store && folder !== undefined ? { folder, store } : undefined);
      const report = folder === undefined ? await run() : await withFiles(context, used, run);
      if (output === undefined) return;
      target.end();
      await finished(target);
      if (json) context.printJson({ app: code, output, ...report });
      else context.print(describe(report, code, output));
    });
  return addFileSettings(command);
}

async function exportAll(
  context: Context,
  used: Command,
  appCode: string,
  target: Writable,
  files: { readonly folder: string; readonly store: FileStore } | undefined,
): Promise<ExportReport> {
  const { exportRecords } = await import('../operations/export-records.ts');
  const settings = readConfig(PLACE_SETTINGS, used.optsWithGlobals(), context.environment);
  const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
  if (!(await opening(engine, () => engine.hasRegister())))
    throw new Mistake(`there is no register in ${engine.place}`);
  const source = await opening(engine, () => engine.openSource());
  const bar = context.startProgress('records');
  try {
    return await exportRecords(source, {
      appCode,
      ...(files && { files }),
      async write(text) {
        if (!target.write(text)) await Promise.race([once(target, 'drain'), once(target, 'close')]);
      },
      progress: bar.report,
    });
  } finally {
    bar.end();
    await source.close();
  }
}

function describe({ records, files }: ExportReport, code: string, output: string): string {
  const count = (number: number) => number.toLocaleString('en');
  return `${code}: ${count(records)} records and ${count(files)} files written to ${output}\n`;
}
