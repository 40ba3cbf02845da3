// `backup`: writes the whole register, files included, into one file, as it is at one moment.
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../config/config.ts';
import type { FileStore } from '../files/file-store.ts';
import type { BackupReport } from '../operations/backup-register.ts';
import { type Engine, engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { Unavailable } from '../store/store.ts';
import { type Context, opening, withFiles } from './context.ts';
import { firstSignal } from './first-signal.ts';
import { addFileSettings, describeCommand, jsonOption, PLACE_SETTINGS } from './options.ts';
import { version } from './version.ts';

/** Missing contents that are said one by one; JSON has all. */
const SHOWN = 20;

interface Options {
  readonly allowMissing?: true;
  readonly json?: true;
}

interface Made extends BackupReport {
  /** Bytes of the file; null for standard output. */
  readonly size: number | null;
}

export function backup(context: Context): Command {
  const command = describeCommand(
    'backup',
    'Write the whole register, with the contents of its files, into one file, as it is at one moment. The server may run meanwhile.',
    'daicho backup daicho.tar.zst',
    'daicho backup - | ssh backup.example.com "cat > daicho.tar"',
  )
    .addArgument(
      new Argument(
        '<file>',
        'file to write: .tar, .tar.gz or .tar.zst, which says how it is compressed; - for standard output',
      ).argParser(readName),
    )
    .option('--allow-missing', 'make it also where contents of files are missing or damaged, and say which')
    .addOption(jsonOption())
    .action((file: string, { allowMissing, json }: Options, used: Command) =>
      withFiles(context, used, async (files) => {
        if (json && file === '-') throw new Mistake('standard output is either the backup or JSON');
        const settings = readConfig(PLACE_SETTINGS, used.optsWithGlobals(), context.environment);
        const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
        const made = await run(context, engine, files, file, allowMissing === true);
        if (json) context.printJson({ file, from: engine.place, ...made });
        else if (file !== '-') context.print(describe(made, file));
        if (made.withoutContent.length === 0) return;
        for (const line of missingLines(made)) context.note(`daicho: ${line}`);
        context.fail();
      }),
    );
  return addFileSettings(command);
}

async function run(
  context: Context,
  engine: Engine,
  files: FileStore,
  file: string,
  allowMissing: boolean,
): Promise<Made> {
  const { backupRegister } = await import('../operations/backup-register.ts');
  const { compressionOf, writeBackupFile } = await import('../operations/backup-file.ts');
  if (!(await opening(engine, () => engine.hasRegister())))
    throw new Mistake(`there is no register in ${engine.place}`);
  const source = await opening(engine, () => engine.openSource());
  const bar = context.startProgress('records');
  const stop = new AbortController();
  void firstSignal().then(() => stop.abort());
  let report: BackupReport | null = null;
  const bytes = async function* () {
    report = yield* backupRegister(source, {
      ...{ files, from: engine.place, daicho: version(), allowMissing },
      ...{ begin: bar.begin, progress: bar.report },
    });
  };
  try {
    const compression = compressionOf(file) ?? 'none';
    const size =
      file === '-'
        ? await writeOut(bytes(), stop.signal)
        : (await writeBackupFile(file, compression, bytes(), stop.signal)).size;
    return { ...(report as unknown as BackupReport), size };
  } catch (error) {
    if (stop.signal.aborted) throw new Mistake('interrupted; there is no backup');
    if (!engine.isUnavailable(error)) throw error;
    throw new Unavailable('the database cannot be used now', { cause: error });
  } finally {
    bar.end();
    await source.close();
  }
}

async function writeOut(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<null> {
  const { pipeline } = await import('node:stream/promises');
  await pipeline(bytes, process.stdout, { signal, end: false });
  return null;
}

function readName(file: string): string {
  if (file === '-' || /.\.(?:tar|tar\.gz|tgz|tar\.zst|tzst)$/.test(file)) return file;
  throw new InvalidArgumentError('Name a file that ends in .tar, .tar.gz or .tar.zst, or - for standard output.');
}

function describe(made: Made, file: string): string {
  const count = (number: number) => number.toLocaleString('en');
  return (
    `Backed up to ${file}: ${count(made.apps)} apps, ${count(made.records)} records, ${count(made.versions)} versions in the history, ` +
    `${count(made.files)} files; ${count(made.size ?? 0)} bytes, as of ${made.at} (${made.seconds.toFixed(1)} s).\n`
  );
}

function missingLines({ withoutContent }: BackupReport): readonly string[] {
  const lines = withoutContent
    .slice(0, SHOWN)
    .map(({ app, id, name }) => `${app}: the content of file ${id} (${name}) is missing, or damaged`);
  const more = withoutContent.length - SHOWN;
  return more > 0 ? [...lines, `… and ${more.toLocaleString('en')} more`] : lines;
}
