// Loads the bench's register into a data folder by the command line, and says how that went.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { writeCsv } from './csv.ts';
import { command, type Where } from './daicho.ts';
import { APP_CODE, DEFINITION } from './register.ts';

export const USER = 'bench';

/** A loaded register. */
export interface Loaded {
  readonly seed: number;
  readonly records: number;
  readonly csvBytes: number;
  readonly databaseBytes: number;
  readonly importSeconds: number;
}

const NOTE = 'bench.json';

/** What an earlier bench loaded, or null. */
export function alreadyLoaded({ data }: Where): Loaded | null {
  const note = join(data, NOTE);
  return existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as Loaded) : null;
}

/** Makes the CSV in `scratch` and imports it. */
export async function load(
  where: Where,
  scratch: string,
  seed: number,
  records: number,
  say: (line: string) => void,
): Promise<Loaded> {
  const { data, database } = where;
  await mkdir(data, { recursive: true });
  const definition = join(scratch, `${APP_CODE}.yaml`);
  const csv = join(scratch, `${APP_CODE}.csv`);
  writeFileSync(definition, DEFINITION);
  say(`writing a CSV of ${records} records`);
  const csvBytes = await writeCsv(csv, seed, records);
  await command(where, 'app', 'apply', definition);
  say('importing it');
  const from = performance.now();
  await command(where, 'record', 'import', APP_CODE, csv);
  const importSeconds = (performance.now() - from) / 1000;
  const errors = csv.replace(/\.csv$/, '.errors.csv');
  if (existsSync(errors) && statSync(errors).size > 0) throw new Error(`the import refused rows: ${errors}`);
  const databaseBytes = database === '' ? await folderBytes(data) : await databaseSize(database);
  await command(where, 'user', 'add', USER, '--name', '計測', '--lang', 'ja');
  await command(where, 'app', 'grant', APP_CODE, USER, '--update');
  await command(where, 'option', 'web-api', 'on');
  const loaded = { seed, records, csvBytes, databaseBytes, importSeconds };
  writeFileSync(join(data, NOTE), `${JSON.stringify(loaded)}\n`);
  return loaded;
}

async function databaseSize(database: string): Promise<number> {
  const sql = postgres(database, { max: 1 });
  const [row] = await sql.unsafe<{ bytes: string }[]>('select pg_database_size(current_database()) as bytes');
  await sql.end();
  return Number(row?.bytes);
}

async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)));
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
}
