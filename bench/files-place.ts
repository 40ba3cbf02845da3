// The two servers that files are measured in, Daicho with a small register and the bare one, and what is sent to them.
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { contentOf, digestOf } from './content.ts';
import {
  command,
  DOWNLOAD_PATH,
  firstAnswer,
  form,
  issueKey,
  type Server,
  serve,
  UPDATE_PATH,
  type Where,
} from './daicho.ts';
import { USER } from './load.ts';
import { run, start } from './processes.ts';
import { APP_CODE } from './register.ts';
import type { Transfer, Transferred } from './transfer.ts';

const BARE = fileURLToPath(new URL('bare-files.ts', import.meta.url));
const TRANSFER = fileURLToPath(new URL('transfer.ts', import.meta.url));

export const MB = 1_000_000;
const FILE = 'bench_file';
const DEFINITION = `code: ${APP_CODE}
name: { ja: 文書台帳, en: Document register }
fields:
  - { id: bench_primarykey, type: id, search: exact }
  - { id: ${FILE}, type: file, name: { ja: 文書 } }
`;
/** Records, so most clients that upload. */
const RECORDS = 8;

/** What is sent in a row; a megabyte has 1,000,000 bytes. */
export interface Kind {
  readonly direction: 'upload' | 'download';
  readonly megabytes: number;
  readonly clients: number;
}

/** A row's name, without its clients. */
export function nameOf({ direction, megabytes }: Kind): string {
  return `${direction}, ${megabytes >= 1_000 ? `${megabytes / 1_000} GB` : `${megabytes} MB`}`;
}

/** The same with its clients. */
export function nameWithClients(kind: Kind): string {
  return `${nameOf(kind)}, ${kind.clients} client${kind.clients === 1 ? '' : 's'}`;
}

/** What all rows have in common. */
export interface Bench {
  readonly where: Where;
  readonly workers: number;
  readonly credentials: Readonly<Record<string, string>>;
  readonly bareFolder: string;
  readonly say: (line: string) => void;
}

/** Makes the records that files are put into; a key for them. */
export async function makeRegister(where: Where, scratch: string): Promise<string> {
  const definition = join(scratch, 'files.yaml');
  const csv = join(scratch, 'files.csv');
  writeFileSync(definition, DEFINITION);
  const keys = Array.from({ length: RECORDS }, (_, i) => `${i + 1}\n`);
  writeFileSync(csv, `bench_primarykey\n${keys.join('')}`);
  await command(where, 'app', 'apply', definition);
  await command(where, 'record', 'import', APP_CODE, csv);
  await command(where, 'user', 'add', USER, '--name', '計測', '--lang', 'ja');
  await command(where, 'app', 'grant', APP_CODE, USER, '--update');
  await command(where, 'option', 'web-api', 'on');
  return issueKey(where, USER);
}

/** Starts Daicho; resolves when it answers. */
export async function startDaicho({ where, workers, credentials }: Bench): Promise<Server> {
  const from = performance.now();
  const server = await serve(where, workers);
  await firstAnswer(server, form(credentials.appkey ?? '', { param: '{"bench_primarykey":"1"}' }), from);
  return server;
}

/** Starts the bare server in an empty folder; resolves when it listens. */
export async function startBare({ bareFolder }: Bench): Promise<Server> {
  // What it kept before is needed by nobody.
  rmSync(bareFolder, { recursive: true, force: true });
  mkdirSync(bareFolder);
  const bare = start(BARE, ['--folder', bareFolder], process.env);
  if (bare.stdout === null) throw new Error('the bare server has no output');
  const [line] = (await once(createInterface(bare.stdout), 'line')) as [string];
  return { process: bare, port: Number(line.split(' ').at(-1)) };
}

/** Runs the load tool; a wrong answer is an error. */
export async function send(transfer: Transfer): Promise<Transferred> {
  return JSON.parse(await run(TRANSFER, [JSON.stringify(transfer)], process.env)) as Transferred;
}

let contents = 1;

/** Requests of each client that are measured, and those before. */
export interface Times {
  readonly requests: number;
  readonly warmup: number;
}
export const ONCE: Times = { requests: 1, warmup: 0 };

/** An upload by each of so many clients into a record of its own; with `bare`, the same bodies to that server. */
export function uploadOf(
  bench: Bench,
  server: Server,
  kind: Kind,
  { requests, warmup }: Times,
  bare = false,
): Transfer {
  const bytes = kind.megabytes * MB;
  const first = contents;
  contents += kind.clients * (requests + warmup);
  const clients = Array.from({ length: kind.clients }, (_, i) => ({
    ...bench.credentials,
    mode: 'merge',
    param: JSON.stringify({ bench_primarykey: { value: String(i + 1) } }),
  }));
  return {
    ...{ kind: 'upload', port: server.port, path: bare ? '/upload' : UPDATE_PATH },
    ...{ clients, requests, warmup, bytes, part: FILE, first },
    expected: bare ? '"rkwa_status":"OK"' : `"filesize":"${bytes}"`,
  };
}

/** A file that is there to be downloaded. */
export interface Stored {
  readonly id: string;
  readonly number: number;
}

/** Uploads one content and proves that it is what a download gives. */
export async function store(bench: Bench, server: Server, kind: Kind): Promise<Stored> {
  const number = contents;
  const one = { ...kind, clients: 1 };
  const { answers } = await send(uploadOf(bench, server, one, ONCE));
  const answer = JSON.parse(answers[0] ?? '') as Readonly<Record<string, { readonly value: string }>>;
  const stored = { id: answer[FILE]?.value ?? '', number };
  const digest = digestOf(number, kind.megabytes * MB);
  await send(downloadOf(bench, server, one, stored, ONCE, digest));
  return stored;
}

/** Downloads of one file by so many clients; with `digest`, its contents are looked at. */
export function downloadOf(
  bench: Bench,
  server: Server,
  kind: Kind,
  { id }: Stored,
  { requests, warmup }: Times,
  digest: string | null,
  path = DOWNLOAD_PATH,
): Transfer {
  const clients = Array.from({ length: kind.clients }, () => ({ ...bench.credentials, fileid: id }));
  const bytes = kind.megabytes * MB;
  return { kind: 'download', port: server.port, path, clients, requests, warmup, bytes, digest };
}

/** Gives the bare server the same file; the path under which it is downloaded there. */
export function putAside({ bareFolder }: Bench, { megabytes }: Kind, { id, number }: Stored): string {
  const file = openSync(join(bareFolder, id), 'w');
  for (const piece of contentOf(number, megabytes * MB)) writeSync(file, piece);
  closeSync(file);
  return `/${id}`;
}
