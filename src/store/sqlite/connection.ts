// Opens a connection to the register's database file, with the settings everything else relies on.
import { join } from 'node:path';
import Database from 'better-sqlite3';

export type Connection = Database.Database;
export type Statement = Database.Statement<unknown[]>;

/** File of the register inside the data folder. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'daicho.db');
}

/** Milliseconds to wait for another process's write before giving up. */
const BUSY_TIMEOUT = 15_000;

/** Opens the database; commits are durable when they return (WAL, synchronous=FULL). `cacheMiB` is its page cache. */
export function connect(dataDir: string, options: { readonly?: boolean; cacheMiB?: number } = {}): Connection {
  const db = new Database(databaseFile(dataDir), { readonly: options.readonly ?? false, timeout: BUSY_TIMEOUT });
  if (!options.readonly) {
    db.pragma('page_size = 8192');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // Pages that change often are written to the database once in some thousand commits' pages, not in each.
    db.pragma('wal_autocheckpoint = 4000');
    db.pragma('journal_size_limit = 67108864');
  }
  db.pragma(`cache_size = -${(options.cacheMiB ?? 16) * 1024}`);
  db.pragma('foreign_keys = ON');
  return db;
}

/** Milliseconds between two attempts to begin writing. */
const ATTEMPT_EVERY = 4;
/** Milliseconds that long work leaves to other writers after each of its transactions. */
const PAUSE = 12;

/**
 * Begins to write, waiting for other processes and threads up to BUSY_TIMEOUT. The engine's own waiting looks ever more rarely,
 * and would miss the pauses of long work.
 */
export function beginWriting(db: Connection): void {
  db.pragma('busy_timeout = 0');
  try {
    for (let waited = 0; ; waited += ATTEMPT_EVERY) {
      try {
        db.exec('begin immediate');
        return;
      } catch (error) {
        if (waited >= BUSY_TIMEOUT || (error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
      }
      sleep(ATTEMPT_EVERY);
    }
  } finally {
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT}`);
  }
}

/** Does work in a transaction that writes, begun as above; within the one that is under way, where there is one: whole or not at all. */
export function writing<T>(db: Connection, work: () => T): T {
  if (db.inTransaction) return db.transaction(work)();
  beginWriting(db);
  try {
    const result = work();
    db.exec('commit');
    return result;
  } catch (error) {
    // The engine may have ended it itself.
    if (db.inTransaction) db.exec('rollback');
    throw error;
  }
}

/** Lets other writers in, between two transactions of long work. */
export function pauseWriting(): void {
  sleep(PAUSE);
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Whether an error of the database means that it cannot serve now rather than that we are wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Database.SqliteError)) return false;
  return /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM)/.test(error.code);
}

/** Whether an error of the database means that what must be there once is there already. */
export function isTaken(error: unknown): boolean {
  return (error as { code?: string }).code === 'SQLITE_CONSTRAINT_UNIQUE';
}
