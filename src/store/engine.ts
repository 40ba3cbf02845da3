// The database that holds a register, whichever it is: where the register is, and how it is opened.
import type { Move, MoveSource, MoveTarget } from './move.ts';
import type { Register } from './register.ts';
import type { Store } from './store.ts';

export interface EngineSettings {
  /** Folder of SQLite's database; used where no address of a database is given. */
  readonly dataDir: string;
  /** MiB of page cache for short searches, in SQLite. */
  readonly cacheMiB: number;
  /** Address of a PostgreSQL database; '' for SQLite. */
  readonly databaseUrl: string;
  /** What spreads the records of a new register over several databases; '' for one database. */
  readonly distribute: '' | 'citus';
  /** Addresses of its read replicas. */
  readonly databaseReadUrls: readonly string[];
  /** Connections of one process for short searches, and as many for long ones. */
  readonly databaseConnections: number;
  /** Seconds after which a search is given up; 0 for never. */
  readonly databaseTimeout: number;
}

export interface Engine {
  /** Where the register is, for people: without what is secret in an address. */
  readonly place: string;
  hasRegister(): Promise<boolean>;
  /** Makes an empty register where there is none. */
  openRegister(): Promise<Register>;
  openStore(): Promise<Store>;
  /**
   * Makes a register where there is none and has it filled. It comes to be there whole or, where this is interrupted, not at
   * all; null where another process made one meanwhile.
   */
  makeRegister<Filled>(fill: (register: Register) => Promise<Filled>): Promise<Filled | null>;
  /** The register as it is, to be moved elsewhere. */
  openSource(): Promise<MoveSource>;
  /** Where a register moves to: there is none yet, or this move of it was begun. */
  openTarget(move: Move): Promise<MoveTarget>;
  /** Whether an error says that the database cannot serve now. */
  isUnavailable(error: unknown): boolean;
}

/** The settings of an engine that only commands need, which open no store. */
export const FOR_COMMANDS = { cacheMiB: 64, databaseReadUrls: [], databaseConnections: 2, databaseTimeout: 0 } as const;

/** The engine of the settings. Only its own code is loaded. */
export async function engineOf(settings: EngineSettings): Promise<Engine> {
  if (settings.databaseUrl === '') return (await import('./sqlite/sqlite-engine.ts')).sqliteEngine(settings);
  return (await import('./postgres/postgres-engine.ts')).postgresEngine(settings);
}
