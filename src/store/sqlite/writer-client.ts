// The writer thread, seen from the thread that answers requests.
import type { Worker } from 'node:worker_threads';
import type { JobResult, UpdateJob } from '../changed.ts';
import { Unavailable, type Updated } from '../store.ts';
import { startThread } from '../thread.ts';
import type { WriterReply, WriterRequest } from './writer-thread.ts';

/** Most updates in one commit. */
const BATCH = 256;

interface Waiting {
  readonly job: UpdateJob;
  readonly resolve: (updated: Updated) => void;
  readonly reject: (error: unknown) => void;
}

/** Updates gather here while the thread commits; then all of them go at once. It is started by the first. */
export class WriterThread {
  readonly #dataDir: string;
  #worker: Worker | null = null;
  #waiting: Waiting[] = [];
  #running: Waiting[] = [];
  #busy = false;
  #uses: ReadonlyMap<number, string> = new Map();
  #closed: (() => void) | null = null;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  update(job: UpdateJob): Promise<Updated> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) {
        reject(new Unavailable('the database is closed'));
        return;
      }
      this.#waiting.push({ job, resolve, reject });
      // A turn of the event loop later, so that requests that arrived together share the commit.
      if (!this.#busy) {
        this.#busy = true;
        setImmediate(() => this.#send());
      }
    });
  }

  keysUsed(uses: ReadonlyMap<number, string>): void {
    this.#uses = new Map([...this.#uses, ...uses]);
    if (!this.#busy) this.#send();
  }

  /** Resolves when everything that waits is written. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (!this.#busy) this.#send();
    });
  }

  #start(): Worker {
    const worker = startThread(import.meta.url, 'writer-thread', { dataDir: this.#dataDir });
    worker.on('message', (reply: WriterReply) => this.#answered(reply));
    worker.on('error', (error) => this.#ended(error));
    worker.on('exit', () => this.#ended(new Error('the writer thread has ended')));
    return worker;
  }

  #post(request: WriterRequest): void {
    this.#busy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage(request);
  }

  #send(): void {
    this.#busy = false;
    if (this.#waiting.length > 0) {
      this.#running = this.#waiting.splice(0, BATCH);
      this.#post({ kind: 'updates', jobs: this.#running.map(({ job }) => job) });
    } else if (this.#uses.size > 0) {
      this.#post({ kind: 'keys-used', uses: this.#uses });
      this.#uses = new Map();
    } else if (this.#closed !== null) {
      if (this.#worker === null) this.#closed();
      else this.#post({ kind: 'close' });
    }
  }

  #answered(reply: WriterReply): void {
    const answered = this.#running;
    this.#running = [];
    this.#send();
    for (let i = 0; i < answered.length; i++) {
      const { resolve, reject } = answered[i] as Waiting;
      if (reply.kind === 'failed') {
        reject(
          reply.unavailable
            ? new Unavailable('the database cannot be written now', { cause: reply.error })
            : reply.error,
        );
        continue;
      }
      const result = reply.results[i] as JobResult;
      if (result.kind === 'fault') reject(result.error);
      else resolve(result);
    }
  }

  /** Whatever was being written may or may not be; the next update starts the thread again. */
  #ended(error: unknown): void {
    if (this.#worker === null) return;
    this.#worker = null;
    const lost = this.#running;
    this.#running = [];
    for (const { reject } of lost) reject(new Unavailable('the database cannot be written now', { cause: error }));
    this.#send();
  }
}
