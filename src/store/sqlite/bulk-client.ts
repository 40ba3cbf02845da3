// Empty apps being filled by the edits of one request each, seen from the thread that answers requests.
import { randomUUID } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { type EditJob, type JobResult, resultOrFault } from '../changed.ts';
import { type RegisteredApp, Unavailable } from '../store.ts';
import { startThread } from '../thread.ts';
import type { FollowedEdits } from '../together.ts';
import { dropBulk } from './build.ts';
import type { BulkReply, BulkRequest, BulkThreadOptions } from './bulk-thread.ts';
import { connect } from './connection.ts';

/** This process in the builds of its bulks: process numbers are used again. */
export const BULK_OWNER: string = randomUUID();

/** The edits of a batch live until they are written: room for them, so that they are not moved about before. */
const YOUNG = { maxYoungGenerationSizeMb: 128 };

/** Fills empty apps, each in a thread of its own. */
export class Filler {
  readonly #dataDir: string;
  readonly #running = new Set<Promise<unknown>>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Does all edits or none; false, and nothing is taken from `batches`, where the app cannot be filled this way. */
  async fill(app: RegisteredApp, batches: AsyncIterable<readonly EditJob[]>, edits: FollowedEdits): Promise<boolean> {
    const filling = this.#fill(app, batches, edits);
    const ended = filling.catch(() => {}).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    return filling;
  }

  /** Resolves when what has begun is done. */
  async close(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #fill(app: RegisteredApp, batches: AsyncIterable<readonly EditJob[]>, edits: FollowedEdits): Promise<boolean> {
    const { version } = app;
    const thread = new BulkThread({ dataDir: this.#dataDir, owner: BULK_OWNER, appCode: app.app.code, version });
    const begun = await thread.next();
    if (begun.kind === 'begun' && !begun.isFit) return false;
    let commits = false;
    try {
      for await (const jobs of batches) edits.written((await thread.ask({ kind: 'edits', jobs })).map(resultOrFault));
      commits = edits.commits();
    } finally {
      await thread.ask({ kind: 'end', commits }).catch((error: unknown) => {
        this.#drop(app);
        throw error;
      });
    }
    return true;
  }

  /** The thread has not dropped what it did. */
  #drop({ id }: RegisteredApp): void {
    const db = connect(this.#dataDir);
    try {
      dropBulk(db, id);
    } finally {
      db.close();
    }
  }
}

/** The thread of one bulk; it answers one request at a time. */
class BulkThread {
  readonly #worker: Worker;
  #answered: (reply: BulkReply) => void = () => {};
  /** Why the thread is no more. */
  #ended: BulkReply | null = null;

  constructor(options: BulkThreadOptions) {
    this.#worker = startThread(import.meta.url, 'bulk-thread', options, YOUNG);
    const ended = (error: unknown) => {
      this.#ended ??= { kind: 'failed', error, unavailable: true };
      this.#answered(this.#ended);
    };
    this.#worker.on('message', (reply: BulkReply) => this.#answered(reply));
    this.#worker.on('error', ended);
    this.#worker.on('exit', () => ended(new Error('the thread of a bulk has ended')));
  }

  /** What the thread says next, unless it fails. */
  next(): Promise<Exclude<BulkReply, { kind: 'failed' }>> {
    return new Promise((resolve, reject) => {
      this.#answered = (reply) => {
        if (reply.kind !== 'failed') resolve(reply);
        else if (!reply.unavailable) reject(reply.error);
        else reject(new Unavailable('the database cannot be written now', { cause: reply.error }));
      };
      if (this.#ended !== null) this.#answered(this.#ended);
    });
  }

  async ask(request: BulkRequest): Promise<readonly JobResult[]> {
    const answer = this.next();
    this.#worker.postMessage(request);
    const reply = await answer;
    return reply.kind === 'results' ? (JSON.parse(reply.results) as JobResult[]) : [];
  }
}
