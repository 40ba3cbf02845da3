// Read replicas: which of them may answer a caller, who must find what they wrote themselves.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, openPool, type Place, type Pool, rowsOf, run } from './connection.ts';

/** Milliseconds between two looks at how far a replica is. */
const LOOK_EVERY = 250;
/** Milliseconds for which a replica is believed to be where it was last seen. */
const BELIEVED_FOR = 2_000;
/** Milliseconds that an update waits for its own notice to come. */
const HEARD_WITHIN = 200;
/** Users named in one notice, whose length has a bound. */
const NAMED_AT_ONCE = 20;

/** One replica: a pool for short searches, one for long ones. */
export interface Replica {
  readonly short: Pool;
  readonly long: Pool;
}

interface Watched extends Replica {
  /** How much of the write-ahead log it has replayed, in bytes; null while it does not answer. */
  replayed: bigint | null;
  seenAt: number;
  isLooking: boolean;
}

/** What a user wrote. */
interface Writes {
  /** Where the log was after it. */
  position: bigint;
  /** Transactions of which that is not known yet. */
  pending: number;
}

export interface Replicas {
  /** A replica that has all that the user wrote; null where there is none. */
  forUser(userId: string): Promise<Replica | null>;
  /** Notes in a transaction that users write; every process hears of it when it commits. Gives a number for the transaction. */
  wrote(on: Connection, users: readonly string[]): Promise<number>;
  /** The transaction has committed; resolves when that is heard, here and so elsewhere. */
  committed(transaction: number, users: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly urls: readonly string[];
  readonly connections: number;
  readonly timeout: number;
}

/** Watches replicas; `primary` is asked where its log is after a user wrote. */
export async function watchReplicas(
  { schema }: Place,
  primary: Pool,
  { urls, connections, timeout }: ReplicaOptions,
): Promise<Replicas> {
  if (urls.length === 0) return NONE;
  const channel = `daicho_wrote_${schema}`;
  const replicas = urls.map((url): Watched => {
    const place = { url, schema };
    return {
      short: openPool(place, { max: connections, timeout, forSearches: true }),
      long: openPool(place, { max: connections, timeout, forSearches: true }),
      replayed: null,
      seenAt: 0,
      isLooking: false,
    };
  });
  /** What each user wrote last; a user is here until every replica has it. */
  const writes = new Map<string, Writes>();
  /** Where the log was when we began to hear who writes; null while we do not hear it. */
  let heardSince: bigint | null = null;
  /** Our transactions: of what was heard before the commit was answered 'heard', else who waits for it. */
  const ours = new Map<number, 'heard' | (() => void)>();
  const self = randomUUID();
  let transactions = 0;
  let turn = 0;
  let isClosed = false;

  const look = async (replica: Watched): Promise<void> => {
    if (replica.isLooking) return;
    replica.isLooking = true;
    try {
      const [row] = await rowsOf<[string | null]>(
        replica.short,
        `select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0'::pg_lsn)::text`,
      );
      replica.replayed = row?.[0] == null ? null : BigInt(row[0]);
      replica.seenAt = Date.now();
    } catch {
      // A replica that does not answer is not asked; the primary is.
      replica.replayed = null;
    }
    replica.isLooking = false;
    for (const [user, { position, pending }] of writes) {
      const isThere = ({ replayed }: Watched) => replayed !== null && replayed >= position;
      if (pending === 0 && replicas.every(isThere)) writes.delete(user);
    }
  };
  /** Where the log is now, asked until the primary says it; whatever was committed before lies before it. */
  const positionNow = async (): Promise<bigint> => {
    for (;;) {
      try {
        const [row] = await rowsOf<[string]>(primary, `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text`);
        return BigInt(row?.[0] ?? 0);
      } catch (error) {
        if (isClosed) throw error;
        await delay(LOOK_EVERY, undefined, { ref: false });
      }
    }
  };
  /** Transactions of these users have committed; until it is known where, the primary is asked for them. */
  const note = async (users: readonly string[]): Promise<void> => {
    const noted = users.map((user) => {
      const written = writes.get(user) ?? { position: 0n, pending: 0 };
      writes.set(user, written);
      written.pending++;
      return written;
    });
    const position = await positionNow();
    for (const written of noted) {
      written.pending--;
      if (written.position < position) written.position = position;
    }
  };
  const noteQuietly = (users: readonly string[]) => void note(users).catch(() => {});

  const lookAtAll = () => Promise.all(replicas.map(look));
  await lookAtAll();
  const timer = setInterval(lookAtAll, LOOK_EVERY);
  timer.unref();
  let heard = 0;
  primary.listen(channel, {
    onNotice(notice) {
      const [from, transaction, users] = JSON.parse(notice) as [string, number | null, string[]];
      noteQuietly(users);
      if (from !== self || transaction === null) return;
      const waiting = ours.get(transaction);
      ours.delete(transaction);
      if (typeof waiting === 'function') waiting();
      else ours.set(transaction, 'heard');
    },
    onListening() {
      const now = ++heard;
      positionNow().then(
        (position) => {
          if (now === heard) heardSince = position;
        },
        () => {},
      );
    },
    onDeaf() {
      heard++;
      heardSince = null;
      for (const waiting of ours.values()) if (typeof waiting === 'function') waiting();
      ours.clear();
    },
  });

  return {
    async forUser(userId) {
      // What came at the same time as the request is heard first.
      await new Promise(setImmediate);
      const { position, pending } = writes.get(userId) ?? { position: 0n, pending: 0 };
      if (heardSince === null || pending > 0) return null;
      const needed = position > heardSince ? position : heardSince;
      const now = Date.now();
      for (let tried = 0; tried < replicas.length; tried++) {
        const replica = replicas[turn++ % replicas.length] as Watched;
        const { replayed, seenAt } = replica;
        if (replayed !== null && replayed >= needed && now - seenAt < BELIEVED_FOR) return replica;
      }
      return null;
    },
    async wrote(on, users) {
      const transaction = ++transactions;
      const parts = Math.ceil(users.length / NAMED_AT_ONCE);
      const notices = Array.from({ length: parts }, (_, part) =>
        JSON.stringify([
          self,
          part === parts - 1 ? transaction : null,
          users.slice(part * NAMED_AT_ONCE, (part + 1) * NAMED_AT_ONCE),
        ]),
      );
      await Promise.all(notices.map((notice) => run(on, 'select pg_notify($1, $2)', [channel, notice])));
      return transaction;
    },
    async committed(transaction, users) {
      noteQuietly(users);
      // Who hears nothing asks no replica, and may not wait for what does not come.
      if (ours.delete(transaction) || heardSince === null) return;
      await new Promise<void>((resolve) => {
        ours.set(transaction, resolve);
        setTimeout(resolve, HEARD_WITHIN).unref();
      });
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      await Promise.all(replicas.flatMap(({ short, long }) => [short.end({ timeout: 0 }), long.end({ timeout: 0 })]));
    },
  };
}

const NONE: Replicas = {
  forUser: async () => null,
  wrote: async () => 0,
  committed: async () => {},
  close: async () => {},
};
