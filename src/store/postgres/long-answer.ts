// Answers longer than a page: read through a cursor in one transaction, so that all pages show one state of the data.
import type { Search } from '../../search/condition.ts';
import { POSTGRES } from '../../sql/dialect.ts';
import type { Layout } from '../../sql/layout.ts';
import { CATALOG_VERSION } from '../../sql/search.ts';
import type { Found } from '../store.ts';
import { guarded, type Pool, rowsOf, run } from './connection.ts';
import { countRecords, makePlan, placeOf, planCursor } from './searcher.ts';
import type { TokenFrequencies } from './token-frequencies.ts';

/** Records in a page: large enough to be fast, small enough for flat memory. */
const PAGE = 256;

interface Options {
  readonly layout: Layout;
  readonly search: Search;
  readonly maxRecords: number;
  /** Of the catalog that the request was judged by. */
  readonly version: string;
}

/** Finds all records of a search, on a connection of their own until the last page was taken. */
export async function longAnswer(pool: Pool, frequencies: TokenFrequencies, options: Options): Promise<Found> {
  const { layout, search, maxRecords } = options;
  const on = await pool.reserve();
  let isOver = false;
  const finish = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await run(on, 'rollback').catch(() => {});
    on.release();
  };
  const ended = async (found: Found): Promise<Found> => {
    await finish();
    return found;
  };

  const open = async (): Promise<Found> => {
    await run(on, 'begin isolation level repeatable read read only');
    const [version] = await rowsOf<[string]>(on, `select ${CATALOG_VERSION}`);
    if (version?.[0] !== options.version) return ended({ kind: 'stale' });
    const after = search.after === null ? 0 : await placeOf(on, layout, search.after);
    if (after === null) return ended({ kind: 'unknown_after' });
    const plan = await makePlan(on, frequencies, layout, search);
    if (maxRecords > 0 && search.limit === null) {
      if ((await countRecords(on, plan, after, maxRecords + 1)) > maxRecords) return ended({ kind: 'too_many' });
    }
    // One more than is wanted tells whether more follow.
    const { text, values } = planCursor(plan, after, search.limit === null ? null : search.limit + 1);
    await on.query(`declare page no scroll cursor for ${POSTGRES.print(text)}`, values, { prepare: false });
    return firstPage();
  };

  let left = search.limit ?? Number.POSITIVE_INFINITY;
  let next: string | null = null;
  let last = '';
  let isLast = false;

  /** The answers of the next records, with the comma that joins them to those before; null where there is none. */
  const fetch = async (isFirst: boolean): Promise<Buffer | null> => {
    const rows = (await on.query(`fetch ${PAGE} from page`, [], { prepare: false, raw: true })) as unknown as readonly [
      Buffer,
      Buffer,
    ][];
    const taken = rows.slice(0, left);
    if (taken.length > 0) last = String((taken.at(-1) as [Buffer, Buffer])[1]);
    left -= taken.length;
    isLast = rows.length < PAGE || taken.length < rows.length;
    if (taken.length < rows.length) next = last;
    if (isLast) await finish();
    return taken.length === 0 ? null : joined(taken, isFirst);
  };

  const firstPage = async (): Promise<Found> => {
    const first = await fetch(true);
    if (first === null) return ended({ kind: 'none' });
    if (isLast) return { kind: 'page', records: first, next };
    return { kind: 'stream', pages: pages(first), next: () => next };
  };

  /** An iterator and not a generator, whose end nobody hears of when it was never begun. */
  const pages = (first: Buffer): AsyncIterableIterator<Uint8Array> => {
    let following: Promise<Buffer | null> | null = Promise.resolve(first);
    const end = { done: true, value: undefined } as const;
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () =>
        guarded('read', async () => {
          if (following === null) return end;
          try {
            const value = await following;
            // The next page is read while this one is sent.
            following = isLast ? null : fetch(false);
            following?.catch(() => {});
            return value === null ? end : { done: false, value };
          } catch (error) {
            following = null;
            await finish();
            throw error;
          }
        }),
      async return() {
        await following?.catch(() => {});
        following = null;
        await finish();
        return end;
      },
    };
  };

  try {
    return await open();
  } catch (error) {
    await finish();
    throw error;
  }
}

/** Records joined by commas, each closed: answers lack their last brace (sql/search.ts). */
function joined(rows: readonly (readonly [Buffer, Buffer])[], isFirst: boolean): Buffer {
  let length = isFirst ? -1 : 0;
  for (const [answer] of rows) length += answer.length + 2;
  const records = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [answer] of rows) {
    if (at > 0 || !isFirst) records[at++] = 44;
    records.set(answer, at);
    at += answer.length;
    records[at++] = 125;
  }
  return records;
}
