// Empty apps being filled by the edits of one request each, seen from the thread that answers requests.
import { randomUUID } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { type EditJob, type JobResult, resultOrFault } from '../changed.ts';
import { Unavailable } from '../store.ts';
import { startThread } from '../thread.ts';
import type { FollowedEdits } from '../together.ts';
import { packEdits } from './bulk-pack.ts';
import type { BulkReply, BulkRequest, BulkThreadOptions } from './bulk-thread.ts';

/** What the bulks of this process are named by in their builds: process numbers are used again. */
export const BULK_OWNER: string = randomUUID();

/** The edits of a batch live until they are written: room for them, so that they are not moved about before. */
const YOUNG = { maxYoungGenerationSizeMb: 128 };

/** Fills empty apps, one after the other, each in a thread of its own. */
export class Filler {
  readonly #dataDir: string;
  #bulks = 0;
  /** Resolves when what has begun is done. */
  #last: Promise<unknown> = Promise.resolve();
  /** Resolve when the threads are no more, which tidy up after their answers. */
  readonly #threads = new Set<Promise<void>>();
  readonly #dropping = new Set<Worker>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Does all edits or none, which have `common` in common; false, and nothing is taken from `batches`, where the app cannot be filled this way. */
  fill(
    common: Omit<EditJob, 'edit'>,
    batches: AsyncIterable<readonly EditJob[]>,
    edits: FollowedEdits,
  ): Promise<boolean> {
    const filling = this.#last.then(() => this.#fill(common, batches, edits));
    this.#last = filling.catch(() => {});
    return filling;
  }

  /** Resolves when what has begun is done. What is left to drop is dropped by whoever opens the register next. */
  async close(): Promise<void> {
    await this.#last;
    await Promise.all(this.#threads);
    await Promise.all([...this.#dropping].map((thread) => thread.terminate()));
  }

  async #fill(
    common: Omit<EditJob, 'edit'>,
    batches: AsyncIterable<readonly EditJob[]>,
    edits: FollowedEdits,
  ): Promise<boolean> {
    const name = `${BULK_OWNER} ${++this.#bulks}`;
    const thread = new BulkThread({ dataDir: this.#dataDir, name, ...common });
    const ended = thread.ended().then(() => {
      this.#threads.delete(ended);
    });
    this.#threads.add(ended);
    try {
      const begun = await thread.next();
      if (begun.kind === 'begun' && !begun.isFit) return false;
      let commits = false;
      try {
        // The next batch is at the thread before it has done this one.
        let before: Promise<readonly JobResult[]> | null = null;
        for await (const jobs of batches) {
          const asked = thread.ask({ kind: 'edits', packed: packEdits(jobs) });
          // Whoever waits for it next gets the error.
          asked.catch(() => {});
          if (before !== null) edits.written((await before).map(resultOrFault));
          before = asked;
        }
        if (before !== null) edits.written((await before).map(resultOrFault));
        commits = edits.commits();
      } finally {
        await thread.ask({ kind: 'end', commits });
      }
      return true;
    } catch (error) {
      this.#drop(name);
      throw error;
    }
  }

  /** Where the thread could not do it: whatever it began is given up. */
  #drop(name: string): void {
    const thread = startThread(import.meta.url, 'bulk-drop-thread', { dataDir: this.#dataDir, name });
    thread.unref();
    this.#dropping.add(thread);
    // Whoever opens the register next drops what is left.
    thread.on('error', () => {}).on('exit', () => this.#dropping.delete(thread));
  }
}

/** The thread of one bulk; it answers requests in their order. */
class BulkThread {
  readonly #worker: Worker;
  readonly #exit: Promise<void>;
  /** Those who wait for what it says next, in their order. */
  readonly #waiting: ((reply: BulkReply) => void)[] = [];
  /** Why the thread is no more. */
  #ended: BulkReply | null = null;

  constructor(options: BulkThreadOptions) {
    this.#worker = startThread(import.meta.url, 'bulk-thread', options, YOUNG);
    const ended = (error: unknown) => {
      this.#ended ??= { kind: 'failed', error, unavailable: true };
      for (const answer of this.#waiting.splice(0)) answer(this.#ended);
    };
    this.#worker.on('message', (reply: BulkReply) => this.#waiting.shift()?.(reply));
    this.#worker.on('error', ended);
    this.#exit = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('exit', () => ended(new Error('the thread of a bulk has ended')));
  }

  /** Resolves when it is no more. */
  ended(): Promise<void> {
    return this.#exit;
  }

  /** What the thread says next, unless it fails. */
  next(): Promise<Exclude<BulkReply, { kind: 'failed' }>> {
    return new Promise((resolve, reject) => {
      const answer = (reply: BulkReply) => {
        if (reply.kind !== 'failed') resolve(reply);
        else if (!reply.unavailable) reject(reply.error);
        else reject(new Unavailable('the database cannot be written now', { cause: reply.error }));
      };
      if (this.#ended === null) this.#waiting.push(answer);
      else answer(this.#ended);
    });
  }

  async ask(request: BulkRequest): Promise<readonly JobResult[]> {
    const answer = this.next();
    this.#worker.postMessage(request);
    const reply = await answer;
    return reply.kind === 'results' ? (JSON.parse(reply.results) as JobResult[]) : [];
  }
}
