// PostgreSQL of the tests' own: clusters and read replicas in temporary folders, none of which outlives the process that started it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { copy, newPlace, RUN, write } from './postgres-place.ts';

export interface Postgres {
  /** As the superuser, to the database `postgres`. */
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** Stops the server and keeps its data: `fast` in good order, `immediate` so that the next start has to recover. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Starts it again, on the same port. */
  start(): Promise<void>;
  /** Kills the server as a crash would (SIGKILL). */
  kill(): Promise<void>;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

export interface Replica extends Postgres {
  /** Holds back what arrives from the primary, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Waits until it shows what the primary has committed by now. */
  caughtUp(): Promise<void>;
}

export interface PostgresOptions {
  /** Whether a commit waits for the disk; without, it still survives `kill` and `stop`, but no power failure. */
  readonly fsync?: boolean;
  /** Further lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '64MB',
  max_connections: '100',
  wal_level: 'replica',
  max_wal_senders: '5',
  wal_keep_size: '512MB', // What a replica needs that was stopped for a while.
  // In the data folder and not in /dev/shm, which is small in a container and keeps what a killed server leaves.
  dynamic_shared_memory_type: 'mmap',
};

// The order of texts is that of their code points.
const LOCALE = ['--encoding=UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
const INITDB = ['--username=postgres', '--auth=trust', '--no-sync', '--no-instructions', ...LOCALE];

const isRunning = (server: ChildProcess | undefined): server is ChildProcess =>
  server !== undefined && server.exitCode === null && server.signalCode === null;

/** Runs one statement on a connection of its own. */
async function ask(url: string, statement: string): Promise<unknown> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return (await sql.unsafe(statement).values())[0]?.[0];
  } finally {
    await sql.end();
  }
}

/** A cluster that has no data yet. */
async function newCluster(): Promise<{ bin: string; cluster: Postgres }> {
  const { bin, folder, port } = await newPlace();
  const dataDir = join(folder, 'data');
  let server: ChildProcess | undefined;

  /** What a server's file says, line by line: its process, …, its shared memory, its state. */
  const pidLines = () => {
    try {
      return fs.readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    } catch {
      return []; // No server has one yet, or none any more.
    }
  };
  const isReady = () => pidLines()[0] === String(server?.pid) && pidLines()[7]?.trim() === 'ready';

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!isRunning(server)) return;
    const ended = once(server, 'exit');
    server.ref();
    server.kill(signal);
    await ended;
  }

  const cluster: Postgres = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    dataDir,
    stop: (mode = 'fast') => end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    kill: () => end('SIGKILL'),
    async start() {
      for (const until = Date.now() + 60_000; !isRunning(server); await sleep(50)) {
        const log = fs.openSync(join(folder, 'log'), 'w');
        server = spawn(join(bin, 'postgres'), ['-D', dataDir], { ...RUN, detached: true, stdio: ['ignore', log, log] });
        fs.closeSync(log);
        server.unref();
        while (isRunning(server) && !isReady() && Date.now() < until) await sleep(10);
        if (isRunning(server) && isReady()) return;
        await end('SIGQUIT');
        const said = fs.readFileSync(join(folder, 'log'), 'utf8');
        // The processes of a killed server need a moment to see that it is gone.
        if (!said.includes('still in use') || Date.now() > until) throw new Error(`PostgreSQL did not start:\n${said}`);
      }
    },
    async remove() {
      await end('SIGQUIT');
      // A killed server has left its file and its block of shared memory.
      const memory = pidLines()[6]?.split(' ').at(-1);
      if (memory) spawnSync('ipcrm', ['-m', memory]);
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  return { bin, cluster };
}

/** Makes a cluster and starts it; what does not remove it itself may leave that to the end of the process. */
export async function startPostgres({ fsync = false, settings = {} }: PostgresOptions = {}): Promise<Postgres> {
  const { bin, cluster } = await newCluster();
  const initdb = spawn(join(bin, 'initdb'), [`--pgdata=${cluster.dataDir}`, ...INITDB], { ...RUN, stdio: 'pipe' });
  const [said] = await Promise.all([text(initdb.stderr), text(initdb.stdout), once(initdb, 'close')]);
  if (initdb.exitCode !== 0) throw new Error(`initdb ended with ${initdb.exitCode}:\n${said}`);
  set(cluster, { ...SETTINGS, port: String(cluster.port), fsync: fsync ? 'on' : 'off', ...settings });
  await cluster.start();
  return cluster;
}

/** Adds lines to postgresql.conf; the last one of a name counts. */
function set({ dataDir }: Postgres, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`);
  fs.appendFileSync(join(dataDir, 'postgresql.conf'), lines.join(''));
}

/** Copies a running cluster and starts the copy as its read replica. */
export async function startReplica(primary: Postgres): Promise<Replica> {
  const { cluster } = await newCluster();
  const { url, dataDir } = cluster;
  const sql = postgres(primary.url, { max: 1, onnotice: () => {} });
  try {
    await sql`SELECT pg_backup_start('replica', fast => true)`;
    copy(primary.dataDir, dataDir);
    const [stopped] = await sql`SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)`;
    write(join(dataDir, 'backup_label'), stopped?.labelfile);
  } finally {
    await sql.end();
  }
  write(join(dataDir, 'standby.signal'), '');
  set(cluster, { port: `${cluster.port}`, primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres` });
  await cluster.start();

  const until = async (statement: string) => {
    while ((await ask(url, statement)) !== true) await sleep(10);
  };
  return {
    ...cluster,
    async pause() {
      await ask(url, 'SELECT pg_wal_replay_pause()');
      await until("SELECT pg_get_wal_replay_pause_state() = 'paused'");
    },
    async resume() {
      await ask(url, 'SELECT pg_wal_replay_resume()');
    },
    async caughtUp() {
      const position = await ask(primary.url, 'SELECT pg_current_wal_flush_lsn()');
      await until(`SELECT pg_last_wal_replay_lsn() >= '${position}'`);
    },
  };
}

let shared: Promise<Postgres> | undefined;
let users = 0;

/** The PostgreSQL that tests use: the one that TEST_DATABASE_URL names, or one of this process, which its callers share. */
export async function testDatabase(): Promise<{ url: string; close(): Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, close: async () => {} };
  users++;
  shared ??= startPostgres();
  const database = shared;
  let closed = false;
  return {
    url: (await database).url,
    async close() {
      if (closed) return;
      closed = true;
      if (--users > 0) return;
      shared = undefined;
      await (await database).remove();
    },
  };
}
