// What a command has to do with the world: the environment, where it prints, how it ends.

import { join } from 'node:path';
import type { Command } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import type { FileSettings, FileStore } from '../files/file-store.ts';
import { openFileStore } from '../files/file-stores.ts';
import { type Engine, engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake, type Register } from '../store/register.ts';
import { Unavailable } from '../store/store.ts';
import { FILE_SETTINGS, PLACE_SETTINGS } from './options.ts';
import { type ProgressBar, startProgress } from './progress.ts';

export interface Context {
  readonly environment: Environment;
  /** Data, on standard output. */
  print(text: string): void;
  printJson(value: unknown): void;
  /** A line said beside the data, on standard error. */
  note(line: string): void;
  /** Shows how far long work is, on standard error; `unit` is what is counted. */
  startProgress(unit: string): ProgressBar;
  /** The command has said what is wrong; it ends with exit code 1. */
  fail(): void;
}

export interface CommandContext extends Context {
  readonly exitCode: 0 | 1;
}

/** A context on the process's own streams. */
export function processContext(environment: Environment): CommandContext {
  let exitCode: 0 | 1 = 0;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // Whoever read the output has seen enough, as `head` does.
      if (error.code !== 'EPIPE') throw error;
    });
  }
  const print = (text: string) => void process.stdout.write(text);
  return {
    environment,
    print,
    printJson: (value) => print(`${JSON.stringify(value, null, 2)}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    startProgress: (unit) => startProgress(process.stderr, unit),
    fail() {
      exitCode = 1;
    },
    get exitCode() {
      return exitCode;
    },
  };
}

/** Opens the register that a command is about, does the work, closes it. */
export function withRegister<T>(
  context: Context,
  command: Command,
  work: (register: Register) => Promise<T>,
): Promise<T> {
  return withOpened(context, command, (engine) => engine.openRegister(), work);
}

/** Opens something of the register that a command is about, does the work, closes it. */
export async function withOpened<Opened extends { close(): Promise<void> }, T>(
  context: Context,
  command: Command,
  open: (engine: Engine, place: Pick<Config, (typeof PLACE_SETTINGS)[number]>) => Promise<Opened>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const settings = readConfig(PLACE_SETTINGS, command.optsWithGlobals(), context.environment);
  const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
  const opened = await opening(engine, () => open(engine, settings));
  try {
    return await work(opened);
  } catch (error) {
    if (!engine.isUnavailable(error)) throw error;
    throw new Unavailable('the database cannot be used now', { cause: error });
  } finally {
    await opened.close();
  }
}

/** Opens the file store that a command is about, does the work, closes it. */
export async function withFiles<T>(
  context: Context,
  command: Command,
  work: (files: FileStore) => Promise<T>,
): Promise<T> {
  const settings = readConfig([...FILE_SETTINGS, 'dataDir'], command.optsWithGlobals(), context.environment);
  const files = await openFileStore(fileSettings(settings));
  try {
    return await work(files);
  } finally {
    await files.close();
  }
}

/** The settings of the file store; its folder is in the data folder where no other is named. */
export function fileSettings(settings: Pick<Config, keyof FileSettings | 'dataDir'>): FileSettings {
  return { ...settings, filesDir: settings.filesDir === '' ? join(settings.dataDir, 'files') : settings.filesDir };
}

/** Opens something of an engine; whatever stops that is told in one line. */
export async function opening<T>({ place }: Engine, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Mistake(`cannot open ${place}: ${cause instanceof Error ? cause.message : message}`);
  }
}

/** Why work could not be done, where that lies outside of the program: in what was asked for, in a file, in the database's state. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof Mistake) return error.message;
  if (error instanceof Unavailable) return `${error.message}: ${(error.cause as Error | undefined)?.message ?? ''}`;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  return code !== undefined && syscall !== undefined ? message : null;
}
