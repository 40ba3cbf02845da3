// The processes that the bench starts: none outlives it, and their memory can be asked.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';

const running = new Set<ChildProcess>();
const OWN_GROUP = process.platform !== 'win32';
const STOP_PATIENCE = 10_000;

/** Starts a script on this Node; its errors go to the bench's own stderr. */
export function start(script: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, so that what the child starts is stopped with it.
    detached: OWN_GROUP,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Runs a script to its end and returns what it printed. */
export async function run(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  started: (child: ChildProcess) => void = () => {},
): Promise<string> {
  const child = start(script, args, env);
  started(child);
  const [printed] = await Promise.all([child.stdout ? text(child.stdout) : '', once(child, 'close')]);
  if (child.exitCode !== 0) {
    throw new Error(`${script} ${args.join(' ')} ended with ${child.exitCode ?? child.signalCode}:\n${printed}`);
  }
  return printed;
}

/** Asks a process to stop, makes it after a while, and waits until it has. */
export async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const exit = once(child, 'exit');
  signal(child, 'SIGTERM');
  const insist = setTimeout(() => signal(child, 'SIGKILL'), STOP_PATIENCE);
  await exit;
  clearTimeout(insist);
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

// A bench that dies of a fault still takes its processes along.
process.on('exit', () => {
  for (const child of running) signal(child, 'SIGKILL');
});

function signal(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    process.kill(OWN_GROUP ? -child.pid : child.pid, name);
  } catch (error) {
    // It ended between the question and the signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resident memory in bytes of a process and those that it started; null where the system does not tell. */
export function memoryOf(child: ChildProcess): number | null {
  const processes = process.platform === 'win32' ? [] : process.platform === 'linux' ? fromProc() : fromPs();
  let sum = 0;
  const family = new Set([child.pid]);
  // Parents first: a child process has the greater number but for a wrap-around, so look until nothing is added.
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  for (const { pid, bytes } of processes) if (family.has(pid)) sum += bytes;
  return sum === 0 ? null : sum;
}

/** Samples taken a second. */
const SAMPLES = 20;

/** Watches the memory of a process; gives the most that it had, in bytes, when it is asked. */
export function watchMemory(child: ChildProcess): () => number | null {
  let most = memoryOf(child);
  const timer = setInterval(() => {
    const now = memoryOf(child);
    if (now !== null) most = Math.max(most ?? 0, now);
  }, 1000 / SAMPLES);
  return () => {
    clearInterval(timer);
    return most;
  };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly bytes: number;
}

function fromProc(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const status = statusOf(name);
      const number = (member: string) => Number(new RegExp(`^${member}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      return { pid: Number(name), parent: number('PPid'), bytes: number('VmRSS') * 1024 };
    });
}

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    // It ended since the folder was read.
    return '';
  }
}

function fromPs(): Process[] {
  return execFileSync('ps', ['-axo', 'pid=,ppid=,rss='], { encoding: 'latin1' })
    .trim()
    .split('\n')
    .map((line) => {
      const [pid = 0, parent = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
      return { pid, parent, bytes: kilobytes * 1024 };
    });
}
