// How many records have a token of the pair index: from the statistics that the database gathers, without asking it each time.
import { numberOf, type PairQuery } from '../../sql/pairs.ts';
import { type Pool, rowsOf } from './connection.ts';

/** What is known of a pair index. */
interface Known {
  /** Records or rows in it. */
  readonly rows: number;
  /** Of the commonest tokens: the share of the records that have it. */
  readonly shares: ReadonlyMap<number, number>;
  readonly readAt: number;
}

export interface TokenFrequencies {
  /** A bound of the hits of a query, as far as it is known; 0 for few. */
  hits(pairs: string, query: PairQuery): Promise<{ readonly hits: number; readonly of: number }>;
}

/** Milliseconds that statistics are taken for true; they change when the database analyses the table again. */
const TRUE_FOR = 60_000;

/** Reads statistics when they are first needed, and again from time to time, meanwhile using those it has. */
export function tokenFrequencies(pool: Pool): TokenFrequencies {
  const known = new Map<string, Known>();
  const reading = new Map<string, Promise<Known>>();

  const read = (pairs: string): Promise<Known> => {
    const already = reading.get(pairs);
    if (already !== undefined) return already;
    const started = readKnown(pool, pairs).finally(() => reading.delete(pairs));
    reading.set(pairs, started);
    started.then(
      (result) => known.set(pairs, result),
      // Whoever waits for it gets the error; nobody does where older statistics serve.
      () => {},
    );
    return started;
  };

  return {
    async hits(pairs, query) {
      let found = known.get(pairs);
      if (found === undefined) found = await read(pairs);
      else if (Date.now() - found.readAt > TRUE_FOR) void read(pairs);
      const { shares, rows } = found;
      const share = (token: string) => shares.get(numberOf(token)) ?? 0;
      const lists = query.map((alternatives) =>
        alternatives.reduce((sum, { tokens }) => sum + Math.min(...tokens.map(share)), 0),
      );
      return { hits: Math.round(Math.min(1, ...lists) * rows), of: rows };
    },
  };
}

async function readKnown(pool: Pool, pairs: string): Promise<Known> {
  const [row] = await rowsOf<[number, string | null, string | null]>(
    pool,
    `select c.reltuples::float8, s.most_common_elems::text, s.most_common_elem_freqs::text
     from pg_class c left join pg_stats s
       on s.schemaname = current_schema() and s.tablename = c.relname and s.attname = 'tokens'
     where c.oid = to_regclass(quote_ident($1))`,
    [pairs],
  );
  const [rows, elements, frequencies] = row ?? [0, null, null];
  const tokens = numbersOf(elements);
  const shares = numbersOf(frequencies);
  // Behind the shares of the tokens stand the least and the greatest of them.
  return {
    rows: Math.max(0, rows),
    shares: new Map(tokens.map((token, index) => [token, shares[index] as number])),
    readAt: Date.now(),
  };
}

function numbersOf(array: string | null): readonly number[] {
  return array === null || array === '{}' ? [] : array.slice(1, -1).split(',').map(Number);
}
