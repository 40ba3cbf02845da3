// The writer thread, seen from the thread that answers requests.
import type { Worker } from 'node:worker_threads';
import { type EditJob, type JobResult, resultOrFault, type UpdateJob } from '../changed.ts';
import { Unavailable, type Updated, type Written } from '../store.ts';
import { startThread } from '../thread.ts';
import type { FollowedEdits } from '../together.ts';
import type { WriterReply, WriterRequest } from './writer-thread.ts';

/** Most updates in one commit. */
const BATCH = 256;

interface Waiting {
  readonly job: UpdateJob | EditJob;
  readonly resolve: (written: Written) => void;
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
  /** Somebody has a turn of their own; why it came to nothing. */
  #inTurn = false;
  #broken: Unavailable | null = null;
  /** Those who wait for a turn of their own. */
  readonly #turns: (() => void)[] = [];
  #wasTurn = false;
  #asked: { resolve(results: readonly JobResult[]): void; reject(error: unknown): void } | null = null;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  update(job: UpdateJob): Promise<Updated> {
    return this.edit(job) as Promise<Updated>;
  }

  edit(job: UpdateJob | EditJob): Promise<Written> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) {
        reject(new Unavailable('the database is closed'));
        return;
      }
      this.#waiting.push({ job, resolve, reject });
      // A turn of the event loop later, so that requests that arrived together share the commit.
      if (!this.#busy) {
        this.#busy = true;
        // Unless the thread ended meanwhile, and something else is being written.
        setImmediate(() => {
          if (this.#running.length === 0 && !this.#inTurn) this.#send();
        });
      }
    });
  }

  /** Edits in one transaction, for which everything else waits; `jobs` are made from the batches as they come. */
  async together(batches: AsyncIterable<readonly EditJob[]>, edits: FollowedEdits): Promise<void> {
    await this.#turn();
    let commits = false;
    try {
      for await (const jobs of batches) {
        edits.written((await this.#ask({ kind: 'together', jobs })).map(resultOrFault));
      }
      commits = edits.commits();
    } finally {
      try {
        await this.#ask({ kind: 'end', commits });
      } finally {
        this.#inTurn = false;
        this.#broken = null;
        this.#send();
      }
    }
  }

  /** Resolves when nothing else is being written, and keeps it so. */
  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) {
        reject(new Unavailable('the database is closed'));
        return;
      }
      this.#turns.push(resolve);
      if (!this.#busy) this.#send();
    });
  }

  /** Asks the thread in a turn. */
  #ask(request: WriterRequest): Promise<readonly JobResult[]> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== null) {
        reject(this.#broken);
        return;
      }
      this.#asked = { resolve, reject };
      this.#post(request);
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
    worker.on('error', (error) => this.#ended(worker, error));
    worker.on('exit', () => this.#ended(worker, new Error('the writer thread has ended')));
    return worker;
  }

  #post(request: WriterRequest): void {
    this.#busy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage(request);
  }

  #send(): void {
    this.#busy = false;
    // Turns and updates take turns: neither waits for all of the other.
    const turn = this.#wasTurn && this.#waiting.length > 0 ? undefined : this.#turns.shift();
    this.#wasTurn = turn !== undefined;
    if (turn !== undefined) {
      this.#busy = true;
      this.#inTurn = true;
      turn();
    } else if (this.#waiting.length > 0) {
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
    if (this.#asked !== null) {
      const { resolve, reject } = this.#asked;
      this.#asked = null;
      if (reply.kind === 'results') resolve(reply.results);
      else reject(failure(reply));
      return;
    }
    const answered = this.#running;
    this.#running = [];
    this.#send();
    for (let i = 0; i < answered.length; i++) {
      const { resolve, reject } = answered[i] as Waiting;
      if (reply.kind === 'failed') {
        reject(failure(reply));
        continue;
      }
      const result = reply.results[i] as JobResult;
      if (result.kind === 'fault') reject(result.error);
      else resolve(result);
    }
  }

  /** Whatever was being written may or may not be; the next update starts the thread again. */
  #ended(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const lost: { reject(error: unknown): void }[] = this.#asked === null ? this.#running : [this.#asked];
    this.#asked = null;
    this.#running = [];
    const unavailable = new Unavailable('the database cannot be written now', { cause: error });
    // What was written in the turn is lost with its transaction; whoever has it hears of that, and ends it.
    if (this.#inTurn) this.#broken = unavailable;
    for (const { reject } of lost) reject(unavailable);
    if (!this.#inTurn) this.#send();
  }
}

function failure({ error, unavailable }: WriterReply & { kind: 'failed' }): unknown {
  return unavailable ? new Unavailable('the database cannot be written now', { cause: error }) : error;
}
