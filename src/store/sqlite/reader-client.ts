// The reader thread, seen from the thread that answers requests.
import type { Worker } from 'node:worker_threads';
import type { Search } from '../../search/condition.ts';
import { type Found, type RegisteredApp, Unavailable } from '../store.ts';
import type { ReaderReply, ReaderRequest } from './reader-thread.ts';
import { closed, closedAfter } from './records-text.ts';
import { startThread } from './thread.ts';

/** Long answers: each a stream of pages, the next one asked for when the last was taken. */
export class ReaderThread {
  readonly #worker: Worker;
  readonly #replies = new Map<number, (reply: ReaderReply) => void>();
  #ids = 0;

  constructor(dataDir: string) {
    this.#worker = startThread('reader-thread', { dataDir });
    this.#worker.on('message', (reply: ReaderReply) => this.#replies.get(reply.id)?.(reply));
    const failAll = (error: unknown) => {
      for (const [id, answer] of this.#replies) answer({ kind: 'failed', id, error, unavailable: true });
    };
    this.#worker.on('error', failAll);
    this.#worker.on('exit', () => failAll(new Error('the reader thread has ended')));
  }

  async search(app: RegisteredApp, search: Search, maxRecords: number): Promise<Found> {
    const id = ++this.#ids;
    const { version } = app;
    const first = await this.#ask({ kind: 'open', id, appCode: app.app.code, version, search, maxRecords });
    if (first.kind === 'failed') throw readFailure(first);
    if (first.kind !== 'page') return { kind: first.kind };
    if (first.answers === null) return { kind: 'none' };
    if (first.last) return { kind: 'page', records: closed(first.answers), next: first.next };
    let next: string | null = null;
    const pages = this.#pages(id, first, (last) => {
      next = last;
    });
    return { kind: 'stream', pages, next: () => next };
  }

  async *#pages(id: number, first: ReaderReply & { kind: 'page' }, ended: (next: string | null) => void) {
    let page = first;
    let finished = false;
    try {
      for (;;) {
        // The next page is read while this one is sent.
        const following = page.last ? null : this.#ask({ kind: 'next', id });
        following?.catch(() => {});
        if (page.answers !== null) yield (page === first ? closed : closedAfter)(page.answers);
        if (following === null) break;
        const reply = await following;
        if (reply.kind === 'failed') throw readFailure(reply);
        page = reply as ReaderReply & { kind: 'page' };
      }
      ended(page.next);
      finished = true;
    } finally {
      if (!finished) this.#worker.postMessage({ kind: 'drop', id } satisfies ReaderRequest);
    }
  }

  #ask(request: ReaderRequest & { id: number }): Promise<ReaderReply> {
    return new Promise((resolve) => {
      this.#replies.set(request.id, (reply) => {
        this.#replies.delete(request.id);
        resolve(reply);
      });
      this.#worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    this.#worker.postMessage({ kind: 'close' } satisfies ReaderRequest);
    await new Promise((resolve) => this.#worker.once('exit', resolve));
  }
}

function readFailure({ error, unavailable }: ReaderReply & { kind: 'failed' }): unknown {
  return unavailable ? new Unavailable('the database cannot be read now', { cause: error }) : error;
}
