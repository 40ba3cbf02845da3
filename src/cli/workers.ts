// Several processes that answer requests on one port (P14): starts them, hands them the connections, replaces those that end.
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import type { Log } from '../config/log.ts';
import { Mistake } from '../store/register.ts';
import type { Answering } from './answering.ts';

/** The first message to a worker. */
export interface StartWorker {
  readonly kind: 'start';
  readonly config: Config;
  readonly number: number;
  /** It takes up the work that others left unfinished. */
  readonly resumes: boolean;
}

export type ToWorker = StartWorker | { readonly kind: 'end' };

export type FromWorker =
  | { readonly kind: 'listening' }
  /** It cannot start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string };

/** A worker that lived for so many milliseconds is replaced at once. */
const STEADY = 10_000;
/** Milliseconds until a worker is replaced that did not, from the second on; doubled each time up to the last. */
const FIRST_DELAY = 250;
const LAST_DELAY = 30_000;

/** Starts the workers on a port that is not 0; resolves when all of them listen, rejects where one of them cannot. */
export async function startWorkers(config: Config, log: Log): Promise<Answering> {
  cluster.setupPrimary({ exec: sibling('worker'), args: [] });
  const places = Array.from({ length: config.workers }, (_, index) => new Place(index + 1, config, log));
  try {
    await Promise.all(places.map((place) => place.start()));
    for (const place of places) place.keep();
    return { port: config.port, end: () => endAll(places) };
  } catch (error) {
    await endAll(places);
    throw error;
  }
}

async function endAll(places: readonly Place[]): Promise<void> {
  await Promise.all(places.map((place) => place.end()));
}

/** How a worker ended, or why it could not start. */
interface End {
  readonly pid?: number | undefined;
  readonly code?: number;
  readonly signal?: string | null;
  readonly reason?: string;
}

/** The place of one worker, and of those that replace it. */
class Place {
  readonly #number: number;
  readonly #config: Config;
  readonly #log: Log;
  #worker: Worker | null = null;
  /** A worker that ends is replaced. */
  #isKept = false;
  #delay = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(number: number, config: Config, log: Log) {
    this.#number = number;
    this.#config = config;
    this.#log = log;
  }

  /** Starts a worker; resolves when it listens, rejects where it ends before. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      let worker: Worker;
      try {
        worker = cluster.fork();
      } catch (error) {
        reject(this.#ended({ reason: (error as Error).message }, false));
        return;
      }
      this.#worker = worker;
      const { pid } = worker.process;
      let listeningSince = Number.POSITIVE_INFINITY;
      let reason: string | undefined;
      const ended = (end: End) => reject(this.#ended({ pid, ...end }, performance.now() - listeningSince >= STEADY));
      closeWhatIsNotHandedOver(worker);
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'failed') {
          reason = message.reason;
          return;
        }
        listeningSince = performance.now();
        this.#log.info('worker listening', () => ({ worker: this.#number, pid }));
        resolve();
      });
      worker.on('error', (error) => {
        // With a process it is a message that came too late; the end of the process is told beside.
        if (pid === undefined) ended({ reason: error.message });
      });
      worker.once('exit', (code, signal) => ended(reason === undefined ? { code, signal } : { reason }));
      this.#tell({ kind: 'start', config: this.#config, number: this.#number, resumes: this.#number === 1 });
    });
  }

  /** From now on a worker that ends is replaced. */
  keep(): void {
    this.#isKept = true;
    // It may have ended since it listened.
    if (this.#worker === null) this.#replace();
  }

  /** Ends the worker for good; resolves when it has answered all requests in flight. */
  end(): Promise<void> {
    this.#isKept = false;
    clearTimeout(this.#timer);
    return new Promise((resolve) => {
      if (this.#worker === null) resolve();
      else this.#worker.once('exit', () => resolve());
      this.#tell({ kind: 'end' });
    });
  }

  #replace(): void {
    // Where it ends instead, that is logged, and the next one is on its way.
    this.start().catch(() => {});
  }

  /** Logs the end of a worker, and has it replaced; gives what to say of it where it had not listened. */
  #ended(end: End, wasSteady: boolean): Mistake {
    this.#worker = null;
    if (this.#isKept) {
      const delay = wasSteady ? 0 : this.#delay;
      this.#delay = Math.min(LAST_DELAY, Math.max(FIRST_DELAY, delay * 2));
      this.#log.error('a worker has ended', () => ({ worker: this.#number, ...end, replacedInMilliseconds: delay }));
      this.#timer = setTimeout(() => this.#replace(), delay);
    }
    return new Mistake(
      end.reason ?? `worker ${this.#number} ended before it listened (${end.signal ?? `code ${end.code}`})`,
    );
  }

  #tell(message: ToWorker): void {
    if (this.#worker?.isConnected()) this.#worker.send(message);
  }
}

/**
 * Closes the connection that was being handed to a worker when the worker ended. Node forgets it, and its client would wait
 * for ever; with it closed, the client sees what those of the worker's other connections see.
 */
function closeWhatIsNotHandedOver(worker: Worker): void {
  const { process: child } = worker;
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  // One at a time is handed over; closing twice does nothing.
  let last: { close?(): void } | null = null;
  child.send = (...args: unknown[]) => {
    const [, handle] = args;
    if (typeof handle === 'object' && handle !== null) last = handle;
    return send(...args);
  };
  const close = () => {
    // One that ended in order has given back what it did not take, and another worker may have it now.
    if (!worker.exitedAfterDisconnect) last?.close?.();
  };
  worker.once('exit', close).once('disconnect', close);
}

/** A sibling module, from the sources or from the build. */
function sibling(name: string): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`./${name}.${extension}`, import.meta.url));
}
