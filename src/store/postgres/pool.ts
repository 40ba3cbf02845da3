// A pool of connections: statements go to whichever is free, transactions have one for themselves, a lost one is replaced.
import { type Connection, isLost, type Link, type LinkOptions, lostError, openLink } from './link.ts';
import { type Hearer, type Listener, newListener } from './listener.ts';

/** A connection that one caller has for themselves. */
export interface Reserved extends Connection {
  /** Gives it back; one whose transaction has not ended is closed. */
  release(): void;
}

export interface Pool extends Connection {
  reserve(): Promise<Reserved>;
  /** Does work in a transaction, which is undone where any of its statements fails. */
  begin<T>(work: (tx: Connection) => Promise<T>): Promise<T>;
  begin<T>(mode: string, work: (tx: Connection) => Promise<T>): Promise<T>;
  /** Hears notices from now on, over a connection of their own. */
  listen(channel: string, hearer: Hearer): void;
  /** Closes the connections; waits so many seconds for what is under way. */
  end(options: { readonly timeout: number }): Promise<void>;
}

export interface LinksOptions extends Pick<LinkOptions, 'url' | 'settings'> {
  readonly max: number;
}

/** Statements that wait for each other on one connection; more wait for whichever is free first. */
const MOST_AT_ONCE = 2;
/** Milliseconds after which a connection that nobody used is closed. */
const IDLE_FOR = 60_000;
/** Milliseconds without a word after which a connection is suspected to lead nowhere. */
const SILENT_FOR = 2_500;
/** Milliseconds between two looks at the connections. */
const WATCH_EVERY = 1_000;
/** Milliseconds between attempts to connect; meanwhile what failed fails at once. */
const RECONNECT_AFTER = 200;

interface Waiter {
  /** Whether it wants a connection for itself. */
  readonly alone: boolean;
  readonly resolve: (link: Link) => void;
  readonly reject: (error: unknown) => void;
}

