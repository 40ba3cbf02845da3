// `record import`: puts the records of a CSV, JSON lines or XLSX file into an app.
import { type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../config/config.ts';
import type { FileSource } from '../operations/file-cells.ts';
import type { ImportReport } from '../operations/import-records.ts';
import type { Encoding } from '../operations/read-text.ts';
import { type Context, withFiles, withRegister } from './context.ts';
import { addFileSettings, appArgument, describeCommand, encodingOption, jsonOption } from './options.ts';

interface Options {
  readonly map: ReadonlyMap<string, string>;
  readonly dryRun?: true;
  readonly encoding?: Encoding;
  readonly sheet?: string;
  readonly user?: string;
  readonly files?: string;
  readonly json?: true;
}

export function recordImport(context: Context): Command {
  const command = describeCommand(
    'import',
    'Put the records of a file (CSV, JSON lines, XLSX) into an app; those whose primary key exists are updated.',
    'daicho record import ORDERS orders.csv',
    'daicho record import ORDERS orders.csv --map 得意先=ord_customer --map 備考2= --dry-run',
    'daicho record import ORDERS orders.xlsx --sheet 2026',
    'daicho record import ORDERS orders.csv --files ./attachments',
  )
    .addArgument(appArgument())
    .argument(
      '<file>',
      'CSV or XLSX file whose header row has field IDs or names, or JSON lines whose members have field IDs',
    )
    .option(
      '--map <column=field>',
      'field that a column is for; none to leave the column out; can be repeated',
      addMapping,
      new Map(),
    )
    .option('--dry-run', 'read and check everything, write nothing but the bad rows')
    .addOption(encodingOption())
    .option('--sheet <name>', 'sheet of an XLSX file; the first that is not hidden where it is left out')
    .option(
      '--user <user>',
      'user who is noted as having put the records in (default: the first administrator of the app)',
    )
    .option(
      '--files <folder>',
      'folder of the files that cells of file and image fields name by paths inside of it; without it they hold IDs of files of the app',
    )
    .addOption(jsonOption())
    .action((code: string, file: string, options: Options, used: Command) =>
      withRegister(context, used, async (register) => {
        const bar = context.startProgress('records');
        const stop = new AbortController();
        const onSignal = () => stop.abort();
        process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
        const { map, dryRun = false, encoding, sheet, user, json } = options;
        try {
          const { importRecords } = await import('../operations/import-records.ts');
          const more = {
            ...(encoding && { encoding }),
            ...(sheet !== undefined && { sheet }),
            ...(user !== undefined && { userId: user }),
          };
          const load = (files?: FileSource) =>
            importRecords(register, {
              ...{ appCode: code, file, map, dryRun, ...more, ...(files && { files }) },
              signal: stop.signal,
              progress: bar.report,
              onIndexing: () => bar.begin('indexing', 'steps'),
            });
          const { files: folder } = options;
          const { svgImages: svg } = readConfig(['svgImages'], used.optsWithGlobals(), context.environment);
          const report =
            folder === undefined
              ? await load()
              : await withFiles(context, used, (store) => load({ folder, store, svg, dryRun }));
          bar.end();
          if (json) context.printJson(report);
          else context.print(describe(report, code, file));
          if (report.bad > 0 || report.stopped) context.fail();
        } finally {
          bar.end();
          process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
        }
      }),
    );
  return addFileSettings(command, 'svgImages');
}

function addMapping(text: string, map: Map<string, string>): Map<string, string> {
  const equals = text.lastIndexOf('=');
  if (equals < 1) throw new InvalidArgumentError('Write COLUMN=FIELD, or COLUMN= to leave the column out.');
  map.set(text.slice(0, equals), text.slice(equals + 1));
  return map;
}

function describe(report: ImportReport, code: string, file: string): string {
  const count = (number: number) => number.toLocaleString('en');
  const lines = report.notes.map((note) => `Note: ${note}`);
  if (report.resumedAt > 0)
    lines.push(`Went on after the first ${count(report.resumedAt)} records, which were in already.`);
  const rate = `${report.seconds.toFixed(1)} s, ${count(report.recordsPerSecond)} records/s, read as ${report.encoding ?? report.format}`;
  if (report.dryRun)
    lines.push(`Nothing was written: ${count(report.good)} records are good, ${count(report.bad)} bad (${rate}).`);
  else {
    lines.push(
      `${code}: ${count(report.inserted)} records put in, ${count(report.updated)} updated, ${count(report.bad)} bad (${rate}).`,
    );
  }
  if (report.errorsFile !== null) lines.push(`The bad rows and the reasons are in ${report.errorsFile}`);
  if (report.stopped && !report.dryRun) {
    lines.push(`Stopped. To go on where it stopped, run the same command again: daicho record import ${code} ${file}`);
  } else if (report.stopped) lines.push('Stopped before the end of the file.');
  return lines.map((line) => `${line}\n`).join('');
}
