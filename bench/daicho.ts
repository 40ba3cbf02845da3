// Daicho as the bench uses it: its command line, its server, its operations.
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, run, start, watchMemory } from './processes.ts';
import { APP_CODE } from './register.ts';

const COMMAND = fileURLToPath(new URL('../bin/daicho.js', import.meta.url));
export const SEARCH_PATH = '/webapi/v1/dataset/search';
export const UPDATE_PATH = '/webapi/v1/data/update';
export const DOWNLOAD_PATH = '/webapi/x1/file/download';
const START_PATIENCE = 60_000;

/** Where the register is. */
export interface Where {
  /** Folder of SQLite's register, and of the bench's note about it. */
  readonly data: string;
  /** Address of a PostgreSQL database; '' for SQLite. */
  readonly database: string;
}

// Settings of the shell that the bench is called from must not reach the server.
function environment({ data, database }: Where, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, SystemRoot, DATA_DIR: data, DATABASE_URL: database, LOG_LEVEL: 'error', ...more };
}

/** Runs one command and returns what it printed. */
export function command(where: Where, ...args: string[]): Promise<string> {
  return run(COMMAND, args, environment(where));
}

/** Runs one command and gives the most memory that it had, in bytes. */
export async function memoryOfCommand(where: Where, ...args: string[]): Promise<number | null> {
  let most: () => number | null = () => null;
  await run(COMMAND, args, environment(where), (child) => {
    most = watchMemory(child);
  }).finally(() => most());
  return most();
}

/** A new key of the app for a user. */
export async function issueKey(where: Where, user: string, code: string = APP_CODE): Promise<string> {
  const printed = JSON.parse(await command(where, 'key', 'issue', code, user, '--json')) as { key?: unknown };
  if (typeof printed.key !== 'string') throw new Error('"key issue --json" printed no key');
  return printed.key;
}

export interface Server {
  readonly process: ChildProcess;
  readonly port: number;
}

/** Starts the server; it may not answer yet. */
export async function serve(where: Where, workers: number, more: NodeJS.ProcessEnv = {}): Promise<Server> {
  const port = await freePort();
  const server = start(
    COMMAND,
    ['serve', '--workers', String(workers)],
    environment(where, { HOST: '127.0.0.1', PORT: String(port), ...more }),
  );
  // Nobody reads what it prints; a full pipe would stop it.
  server.stdout?.resume();
  return { process: server, port };
}

/** Milliseconds from the start of the server's process to its first answer to a search. */
export async function firstAnswer(server: Server, body: string, from: number): Promise<number> {
  while (performance.now() - from < START_PATIENCE && server.process.exitCode === null) {
    try {
      await call(server.port, SEARCH_PATH, body);
      return performance.now() - from;
    } catch (error) {
      // Nothing listens yet; an answer that is wrong is not waited for.
      if (!(error instanceof TypeError)) throw error;
      await setTimeout(3);
    }
  }
  throw new Error('the server does not answer');
}

/** A request's body. */
export function form(key: string, parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams({ appcode: APP_CODE, appkey: key, ...parameters }).toString();
}

/** What an answer holds, as far as the bench looks. */
export interface Answer {
  readonly rkwa_status: string;
  readonly rkwa_errorcount: number;
  readonly rkwa_errmsg: readonly string[] | null;
  readonly [member: string]: unknown;
}

/** Sends one request; an answer that is not OK is an error. */
export async function call(port: number, path: string, body: string): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
  });
  const answer = (await response.json()) as Answer;
  if (response.status !== 200 || answer.rkwa_status !== 'OK') {
    throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer.rkwa_errmsg)}`);
  }
  return answer;
}
