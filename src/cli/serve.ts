// `serve`: the server, from its first start to the signal that ends it.
import type { Command } from 'commander';
import { type Config, readConfig, SETTINGS, type SettingName } from '../config/config.ts';
import { createLog, type Log } from '../config/log.ts';
import { type Engine, engineOf } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { type Answering, startAnswering } from './answering.ts';
import { type Context, opening, reasonOf } from './context.ts';
import { firstSignal } from './first-signal.ts';
import { probe } from './listen.ts';
import { describeCommand, flagsOf, helpOf, PLACE_SETTINGS } from './options.ts';
import { addressOf, welcome } from './welcome.ts';

const NAMES = Object.keys(SETTINGS) as SettingName[];

export function serve(context: Context): Command {
  const command = describeCommand(
    'serve',
    'Run the server. Where there is no register yet it first makes one with an example app.',
    'daicho serve',
    'daicho serve --port 8080 --data-dir /var/lib/daicho --workers 4',
  );
  for (const name of NAMES) {
    // Where the register is, is an option of every command.
    if (!PLACE_SETTINGS.some((place) => place === name))
      command.option(flagsOf(SETTINGS[name]), helpOf(SETTINGS[name]));
  }
  return command.action((_: unknown, used: Command) => {
    const config = readConfig(NAMES, flagsGiven(used.optsWithGlobals()), context.environment);
    return run(context, config, createLog(config.logLevel));
  });
}

async function run(context: Context, config: Config, log: Log): Promise<void> {
  const { workers } = config;
  const engine = await engineOf(config);
  // Before anything is made: the keys of a first start are shown once, when the server is there.
  const free = await probe(config);
  const first = (await opening(engine, () => engine.hasRegister())) ? null : await makeFirst(engine);
  const { port, end } =
    workers === 1 ? await startAnswering(config, log, true) : await startSeveral({ ...config, port: free }, log);
  const address = addressOf(config.host, port, config.basePath);
  // Before it is said that the server is there: whoever reads that may send the signal.
  const toEnd = firstSignal();
  log.info('listening', () => ({ address, register: engine.place, ...(workers === 1 ? {} : { workers }) }));
  context.print(welcome(address, engine.place, first));
  const signal = await toEnd;
  log.info('stopping', () => ({ signal }));
  await end();
  log.info('stopped');
}

async function startSeveral(config: Config, log: Log): Promise<Answering> {
  // Only when it is needed: one process is no cluster.
  const { startWorkers } = await import('./workers.ts');
  return startWorkers(config, log);
}

async function makeFirst(engine: Engine) {
  try {
    // Only when it is needed: what it takes to make the example would stay in memory.
    const { makeExample } = await import('../operations/first-start.ts');
    return await engine.makeRegister(makeExample);
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    const isOutside =
      (code !== undefined && syscall !== undefined) || engine.isUnavailable(error) || reasonOf(error) !== null;
    throw isOutside ? new Mistake(`cannot make a register in ${engine.place}: ${message}`) : error;
  }
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
