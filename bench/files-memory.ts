// What memory a server takes, beyond what it has at rest, while files go through it.
import { setTimeout } from 'node:timers/promises';
import { digestOf } from './content.ts';
import { DOWNLOAD_PATH, type Server } from './daicho.ts';
import {
  type Bench,
  downloadOf,
  type Kind,
  MB,
  nameOf,
  nameWithClients,
  ONCE,
  putAside,
  send,
  startBare,
  startDaicho,
  store,
  uploadOf,
} from './files-place.ts';
import { memoryOf, stop } from './processes.ts';
import type { Transfer } from './transfer.ts';

const SETTLE = 2_000;
const SAMPLE_EVERY = 50;

export const MEMORY_ROWS: readonly Kind[] = [
  { direction: 'upload', megabytes: 1_000, clients: 1 },
  { direction: 'upload', megabytes: 100, clients: 8 },
  { direction: 'download', megabytes: 1_000, clients: 1 },
  { direction: 'download', megabytes: 100, clients: 8 },
];

/** Resident memory in bytes. */
export interface Memory {
  readonly atRest: number;
  readonly greatest: number;
}

export interface MemoryRow {
  readonly name: string;
  readonly clients: number;
  readonly measured: Memory;
  readonly bare: Memory;
}

/** The name of a row in the table of memory. */
export function memoryName(kind: Kind): string {
  return `memory, ${nameOf(kind)}`;
}

/** Measures rows, each in servers just started. */
export async function measureMemory(bench: Bench, rows: readonly Kind[]): Promise<MemoryRow[]> {
  const measured: MemoryRow[] = [];
  for (const kind of rows) {
    bench.say(`memory, ${nameWithClients(kind)}`);
    const memory = await (kind.direction === 'upload' ? memoryOfUpload : memoryOfDownload)(bench, kind);
    measured.push({ name: memoryName(kind), clients: kind.clients, ...memory });
  }
  return measured;
}

type BothMemories = Omit<MemoryRow, 'name' | 'clients'>;

async function memoryOfUpload(bench: Bench, kind: Kind): Promise<BothMemories> {
  const measured = await memoryOfServer(await startDaicho(bench), (at) => uploadOf(bench, at, kind, ONCE));
  const bare = await memoryOfServer(await startBare(bench), (at) => uploadOf(bench, at, kind, ONCE, true));
  return { measured, bare };
}

async function memoryOfDownload(bench: Bench, kind: Kind): Promise<BothMemories> {
  const before = await startDaicho(bench);
  const stored = await store(bench, before, kind);
  await stop(before.process);
  const digest = digestOf(stored.number, kind.megabytes * MB);
  const download = (at: Server, path: string) => downloadOf(bench, at, kind, stored, ONCE, digest, path);
  const measured = await memoryOfServer(await startDaicho(bench), (at) => download(at, DOWNLOAD_PATH));
  const bareServer = await startBare(bench);
  const path = putAside(bench, kind, stored);
  const bare = await memoryOfServer(bareServer, (at) => download(at, path));
  return { measured, bare };
}

/** The memory of a server just started, which is stopped at the end, while it answers. */
async function memoryOfServer(server: Server, transferTo: (server: Server) => Transfer): Promise<Memory> {
  await setTimeout(SETTLE);
  const look = () => memoryOf(server.process) ?? Number.NaN;
  const atRest = look();
  let greatest = atRest;
  const timer = setInterval(() => {
    greatest = Math.max(greatest, look());
  }, SAMPLE_EVERY);
  try {
    await send(transferTo(server));
  } finally {
    clearInterval(timer);
  }
  greatest = Math.max(greatest, look());
  await stop(server.process);
  return { atRest, greatest };
}
