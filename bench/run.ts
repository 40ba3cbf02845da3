// `npm run bench`: loads a register of the size asked for, measures both operations, and prints a table.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Postgres } from '../test/harness/postgres.ts';
import { BULK, measureBulk } from './bulk.ts';
import { firstAnswer, form, issueKey, SEARCH_PATH, serve, UPDATE_PATH, type Where } from './daicho.ts';
import { EXPORT, measureExport } from './export.ts';
import { benchFiles } from './files.ts';
import { filesText } from './files-report.ts';
import { FILL, measureFill } from './fill.ts';
import { alreadyLoaded, type Loaded, load, USER } from './load.ts';
import { drive, driveBare, type Load } from './measure.ts';
import { memoryOf, stop, stopAll } from './processes.ts';
import { orderNumberOf } from './records.ts';
import { machine, type RowResult, reportText } from './report.ts';
import { type SearchRow, searchRows } from './searches.ts';
import { STAMP, type Update, updateParam, updates } from './updates.ts';
import { searchParameters, verifySearches, verifyUpdate } from './verify.ts';

const HELP = `Usage: npm run bench -- [options]

  --records N      records of the register (100000)
  --seconds N      seconds per row (5)
  --connections N  clients of the searches (8)
  --workers N      processes that answer requests (1)
  --engine NAME    sqlite, or postgres: a PostgreSQL of the bench's own (sqlite)
  --database URL   that PostgreSQL database instead of the bench's own
  --only NAME      only the rows whose names contain NAME; may be given more than once
  --data DIR       use the register that an earlier bench loaded into DIR; load it there if there is none
  --keep           keep the data folder and the CSV, and say where they are
  --seed N         other records of the same kind (1)
  --files          instead of searches and updates, upload and download files, on a small register of its own
  --json           print one JSON document instead of the table
`;

