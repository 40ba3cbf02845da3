// Connections to the database, with the settings everything else relies on, and what its errors mean.
import { Unavailable } from '../store.ts';
import { type Connection, isLost, type Value } from './link.ts';
import { type Pool, poolOf } from './pool.ts';

export type { Connection, Pool };
export { isLost };

/** Where the register is: a database, and the schema in it that holds all of the register's tables. */
export interface Place {
  /** `postgres://user:password@host:port/database`; more hosts than one are tried in turn. */
  readonly url: string;
  readonly schema: string;
  /** Citus spreads the records of a register that is made there over several databases. */
  readonly distribute?: boolean;
}

export interface PoolOptions {
  readonly max: number;
  /** Milliseconds after which a statement is given up; 0 for never. */
  readonly timeout: number;
  /** Plans are made once for each statement, and begin where the compiled search says. */
  readonly forSearches?: boolean;
}

/** What keeps the planner from anything but walking indexes in the order of the compiled search (sql/search.ts). */
const SEARCH_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  max_parallel_workers_per_gather: '0',
};

/**
 * KiB of changes that a pair index may put off. Every search looks through all of them: `few` is the least there can be. Records
 * that are put in by the hundred are put into the index by the hundred, for half of what it takes one by one.
 */
export const PENDING = { few: 64, many: 512 } as const;

/** Opens a pool; it connects when it is first used. */
export function openPool({ url, schema }: Place, { max, timeout, forSearches = false }: PoolOptions): Pool {
  return poolOf({
    url,
    max,
    settings: {
      application_name: 'daicho',
      search_path: schema,
      jit: 'off',
      statement_timeout: timeout,
      // Every statement of ours has an index; a table that just grew has no statistics to say so.
      enable_seqscan: 'off',
      gin_pending_list_limit: PENDING.few,
      idle_in_transaction_session_timeout: 600_000,
      client_min_messages: 'warning',
      ...(forSearches ? SEARCH_SETTINGS : {}),
    },
  });
}

/** The address without what is secret in it. */
export function withoutPassword(url: string): string {
  // A password may hold what would have to be written otherwise in an address.
  return url.replace(/^([a-z]+:\/\/[^/@:]*):.*@/i, '$1@').replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1…');
}

/** Rows as arrays of values, texts as strings. */
export function rowsOf<Row extends readonly unknown[]>(
  on: Connection,
  text: string,
  values: readonly Value[] = [],
): Promise<Row[]> {
  return on.query(text, values, { prepare: true }) as unknown as Promise<Row[]>;
}

/** Runs statements whose results nobody looks at; several may stand in one text where there are no values. */
export async function run(on: Connection, text: string, values: readonly Value[] = []): Promise<void> {
  await on.query(text, values, { prepare: values.length > 0 });
}

/** An array as PostgreSQL reads it; null stays null. */
export function arrayText(values: readonly (string | number | null)[]): string {
  const elements = values.map((value) => {
    if (typeof value === 'number') return value;
    if (value === null) return 'NULL';
    const isPlain = !value.includes('"') && !value.includes('\\');
    return `"${isPlain ? value : value.replace(/[\\"]/g, '\\$&')}"`;
  });
  return `{${elements.join(',')}}`;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? '');
}

/** The table is not there: dropped since the catalog was read. */
export function isGone(error: unknown): boolean {
  return codeOf(error) === '42P01';
}

/** Whether a statement was given up after its time. */
export function isTooLong(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** Whether an error of the database means that it cannot serve now rather than that we are wrong. */
export function isUnavailable(error: unknown): boolean {
  // Besides lost connections: too few resources, given up after its time, locked for too long, a standby, a deadlock.
  return isLost(error) || /^(?:53|57014|55P03|25006|40001|40P01|58030)/.test(codeOf(error));
}

/** Whether two wrote the same; the second may try again. */
export function isClash(error: unknown): boolean {
  return /^(?:23505|40001|40P01)/.test(codeOf(error));
}

/** Runs work; what says that the database cannot serve now becomes Unavailable. */
export async function guarded<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new Unavailable(`the database cannot be ${what} now`, { cause: error });
  }
}
