// Read replicas: which of them may answer a caller, who must find what they wrote themselves.
import { type Connection, openPool, type Place, type Pool, rowsOf, run } from './connection.ts';

/** Milliseconds between two looks at how far a replica is. */
const LOOK_EVERY = 250;
/** Milliseconds for which a replica is believed to be where it was last seen. */
const BELIEVED_FOR = 2_000;

/** One replica: a pool for short searches, one for long ones. */
export interface Replica {
  readonly short: Pool;
  readonly long: Pool;
}

interface Watched extends Replica {
  /** How much of the write-ahead log it has replayed, in bytes; null while it does not answer. */
  replayed: bigint | null;
  seenAt: number;
}

export interface Replicas {
  /** A replica that has all that the user wrote; null where there is none. */
  forUser(userId: string): Replica | null;
  /** Notes in a transaction that users write; other processes hear of it when it commits. */
  wrote(on: Connection, users: readonly string[]): Promise<void>;
  /** The transaction of those users has committed. */
  committed(users: readonly string[]): Promise<void>;
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
    };
  });
  /** Where the log was when each user had last written; a user is here until every replica has passed it. */
  const positions = new Map<string, bigint>();
  let turn = 0;

  const look = async (replica: Watched): Promise<void> => {
    const [row] = await rowsOf<[string | null]>(
      replica.short,
      `select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0'::pg_lsn)::text`,
    );
    replica.replayed = row?.[0] == null ? null : BigInt(row[0]);
    replica.seenAt = Date.now();
  };
  const lookAtAll = async (): Promise<void> => {
    await Promise.all(
      replicas.map((replica) =>
        look(replica).catch(() => {
          // A replica that does not answer is not asked; the primary is.
          replica.replayed = null;
        }),
      ),
    );
    const passed = replicas.map(({ replayed }) => replayed);
    for (const [user, position] of positions) {
      if (passed.every((replayed) => replayed !== null && replayed >= position)) positions.delete(user);
    }
  };
  /** A transaction of these users is over: whatever they wrote lies before where the log is now. */
  const note = async (users: readonly string[]): Promise<void> => {
    const [row] = await rowsOf<[string]>(primary, `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text`);
    const position = BigInt(row?.[0] ?? 0);
    for (const user of users) if ((positions.get(user) ?? 0n) < position) positions.set(user, position);
  };

  await lookAtAll();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void lookAtAll().finally(() => {
      isLooking = false;
    });
  }, LOOK_EVERY);
  timer.unref();
  const listening = primary
    .listen(channel, (users) => void note(JSON.parse(users) as string[]).catch(() => {}))
    .catch(() => null);

  return {
    forUser(userId) {
      const position = positions.get(userId) ?? 0n;
      const now = Date.now();
      for (let tried = 0; tried < replicas.length; tried++) {
        const replica = replicas[turn++ % replicas.length] as Watched;
        const { replayed, seenAt } = replica;
        if (replayed !== null && replayed >= position && now - seenAt < BELIEVED_FOR) return replica;
      }
      return null;
    },
    async wrote(on, users) {
      // A notice has a bound; who is not named in it is found on the primary only by the process that wrote.
      const named = JSON.stringify(users);
      if (named.length < 7_000) await run(on, 'select pg_notify($1, $2)', [channel, named]);
    },
    committed: note,
    async close() {
      clearInterval(timer);
      await listening;
      await Promise.all(replicas.flatMap(({ short, long }) => [short.end({ timeout: 0 }), long.end({ timeout: 0 })]));
    },
  };
}

const NONE: Replicas = {
  forUser: () => null,
  wrote: async () => {},
  committed: async () => {},
  close: async () => {},
};
