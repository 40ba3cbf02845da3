// `move`: copies the register to another place, another database or another folder, and proves that the copy is the same.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import type { FileSettings } from '../files/file-store.ts';
import { openFileStore } from '../files/file-stores.ts';
import type { MoveReport } from '../operations/move-register.ts';
import { type Engine, engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { Unavailable } from '../store/store.ts';
import { type Context, fileSettings, opening } from './context.ts';
import { addFileSettings, describeCommand, FILE_SETTINGS, jsonOption, PLACE_SETTINGS } from './options.ts';

/** Differences that are shown; JSON has more. */
const SHOWN = 20;

interface Options {
  readonly to: string;
  readonly json?: true;
}

export function move(context: Context): Command {
  const command = describeCommand(
    'move',
    'Copy the register to another database or folder, where there is none, and prove that the copy is the same.',
    'daicho move --to postgres://daicho@db.example.com/daicho',
    'daicho move --database-url postgres://daicho@db.example.com/daicho --to ./data',
  )
    .addOption(
      new Option('--to <place>', 'where to: the address of a PostgreSQL database, or a folder')
        .makeOptionMandatory()
        .argParser(readPlace),
    )
    .addOption(jsonOption())
    .action(async ({ to, json }: Options, used: Command) => {
      const settings = readConfig([...PLACE_SETTINGS, ...FILE_SETTINGS], used.optsWithGlobals(), context.environment);
      const from = await engineOf({ ...FOR_COMMANDS, ...settings, distribute: '' });
      const { distribute } = settings;
      const target = await engineOf({ ...FOR_COMMANDS, distribute, dataDir: to, databaseUrl: isAddress(to) ? to : '' });
      // Contents stay where they are, unless they are in the data folder and the register moves to another one.
      const isMoving = settings.s3Bucket === '' && settings.filesDir === '' && !isAddress(to);
      const files = fileSettings(settings);
      const report = await run(context, from, target, {
        from: files,
        to: isMoving ? fileSettings({ ...settings, dataDir: to }) : files,
      });
      if (json) context.printJson({ from: from.place, to: target.place, ...report });
      else context.print(describe(report, from, target));
      if (!report.verified) context.fail();
    });
  return addFileSettings(command);
}

async function run(
  context: Context,
  from: Engine,
  to: Engine,
  files: { readonly from: FileSettings; readonly to: FileSettings },
): Promise<MoveReport> {
  const { moveRegister } = await import('../operations/move-register.ts');
  if (!(await opening(from, () => from.hasRegister()))) throw new Mistake(`there is no register in ${from.place}`);
  const source = await opening(from, () => from.openSource());
  const filesFrom = await openFileStore(files.from);
  const filesTo = files.to === files.from ? filesFrom : await openFileStore(files.to);
  const bar = context.startProgress('records');
  try {
    return await moveRegister(source, (of) => opening(to, () => to.openTarget(of)), {
      from: from.place,
      files: { from: filesFrom, to: filesTo },
      begin: bar.begin,
      progress: bar.report,
    });
  } catch (error) {
    if (!from.isUnavailable(error) && !to.isUnavailable(error)) throw error;
    throw new Unavailable('a database cannot be used now', { cause: error });
  } finally {
    bar.end();
    await source.close();
    await filesFrom.close();
    if (filesTo !== filesFrom) await filesTo.close();
  }
}

function isAddress(place: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(place);
}

function readPlace(place: string): string {
  if (place === '' || place.includes('\0')) throw new InvalidArgumentError('Name a folder or a database.');
  if (!isAddress(place) && /^\w+:\/\//.test(place)) {
    throw new InvalidArgumentError('The address of a database begins with postgres:// or postgresql://.');
  }
  return place;
}

function describe(report: MoveReport, from: Engine, to: Engine): string {
  const { differences, different, seconds } = report;
  const count = (number: number) => number.toLocaleString('en');
  const all = `${count(report.apps)} apps, ${count(report.records)} records, ${count(report.versions)} versions in the history, ${count(report.files)} files`;
  if (report.verified) {
    return `Moved to ${to.place} and verified: ${all} (${seconds.toFixed(1)} s).\n`;
  }
  const lines = differences.slice(0, SHOWN).map(({ app, message }) => `${app === '' ? '' : `${app}: `}${message}`);
  if (different > SHOWN) lines.push(`… and ${count(different - SHOWN)} more`);
  return [
    ...lines,
    `Copied ${all} (${seconds.toFixed(1)} s), but the register was changed meanwhile: ${count(different)} differences.`,
    `The copy cannot be used yet. Stop what works on ${from.place}, and run the same command again.`,
    '',
  ].join('\n');
}
