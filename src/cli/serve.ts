// `serve`: the server, from its first start to the signal that ends it.
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Command } from 'commander';
import { type Config, readConfig, SETTINGS, type Setting, type SettingName } from '../config/config.ts';
import { createLog, type Log } from '../config/log.ts';
import { createHttpServer } from '../http/server.ts';
import { Mistake } from '../store/register.ts';
import { hasSqliteRegister, openSqliteRegister } from '../store/sqlite/sqlite-register.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { type Context, opening, reasonOf } from './context.ts';
import { gracefulEnd } from './graceful-end.ts';
import { describeCommand } from './options.ts';
import { addressOf, welcome } from './welcome.ts';

const NAMES = Object.keys(SETTINGS) as SettingName[];

export function serve(context: Context): Command {
  const command = describeCommand(
    'serve',
    'Run the server. In a folder without a register it first makes one with an example app.',
    'daicho serve',
    'daicho serve --port 8080 --data-dir /var/lib/daicho',
  );
  for (const name of NAMES) {
    // The data folder is an option of every command.
    if (name !== 'dataDir') command.option(flagsOf(SETTINGS[name]), helpOf(SETTINGS[name]));
  }
  return command.action((_: unknown, used: Command) => {
    const config = readConfig(NAMES, flagsGiven(used.optsWithGlobals()), context.environment);
    return run(context, config, createLog(config.logLevel));
  });
}

async function run(context: Context, config: Config, log: Log): Promise<void> {
  const { dataDir } = config;
  // Before anything is made: the keys of a first start are shown once, when the server is there.
  await probe(config);
  const first = hasSqliteRegister(dataDir) ? null : await makeFirst(dataDir);
  const store = opening(dataDir, () => openSqliteStore(config));
  const { httpStatus, ...options } = config;
  const server = createHttpServer(store, { ...options, always200: httpStatus === 'always-200' }, log);
  const end = gracefulEnd(server);
  try {
    const address = addressOf(config.host, await listen(server, config), config.basePath);
    // Before it is said that the server is there: whoever reads that may send the signal.
    const toEnd = firstSignal();
    log.info('listening', () => ({ address, dataDir }));
    context.print(welcome(address, dataDir, first));
    resume(store, log);
    const signal = await toEnd;
    log.info('stopping', () => ({ signal }));
    await end();
  } finally {
    await store.close();
  }
  log.info('stopped');
}

async function makeFirst(dataDir: string) {
  try {
    // Only when it is needed: what it takes to make the example would stay in memory.
    const { makeExample } = await import('../operations/first-start.ts');
    return await makeExample(dataDir, (folder) => openSqliteRegister({ dataDir: folder }));
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    const isOutside = (code !== undefined && syscall !== undefined) || reasonOf(error) !== null;
    throw isOutside ? new Mistake(`cannot make a register in the data folder ${dataDir}: ${message}`) : error;
  }
}

/** Refuses an address that cannot be listened on. */
async function probe({ port, host }: Config): Promise<void> {
  const server = createServer();
  await listen(server as Server, { port, host });
  await new Promise((resolve) => server.close(resolve));
}

/** Listens; gives the port. */
function listen(server: Server, { port, host }: Pick<Config, 'port' | 'host'>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const reason = code === 'EADDRINUSE' ? `port ${port} of ${host} is in use; choose another with --port` : message;
      reject(new Mistake(`cannot listen: ${reason}`));
    });
    server.listen({ port, host }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function resume(store: Store, log: Log): void {
  store.resume().catch((error: Error) => {
    log.error('unfinished work cannot be gone on with', () => ({ error: error.stack ?? String(error) }));
  });
}

/** Resolves at the first signal to end; a second one ends the process at once. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isEnding = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (isEnding) process.exit(1);
      isEnding = true;
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}

function flagsOf({ flag, placeholder }: Setting<unknown>): string {
  return `${flag} <${placeholder}>`;
}

function helpOf({ meaning, variable, default: usual }: Setting<unknown>): string {
  return `${meaning} (environment: ${variable}, default: ${usual === '' ? 'none' : usual})`;
}

/** The options of commander, which names them after their flags, by the names of the settings. */
function flagsGiven(options: Readonly<Record<string, unknown>>): { readonly [name in SettingName]?: string } {
  const given: Partial<Record<SettingName, string>> = {};
  for (const name of NAMES) {
    const attribute = SETTINGS[name].flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const value = options[attribute];
    if (typeof value === 'string') given[name] = value;
  }
  return given;
}
