// `npm run bench -- --files`: uploads and downloads, side by side with a bare server, and the memory that they take.
import { join } from 'node:path';
import { DOWNLOAD_PATH, type Server, type Where } from './daicho.ts';
import { MEMORY_ROWS, type MemoryRow, measureMemory, memoryName } from './files-memory.ts';
import {
  type Bench,
  downloadOf,
  type Kind,
  makeRegister,
  nameOf,
  nameWithClients,
  putAside,
  type Stored,
  send,
  startBare,
  startDaicho,
  store,
  type Times,
  uploadOf,
} from './files-place.ts';
import { stop } from './processes.ts';
import { APP_CODE } from './register.ts';
import type { Transferred } from './transfer.ts';

/** Times that each row is measured in both servers, in turn. */
const ROUNDS = 7;

/** What is measured; requests are those of a round. */
const ROWS: readonly (Kind & Times)[] = [
  { direction: 'upload', megabytes: 1, clients: 1, requests: 60, warmup: 20 },
  { direction: 'upload', megabytes: 1, clients: 8, requests: 20, warmup: 5 },
  { direction: 'upload', megabytes: 100, clients: 1, requests: 3, warmup: 1 },
  { direction: 'upload', megabytes: 100, clients: 2, requests: 2, warmup: 1 },
  { direction: 'download', megabytes: 1, clients: 1, requests: 200, warmup: 50 },
  { direction: 'download', megabytes: 1, clients: 8, requests: 50, warmup: 10 },
  { direction: 'download', megabytes: 100, clients: 1, requests: 6, warmup: 1 },
  { direction: 'download', megabytes: 100, clients: 2, requests: 3, warmup: 1 },
];

/** What a server did, the median over the rounds: megabytes of 1,000,000 bytes a second, and milliseconds of a request. */
export interface Rate {
  readonly megabytesPerSecond: number;
  readonly p50: number;
}

export interface FileRow {
  readonly name: string;
  readonly clients: number;
  readonly measured: Rate;
  readonly bare: Rate;
  /** Of the rates, the median of the rounds' ratios. */
  readonly ratio: number;
  /** Of each round. */
  readonly ratios: readonly number[];
}

export interface Files {
  readonly rounds: number;
  readonly rows: readonly FileRow[];
  /** Each from a server just started. */
  readonly memory: readonly MemoryRow[];
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return ((sorted[middle] ?? 0) + (sorted[sorted.length - 1 - middle] ?? 0)) / 2;
}

/** Makes the register, measures the rows whose names are wanted, and stops what it started. */
export async function benchFiles(
  where: Where,
  scratch: string,
  workers: number,
  wanted: (name: string) => boolean,
  say: (line: string) => void,
): Promise<Files> {
  const key = await makeRegister(where, scratch);
  const bench: Bench = {
    where,
    workers,
    credentials: { appcode: APP_CODE, appkey: key },
    bareFolder: join(scratch, 'bare'),
    say,
  };
  const rows = ROWS.filter((row) => wanted(nameOf(row)));
  const memoryRows = MEMORY_ROWS.filter((row) => wanted(memoryName(row)));
  return {
    rounds: ROUNDS,
    rows: rows.length === 0 ? [] : await measureRates(bench, rows),
    memory: memoryRows.length === 0 ? [] : await measureMemory(bench, memoryRows),
  };
}

async function measureRates(bench: Bench, rows: typeof ROWS): Promise<FileRow[]> {
  const server = await startDaicho(bench);
  const measured: FileRow[] = [];
  for (const row of rows) {
    const bare = await startBare(bench);
    const stored = await store(bench, server, row);
    bench.say(nameWithClients(row));
    measured.push(await measureRow(bench, server, bare, row, stored));
    await stop(bare.process);
  }
  await stop(server.process);
  return measured;
}

async function measureRow(
  bench: Bench,
  server: Server,
  bare: Server,
  row: (typeof ROWS)[number],
  stored: Stored,
): Promise<FileRow> {
  const barePath = row.direction === 'download' ? putAside(bench, row, stored) : '';
  const upload = (at: Server) => uploadOf(bench, at, row, row, at === bare);
  const download = (at: Server) =>
    downloadOf(bench, at, row, stored, row, null, at === bare ? barePath : DOWNLOAD_PATH);
  const measure = async (at: Server) => rateOf(row, await send((row.direction === 'upload' ? upload : download)(at)));
  const rounds: { readonly daicho: Rate; readonly bare: Rate }[] = [];
  while (rounds.length < ROUNDS) {
    // Each of the two comes first every other time.
    const first = rounds.length % 2 === 0 ? await measure(server) : null;
    const bareRate = await measure(bare);
    rounds.push({ daicho: first ?? (await measure(server)), bare: bareRate });
  }
  const ratios = rounds.map((round) => round.daicho.megabytesPerSecond / round.bare.megabytesPerSecond);
  return {
    name: nameOf(row),
    clients: row.clients,
    measured: middleOf(rounds.map((round) => round.daicho)),
    bare: middleOf(rounds.map((round) => round.bare)),
    ratio: median(ratios),
    ratios,
  };
}

function rateOf({ megabytes }: Kind, { seconds, milliseconds }: Transferred): Rate {
  return { megabytesPerSecond: (megabytes * milliseconds.length) / seconds, p50: median(milliseconds) };
}

function middleOf(rates: readonly Rate[]): Rate {
  return {
    megabytesPerSecond: median(rates.map((rate) => rate.megabytesPerSecond)),
    p50: median(rates.map((rate) => rate.p50)),
  };
}
