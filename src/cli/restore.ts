// `restore`: makes a register of a backup, where there is none, or only checks the backup.
import { Argument, type Command } from 'commander';
import { readConfig } from '../config/config.ts';
import type { RestoreReport } from '../operations/restore-register.ts';
import { engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { Unavailable } from '../store/store.ts';
import { type Context, opening, withFiles } from './context.ts';
import { addFileSettings, describeCommand, jsonOption, PLACE_SETTINGS } from './options.ts';

interface Options {
  readonly check?: true;
  readonly json?: true;
}

export function restore(context: Context): Command {
  const command = describeCommand(
    'restore',
    'Make the register of a backup, where there is none. It can be used when all of the backup has been read and found right.',
    'daicho restore daicho.tar.zst --data-dir ./restored',
    'daicho restore --check daicho.tar.zst',
  )
    .addArgument(new Argument('<file>', 'a file that daicho backup has made; - for standard input'))
    .option('--check', 'only read the backup and verify all of it; nothing is written')
    .addOption(jsonOption())
    .action(async (file: string, { check, json }: Options, used: Command) => {
      const { place, report } = check
        ? { place: null, report: await checkOnly(context, file) }
        : await run(context, used, file);
      if (json) context.printJson({ file, to: place, ...report });
      else context.print(describe(report, file, place));
      const { length } = report.missing;
      if (length > 0) context.note(`daicho: ${length} contents of files were missing when the backup was made`);
    });
  return addFileSettings(command);
}

async function checkOnly(context: Context, file: string): Promise<RestoreReport> {
  const { checkBackup } = await import('../operations/restore-register.ts');
  const { readBackupFile } = await import('../operations/backup-file.ts');
  const bar = context.startProgress('records');
  try {
    return await checkBackup(readBackupFile(file), { begin: bar.begin, progress: bar.report });
  } catch (error) {
    throw ofFile(error, file);
  } finally {
    bar.end();
  }
}

async function run(
  context: Context,
  used: Command,
  file: string,
): Promise<{ readonly place: string; readonly report: RestoreReport }> {
  const { restoreRegister } = await import('../operations/restore-register.ts');
  const { readBackupFile } = await import('../operations/backup-file.ts');
  const settings = readConfig(PLACE_SETTINGS, used.optsWithGlobals(), context.environment);
  const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
  return withFiles(context, used, async (files) => {
    const bar = context.startProgress('records');
    let isOpen = false;
    try {
      const openTarget: Parameters<typeof restoreRegister>[1] = async (of) => {
        const target = await opening(engine, () => engine.openTarget(of));
        isOpen = true;
        return target;
      };
      const report = await restoreRegister(readBackupFile(file), openTarget, {
        ...{ from: file === '-' ? 'a backup' : `the backup ${file}`, files },
        ...{ begin: bar.begin, progress: bar.report },
      });
      return { place: engine.place, report };
    } catch (error) {
      if (engine.isUnavailable(error)) throw new Unavailable('the database cannot be used now', { cause: error });
      throw isOpen ? ofFile(error, file, `; what is in ${engine.place} cannot be used`) : error;
    } finally {
      bar.end();
    }
  });
}

/** What is wrong with a backup is said with its name. */
function ofFile(error: unknown, file: string, more = ''): unknown {
  if (!(error instanceof Mistake)) return error;
  return new Mistake(`${file === '-' ? 'the backup' : file}: ${error.message}${more}`);
}

function describe(report: RestoreReport, file: string, place: string | null): string {
  const count = (number: number) => number.toLocaleString('en');
  const all = `${count(report.apps)} apps, ${count(report.records)} records, ${count(report.versions)} versions in the history, ${count(report.files)} files`;
  const what = place === null ? `${file === '-' ? 'The backup' : file} is whole` : `Restored to ${place}`;
  return `${what}: ${all}, as of ${report.at} (${report.seconds.toFixed(1)} s).\n`;
}
