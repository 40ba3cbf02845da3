// The reader thread, seen from the thread that answers requests.
import type { Worker } from 'node:worker_threads';
import type { Search } from '../../search/condition.ts';
import { closed, closedAfter } from '../records-text.ts';
import { type Found, type RegisteredApp, Unavailable } from '../store.ts';
import { startThread } from '../thread.ts';
import type { ReaderReply, ReaderRequest } from './reader-thread.ts';

/** Long answers: each a stream of pages, the next one asked for when the last was taken. */
export class ReaderThread {
  readonly #worker: Worker;
  readonly #replies = new Map<number, (reply: ReaderReply) => void>();
  #ids = 0;
  /** Why the thread is no more. */
  #ended: unknown = null;

  constructor(dataDir: string) {
    this.#worker = startThread(import.meta.url, 'reader-thread', { dataDir });
    this.#worker.on('message', (reply: ReaderReply) => this.#replies.get(reply.id)?.(reply));
    const failAll = (error: unknown) => {
      this.#ended ??= error;
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
    if (first.kind === 'counted') throw new Error('a search was counted');
    if (first.kind !== 'page') return { kind: first.kind };
    if (first.answers === null) return { kind: 'none' };
    if (first.last) return { kind: 'page', records: closed(first.answers), next: first.next };
    let next: string | null = null;
    const pages = this.#pages(id, first, (last) => {
      next = last;
    });
    return { kind: 'stream', pages, next: () => next };
  }

  /** How many records a search finds. */
  async count({ app, version }: RegisteredApp, search: Search): Promise<number | 'stale'> {
    const reply = await this.#ask({ kind: 'count', id: ++this.#ids, appCode: app.code, version, search });
    if (reply.kind === 'failed') throw readFailure(reply);
    return reply.kind === 'counted' ? reply.count : 'stale';
  }

  /** An iterator and not a generator, whose end nobody hears of when it was never begun. */
  #pages(
    id: number,
    first: ReaderReply & { kind: 'page' },
    ended: (next: string | null) => void,
  ): AsyncIterableIterator<Uint8Array> {
    let page: (ReaderReply & { kind: 'page' }) | null = first;
    let following: Promise<ReaderReply> | null = null;
    const finish = () => {
      page = null;
      return { done: true, value: undefined } as const;
    };
    const drop = async () => {
      if (page !== null && !page.last) this.#worker.postMessage({ kind: 'drop', id } satisfies ReaderRequest);
      return finish();
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        if (following !== null) {
          const reply = await following;
          following = null;
          if (reply.kind !== 'page') {
            finish();
            throw reply.kind === 'failed' ? readFailure(reply) : new Error(`a page cannot be ${reply.kind}`);
          }
          page = reply;
        }
        if (page === null) return finish();
        const { answers, last, next } = page;
        const value = answers === null ? null : (page === first ? closed : closedAfter)(answers);
        if (last) {
          ended(next);
          page = null;
        }
        // The next page is read while this one is sent.
        else following = this.#ask({ kind: 'next', id });
        return value === null ? finish() : { done: false, value };
      },
      return: drop,
    };
  }

  #ask(request: ReaderRequest & { id: number }): Promise<ReaderReply> {
    return new Promise((resolve) => {
      if (this.#ended !== null) {
        resolve({ kind: 'failed', id: request.id, error: this.#ended, unavailable: true });
        return;
      }
      this.#replies.set(request.id, (reply) => {
        this.#replies.delete(request.id);
        resolve(reply);
      });
      this.#worker.postMessage(request);
    });
  }

  /** Whether the thread can still be asked. */
  get isOpen(): boolean {
    return this.#ended === null;
  }

  async close(): Promise<void> {
    if (this.#ended !== null) return;
    this.#worker.postMessage({ kind: 'close' } satisfies ReaderRequest);
    await new Promise((resolve) => this.#worker.once('exit', resolve));
  }
}

function readFailure({ error, unavailable }: ReaderReply & { kind: 'failed' }): unknown {
  return unavailable ? new Unavailable('the database cannot be read now', { cause: error }) : error;
}