const { values: options } = parseArgs({
  options: {
    records: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
    workers: { type: 'string', default: '1' },
    engine: { type: 'string' },
    database: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    data: { type: 'string' },
    keep: { type: 'boolean', default: false },
    files: { type: 'boolean', default: false },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const WARMUP_SECONDS = 1;
const ONE_CLIENT_SECONDS = 3;
const UPDATES = 10_000;
const MANY_CLIENTS = 32;
const BULK_RECORDS = 20_000;
const FEWEST_RECORDS = 2000;
const SETTLE_SECONDS = 2;

if (options.files) {
  const others = (['records', 'seed', 'data'] as const).filter((name) => options[name] !== undefined);
  if (others.length > 0) {
    console.error(`--files makes a register of its own and takes no --${others[0]}`);
    process.exit(2);
  }
}
const asked = {
  records: wholeNumber('records', options.records, FEWEST_RECORDS),
  seed: wholeNumber('seed', options.seed, 0),
};
const seconds = wholeNumber('seconds', options.seconds, 1);
const connections = wholeNumber('connections', options.connections, 1);
const workers = wholeNumber('workers', options.workers, 1);
const engine = options.engine ?? (options.database === undefined ? 'sqlite' : 'postgres');
if (engine !== 'sqlite' && engine !== 'postgres') {
  console.error(`--engine must be sqlite or postgres, not "${engine}"`);
  process.exit(2);
}
/** Memory as a server of this size would have it; everything else as it comes. */
const OWN_SETTINGS = {
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
};
let own: Postgres | undefined;
const scratch = options.help ? '' : mkdtempSync(join(tmpdir(), 'daicho-bench-'));
const data = resolve(options.data ?? join(scratch, 'data'));

function wholeNumber<Text extends string | undefined>(
  name: string,
  text: Text,
  least: number,
): Text extends string ? number : number | undefined;
function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  console.error(`--${name} must be a whole number from ${least}, not "${text}"`);
  process.exit(2);
}

function say(line: string): void {
  console.error(`bench: ${line}`);
}

const wait = (duration: number) => new Promise((done) => setTimeout(done, duration * 1000));

async function register(where: Where): Promise<Loaded> {
  const loaded = alreadyLoaded(where);
  if (loaded === null) return load(where, scratch, asked.seed ?? 1, asked.records ?? 100_000, say);
  for (const name of ['records', 'seed'] as const) {
    if ((asked[name] ?? loaded[name]) !== loaded[name]) {
      throw new Error(`${data} holds a register with --${name} ${loaded[name]}`);
    }
  }
  return loaded;
}

function wanted(name: string): boolean {
  return options.only.length === 0 || options.only.some((part) => name.includes(part));
}

async function measureSearches(port: number, key: string, row: SearchRow): Promise<RowResult> {
  await verifySearches(port, key, row);
  say(row.name);
  const load: Load = {
    path: SEARCH_PATH,
    bodies: row.searches.map((search) => form(key, searchParameters(row, search))),
    connections,
    seconds,
    warmup: WARMUP_SECONDS,
  };
  const measured = await drive(port, scratch, load);
  const bare = await driveBare(measured.bodyBytes, scratch, load);
  const single = { ...load, connections: 1, seconds: Math.min(seconds, ONE_CLIENT_SECONDS) };
  const oneClient = await drive(port, scratch, single);
  const finds = row.searches.map((search) => search.finds.length);
  return {
    name: row.name,
    finds: [Math.min(...finds), Math.max(...finds)],
    connections,
    measured,
    oneClient,
    bare,
    ratio: measured.requestsPerSecond / bare.requestsPerSecond,
  };
}

function updateName(clients: number): string {
  return `update, ${clients} client${clients === 1 ? '' : 's'}`;
}

async function measureUpdates(
  port: number,
  key: string,
  seed: number,
  each: readonly Update[],
  clients: number,
): Promise<RowResult> {
  const name = updateName(clients);
  await verifyUpdate(port, key, seed, each[0] as Update);
  say(name);
  const measured = await drive(port, scratch, {
    path: UPDATE_PATH,
    bodies: each.map((update) => form(key, { param: updateParam(update) })),
    connections: clients,
    seconds,
    warmup: WARMUP_SECONDS,
    stamp: STAMP,
  });
  return { name, finds: null, connections: clients, measured, oneClient: null, bare: null, ratio: null };
}

async function bench(database: string): Promise<void> {
  const where = { data, database };
  const loaded = await register(where);
  const { seed, records } = loaded;
  const searches = searchRows(seed, records).filter((row) => wanted(row.name));
  const key = await issueKey(where, USER);
  const from = performance.now();
  const server = await serve(where, workers);
  const { port } = server;
  const firstParam = JSON.stringify({ bench_no: orderNumberOf(seed, 1) });
  const startMilliseconds = await firstAnswer(server, form(key, { param: firstParam }), from);
  await wait(SETTLE_SECONDS);
  const memoryAtRest = memoryOf(server.process);

  const rows: RowResult[] = [];
  for (const row of searches) rows.push(await measureSearches(port, key, row));
  const updateClients = [1, MANY_CLIENTS].filter((clients) => wanted(updateName(clients)));
  const each = updateClients.length === 0 ? [] : updates(seed, records, UPDATES);
  for (const clients of updateClients) rows.push(await measureUpdates(port, key, seed, each, clients));
  if (wanted(BULK)) say(BULK);
  const bulk = wanted(BULK) ? await measureBulk(port, key, seed, records, BULK_RECORDS) : null;

  await wait(SETTLE_SECONDS);
  const memoryAfter = memoryOf(server.process);
  await stop(server.process);
  if (wanted(EXPORT)) say(EXPORT);
  const exported = wanted(EXPORT) ? await measureExport(where, scratch, records) : null;
  const fills = wanted(FILL) && database === '';
  if (fills) say(FILL);
  const fill = fills ? await measureFill(scratch, seed, records) : null;

  const rate = (clients: number) =>
    rows.find((row) => row.finds === null && row.connections === clients)?.measured.requestsPerSecond;
  const [one, many] = [rate(1), rate(MANY_CLIENTS)];
  const report = {
    machine: machine(),
    seconds,
    workers,
    engine,
    loaded,
    importRate: records / loaded.importSeconds,
    startMilliseconds,
    memoryAtRest,
    memoryAfter,
    rows,
    bulk,
    exported,
    fill,
    updateFactor: one === undefined || many === undefined ? null : many / one,
  };
  console.log(options.json ? JSON.stringify(report, null, 2) : reportText(report));
  for (const { name, measured, oneClient, bare } of rows) {
    for (const { errors, firstError } of [measured, oneClient, bare].filter((run) => run !== null)) {
      if (errors === 0) continue;
      process.exitCode = 1;
      say(`${errors} wrong answers in "${name}", the first: ${firstError}`);
    }
  }
}

async function runFiles(database: string): Promise<void> {
  const report = {
    machine: machine(),
    workers,
    engine,
    ...(await benchFiles({ data, database }, scratch, workers, wanted, say)),
  };
  console.log(options.json ? JSON.stringify(report, null, 2) : filesText(report));
}

/** Address of the database that is measured; '' for SQLite. The bench's own PostgreSQL is as durable as it is by default. */
async function databaseOf(): Promise<string> {
  if (options.database !== undefined) return options.database;
  if (engine === 'sqlite') return '';
  say('starting PostgreSQL');
  const { startPostgres } = await import('../test/harness/postgres.ts');
  own = await startPostgres({ fsync: true, settings: OWN_SETTINGS });
  return own.url;
}

async function cleanUp(): Promise<void> {
  await stopAll();
  await own?.remove();
  if (options.keep) say(`kept ${data}${options.data === undefined ? '' : `, ${scratch}`}`);
  else rmSync(scratch, { recursive: true, force: true });
}

let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void cleanUp().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  });
}

if (options.help) {
  console.log(HELP);
} else {
  try {
    await (options.files ? runFiles : bench)(await databaseOf());
  } catch (error) {
    // What was under way when the user stopped the bench fails of itself.
    if (!interrupted) say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
  if (!interrupted) await cleanUp();
}
