// Runs the command line as people do: bin/daicho.js in a process of its own, on a data folder that is removed afterwards.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export const BIN = fileURLToPath(new URL('../../bin/daicho.js', import.meta.url));

/** A folder that is removed when the test has ended. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'daicho-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Settings of the shell that the tests are called from do not reach the command. */
export function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, SystemRoot } = process.env;
  return { PATH, HOME, TMPDIR, SystemRoot, TZ: 'Asia/Tokyo', ...more };
}

/** Runs a command to its end. */
export async function daicho(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node = process.execPath,
): Promise<Ran> {
  const child = spawn(node, [BIN, ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

/** Runs commands on one data folder. */
export function onFolder(dataDir: string): (...args: string[]) => Promise<Ran> {
  return (...args) => daicho([...args, '--data-dir', dataDir]);
}

export interface RunningServer {
  readonly process: ChildProcess;
  readonly address: string;
  /** What it has printed by now. */
  out(): string;
  err(): string;
  /** Sends a signal and gives the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a server on a free port and waits until it says its address. */
export async function startServer(t: TestContext, dataDir: string, ...args: string[]): Promise<RunningServer> {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--data-dir', dataDir, ...args], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    err += piece;
  });
  const closed = once(child, 'close');
  const ended = closed.then(() => {
    throw new Error(`the server ended with ${child.exitCode}:\n${out}${err}`);
  });
  // It ends some time, which is no failure once it has started.
  ended.catch(() => {});
  while (!/--help\n$/.test(out)) await Promise.race([once(child.stdout, 'data'), ended]);
  return {
    process: child,
    address: /^Daicho is at (\S+)$/m.exec(out)?.[1] ?? '',
    out: () => out,
    err: () => err,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}
