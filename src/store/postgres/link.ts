// One connection to the database, used until it is lost and then never again: postgres 3.4.9 would connect anew behind our back
// and go on there with what was meant for a transaction that is no more.
import { connect, type Socket } from 'node:net';
import postgres from 'postgres';

export type Value = string | number | null | Uint8Array;

export interface QueryOptions {
  /** The plan is kept for the next time. */
  readonly prepare: boolean;
  /** Values as bytes. */
  readonly raw?: boolean;
}

/** What statements are run on. Sent at once: what is called first on one connection is done first. */
export interface Connection {
  /** The rows of a statement, each an array of values; several statements may stand in a text that is not prepared. */
  query(text: string, values: readonly Value[], options: QueryOptions): Promise<readonly (readonly unknown[])[]>;
}

export interface Link extends Connection {
  /** Statements under way. */
  readonly load: number;
  /** Since when, in milliseconds, nothing is heard although something is under way; Infinity while nothing is. */
  readonly silentSince: number;
  readonly isLost: boolean;
  /** Ends it; what is under way fails. */
  close(): void;
}

export interface LinkOptions {
  readonly url: string;
  readonly settings: Readonly<Record<string, string | number>>;
  /** Called once, when it is lost or closed. */
  readonly onLost: (link: Link) => void;
  readonly onNotice?: (channel: string, payload: string) => void;
}

/** Seconds for one attempt to connect. */
const CONNECT_TIMEOUT = 4;
/** Milliseconds after which a connection that was ended is cut. */
const CUT_AFTER = 1_000;

/** Whether the connection was lost, could not be made, or leads to a database that was the primary once. */
export function isLost(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return /^(?:CONNECTION_|CONNECT_TIMEOUT|E[A-Z]+$|57P0|08|25006)/.test(String(code ?? ''));
}

/** An error as the driver has them for what becomes of a connection. */
export function lostError(code: 'CONNECTION_CLOSED' | 'CONNECTION_ENDED', message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** Connects to the first of the hosts in the address that is there. */
export async function openLink(options: LinkOptions): Promise<Link> {
  let failure: unknown;
  for (const url of hostsOf(options.url)) {
    const link = newLink(url, options);
    try {
      await link.query('select 1', [], { prepare: false });
      return link;
    } catch (error) {
      failure = error;
      link.close();
    }
  }
  throw failure;
}

/** The address, for each of its hosts one. */
export function hostsOf(url: string): readonly string[] {
  const parts = /^([^/]*\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(url);
  const [, start = '', hosts = '', rest = ''] = parts ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => start + host + rest) : [url];
}

function newLink(url: string, { settings, onLost, onNotice }: LinkOptions): Link {
  let lost: unknown;
  let socket: Socket | undefined;
  const waiting = new Set<(error: unknown) => void>();
  let heardAt = 0;

  const lose = (error: unknown): void => {
    if (lost !== undefined) return;
    lost = error;
    for (const reject of waiting) reject(error);
    waiting.clear();
    void sql.end({ timeout: 0 });
    setTimeout(() => socket?.destroy(), CUT_AFTER).unref();
    onLost(link);
  };
  /** What the database answers, unless the connection is lost before. */
  const answerOf = <T>(ask: () => PromiseLike<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (lost !== undefined) {
        reject(lost);
        return;
      }
      if (waiting.size === 0) heardAt = Date.now();
      waiting.add(reject);
      ask().then(
        (answer) => {
          waiting.delete(reject);
          heardAt = Date.now();
          resolve(answer);
        },
        (error: unknown) => {
          waiting.delete(reject);
          heardAt = Date.now();
          reject(error);
          if (isLost(error)) lose(error);
        },
      );
    });

  const sql = postgres(url, {
    max: 1,
    prepare: true,
    fetch_types: false,
    connect_timeout: CONNECT_TIMEOUT,
    idle_timeout: null as unknown as number,
    max_lifetime: null,
    max_pipeline: 1_000_000,
    backoff: false as unknown as boolean,
    onnotice: () => {},
    onclose: () => lose(lostError('CONNECTION_CLOSED', 'the connection to the database was closed')),
    connection: settings as unknown as Partial<postgres.ConnectionParameters>,
    // The driver's own would be made again when it is lost.
    socket: (at: { host: string[]; port: number[]; path: string | false }) => {
      if (socket !== undefined) throw lostError('CONNECTION_CLOSED', 'the connection to the database was closed');
      const [host = '', port = 0] = [at.host[0], at.port[0]];
      socket = at.path ? connect(at.path) : connect(port, host);
      return Object.assign(socket, { host, port });
    },
    ...(onNotice === undefined ? {} : { onnotify: onNotice }),
  } as postgres.Options<Record<string, never>>);

  const link: Link = {
    get load() {
      return waiting.size;
    },
    get silentSince() {
      return waiting.size === 0 ? Number.POSITIVE_INFINITY : heardAt;
    },
    get isLost() {
      return lost !== undefined;
    },
    query: (text, values, { prepare, raw = false }) =>
      answerOf(() => {
        const query = sql.unsafe(text, values as never[], { prepare });
        return (raw ? query.raw() : query.values()).execute() as unknown as Promise<readonly (readonly unknown[])[]>;
      }),
    close: () => lose(lostError('CONNECTION_ENDED', 'the connection to the database was ended')),
  };
  return link;
}