/** A pool; it connects when it is first used. */
export function poolOf({ url, settings, max }: LinksOptions): Pool {
  /** Connection → when it was last taken. */
  const shared = new Map<Link, number>();
  const reserved = new Set<Link>();
  const waiters: Waiter[] = [];
  let opening = 0;
  let refused: { readonly error: unknown; readonly at: number } | null = null;
  let isEnding = false;
  let listener: Listener | undefined;

  const rejectAll = (error: unknown): void => {
    for (const { reject } of waiters.splice(0)) reject(error);
  };
  const onLost = (link: Link): void => {
    shared.delete(link);
    reserved.delete(link);
    serve();
  };
  const open = (): void => {
    const count = shared.size + reserved.size + opening;
    const isRefused = refused !== null && Date.now() - refused.at < RECONNECT_AFTER;
    if (isRefused && count === 0) rejectAll(refused?.error);
    if (isRefused || isEnding || count === max) return;
    opening++;
    openLink({ url, settings, onLost })
      .then(
        (link) => {
          refused = null;
          if (isEnding) link.close();
          else if (!link.isLost) shared.set(link, Date.now());
        },
        (error: unknown) => {
          refused = { error, at: Date.now() };
          // Where nobody is connected and nobody can be, whoever waits hears of it.
          if (shared.size + reserved.size === 0) rejectAll(error);
        },
      )
      .finally(() => {
        opening--;
        serve();
      });
  };
  /** The connection with the fewest statements under way, if it takes one more. */
  const freest = (unused: boolean): Link | null => {
    let best: Link | null = null;
    for (const link of shared.keys()) {
      if (best === null || link.load < best.load) best = link;
      if (link.load === 0) break;
    }
    return best !== null && best.load < (unused ? 1 : MOST_AT_ONCE) ? best : null;
  };
  const take = (unused: boolean, alone: boolean): Link | null => {
    const link = freest(unused);
    if (link === null) return null;
    if (alone) {
      shared.delete(link);
      reserved.add(link);
    } else shared.set(link, Date.now());
    return link;
  };
  /** Gives connections to those who wait, and opens more where they do not suffice. */
  const serve = (): void => {
    while (waiters.length > 0) {
      const [{ alone, resolve }] = waiters as [Waiter];
      // One that has to share brings about another connection, and does not wait for it.
      const link = take(true, alone) ?? (alone ? null : take(false, false));
      if (link !== null && link.load > 0 && opening === 0) open();
      if (link === null) break;
      waiters.shift();
      resolve(link);
    }
    if (waiters.length > opening) open();
  };
  const linkFor = (alone: boolean): Promise<Link> =>
    new Promise((resolve, reject) => {
      if (isEnding) {
        reject(lostError('CONNECTION_ENDED', 'the connections to the database were ended'));
        return;
      }
      waiters.push({ alone, resolve, reject });
      serve();
    });
  /** At once where nothing is under way on one of the connections. */
  const query: Connection['query'] = async (text, values, options) => {
    const link = (waiters.length === 0 ? take(true, false) : null) ?? (await linkFor(false));
    try {
      return await link.query(text, values, options);
    } finally {
      if (waiters.length > 0) serve();
    }
  };

  let probedAt = 0;
  /** Where a statement takes long, asks whether the database is there at all: it may have gone without a word. */
  const probe = async (): Promise<void> => {
    const isSilent = (link: Link) => Date.now() - link.silentSince > SILENT_FOR;
    const silent = [...shared.keys(), ...reserved].filter(isSilent);
    if (silent.length === 0 || Date.now() - probedAt < SILENT_FOR) return;
    probedAt = Number.POSITIVE_INFINITY;
    try {
      (await openLink({ url, settings, onLost: () => {} })).close();
    } catch (error) {
      if (isLost(error)) {
        refused = { error, at: Date.now() };
        for (const link of silent) if (isSilent(link)) link.close();
        listener?.renew();
      }
    }
    probedAt = Date.now();
  };
  const watch = setInterval(() => {
    for (const [link, takenAt] of shared) {
      if (link.load === 0 && Date.now() - takenAt > IDLE_FOR) link.close();
    }
    void probe();
  }, WATCH_EVERY);
  watch.unref();

  const reserve = async (): Promise<Reserved> => {
    const link = await linkFor(true);
    let inTransaction = false;
    return {
      query(text, values, options) {
        if (/^begin\b/.test(text)) inTransaction = true;
        const rows = link.query(text, values, options);
        if (!/^(?:commit|rollback)$/.test(text)) return rows;
        return rows.then((result) => {
          inTransaction = false;
          return result;
        });
      },
      release() {
        if (!reserved.delete(link)) return;
        if (inTransaction || isEnding) link.close();
        else shared.set(link, Date.now());
        serve();
      },
    };
  };

  return {
    query,
    reserve,
    async begin<T>(...[first, second]: [string | ((tx: Connection) => Promise<T>), ((tx: Connection) => Promise<T>)?]) {
      const [mode, work] =
        typeof first === 'string' ? [` ${first}`, second as typeof first & typeof second] : ['', first];
      const on = await reserve();
      try {
        await on.query(`begin${mode}`, [], { prepare: false });
        const { tx, failed } = watched(on);
        const result = await (work as (tx: Connection) => Promise<T>)(tx);
        failed();
        await on.query('commit', [], { prepare: false });
        return result;
      } catch (error) {
        await on.query('rollback', [], { prepare: false }).catch(() => {});
        throw error;
      } finally {
        on.release();
      }
    },
    listen(channel, hearer) {
      listener ??= newListener({ url, settings });
      listener.add(channel, hearer);
    },
    async end({ timeout }) {
      isEnding = true;
      clearInterval(watch);
      listener?.close();
      rejectAll(lostError('CONNECTION_ENDED', 'the connections to the database were ended'));
      const until = Date.now() + timeout * 1_000;
      const isBusy = () => reserved.size > 0 || [...shared.keys()].some(({ load }) => load > 0);
      while (isBusy() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const link of [...shared.keys(), ...reserved]) link.close();
    },
  };
}

/** A transaction; `failed` throws what one of its statements failed with, also where nobody looked at that. */
function watched(on: Connection): { readonly tx: Connection; readonly failed: () => void } {
  let failure: { readonly error: unknown } | null = null;
  return {
    tx: {
      query(text, values, options) {
        const rows = on.query(text, values, options);
        rows.catch((error: unknown) => {
          failure ??= { error };
        });
        return rows;
      },
    },
    failed() {
      if (failure !== null) throw failure.error;
    },
  };
}
