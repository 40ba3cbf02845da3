// Fresh registers of the tests' own, in the database that the tests of this process run against.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, engineOf } from '../../src/store/engine.ts';
import type { Register } from '../../src/store/register.ts';
import { connect, databaseFile } from '../../src/store/sqlite/connection.ts';
import type { Store } from '../../src/store/store.ts';
import { freshDatabase } from './database.ts';

export type EngineName = 'sqlite' | 'postgres';

let inUse: EngineName = 'sqlite';

/** Says where the tests of this process have their registers from now on. */
export function useEngine(name: EngineName): void {
  inUse = name;
}

export function engineInUse(): EngineName {
  return inUse;
}

export interface FreshRegister extends Pick<Engine, 'openRegister' | 'openStore'> {
  /** Its folder or its address: what another process needs to open it. */
  readonly place: string;
  /** Runs a statement behind the store's back and gives its rows. */
  query(text: string): Promise<readonly (readonly unknown[])[]>;
  /** Whether a text is anywhere in what is stored. */
  holds(text: string): Promise<boolean>;
  /** Removes it; whatever is open on it is closed by then. */
  remove(): Promise<void>;
}

/** Makes a place for a register, which the first that opens it makes; `remove` in `after`. */
export function freshRegister(): Promise<FreshRegister> {
  return inUse === 'sqlite' ? inFolder() : inDatabase();
}

const isAddress = (place: string) => place.startsWith('postgres:');

/** How the register of a place is opened. */
export function engineAt(place: string): Promise<Engine> {
  return engineOf({
    dataDir: isAddress(place) ? '' : place,
    databaseUrl: isAddress(place) ? place : '',
    cacheMiB: 16,
    distribute: '',
    databaseReadUrls: [],
    databaseConnections: 3,
    databaseTimeout: 60,
  });
}

/** Opens the register of a place and a store on it, does the work, closes both. */
export async function opened<T>(place: string, work: (register: Register, store: Store) => Promise<T>): Promise<T> {
  const engine = await engineAt(place);
  const register = await engine.openRegister();
  const store = await engine.openStore();
  try {
    return await work(register, store);
  } finally {
    await store.close();
    await register.close();
  }
}

/** The flags of the command line for the register of a place. */
export function flagsFor(place: string): readonly string[] {
  return [isAddress(place) ? '--database-url' : '--data-dir', place];
}

async function inFolder(): Promise<FreshRegister> {
  const place = mkdtempSync(join(tmpdir(), 'daicho-test-'));
  return {
    ...(await engineAt(place)),
    place,
    async query(text) {
      const db = connect(place);
      try {
        const statement = db.prepare(text);
        if (statement.reader) return statement.raw().all() as unknown[][];
        statement.run();
        return [];
      } finally {
        db.close();
      }
    },
    async holds(text) {
      if (!existsSync(databaseFile(place))) return false;
      return readdirSync(place).some((file) => readFileSync(join(place, file)).includes(text));
    },
    remove: async () => rmSync(place, { recursive: true }),
  };
}

async function inDatabase(): Promise<FreshRegister> {
  const { url: place, query, drop } = await freshDatabase();
  return {
    ...(await engineAt(place)),
    place,
    query: async (text) => (await query(text)).map((row) => [...row]),
    async holds(text) {
      const found = [text, Buffer.from(text).toString('hex')];
      for (const [table] of await query(`select tablename from pg_tables where schemaname = 'daicho'`)) {
        for (const [row] of await query(`select t::text from "${table}" t`)) {
          if (found.some((part) => String(row).includes(part))) return true;
        }
      }
      return false;
    },
    remove: drop,
  };
}
