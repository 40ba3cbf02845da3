// The store on SQLite: short searches at once on this thread, long ones in the reader thread, updates in the writer thread.
import type { Worker } from 'node:worker_threads';
import type { Search } from '../../search/condition.ts';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { type AppKey, type Found, type RegisteredApp, type Store, Unavailable, type Updated } from '../store.ts';
import { catalogReader } from './catalog.ts';
import { now } from './clock.ts';
import { connect, isUnavailable } from './connection.ts';
import type { ReaderReply, ReaderRequest } from './reader-thread.ts';
import { migrate } from './schema.ts';
import { searcherOn } from './searcher.ts';
import { startThread } from './thread.ts';
import type { JobResult, UpdateJob } from './writer.ts';
import type { WriterReply, WriterRequest } from './writer-thread.ts';

/** Longest answer, in records, that is read on this thread. */
const SHORT = 200;
/** A search that may have to look at more rows than this before its first page goes to the reader thread. */
const MUCH_WORK = 4_000;
/** Most updates in one commit. */
const BATCH = 256;
/** Milliseconds between two notes of the uses of keys. */
const NOTE_KEYS_AFTER = 30_000;

export interface SqliteStoreOptions {
  readonly dataDir: string;
  /** MiB of page cache for short searches. */
  readonly cacheMiB: number;
}

/** Opens the store in a data folder that exists. */
export function openSqliteStore({ dataDir, cacheMiB }: SqliteStoreOptions): Store {
  const setUp = connect(dataDir);
  migrate(setUp);
  setUp.close();
  const db = connect(dataDir, { readonly: true, cacheMiB });
  const catalog = catalogReader(db);
  const searcher = searcherOn(db);
  const writer = new WriterThread(dataDir);
  let reader: ReaderThread | null = null;
  let resuming: Worker | null = null;
  const layouts = new WeakMap<RegisteredApp, Layout>();
  const used = new Map<number, number>();
  const noteUses = () => {
    if (used.size === 0) return;
    writer.keysUsed(new Map(used.entries().map(([id, at]) => [id, now(new Date(at))])));
    used.clear();
  };
  const timer = setInterval(noteUses, NOTE_KEYS_AFTER);
  timer.unref();

  let isClosed = false;
  /** Reads; what says that the database cannot serve now becomes Unavailable. */
  const guard = <T>(read: () => T): T => {
    if (isClosed) throw new Unavailable('the database is closed');
    try {
      return read();
    } catch (error) {
      throw isUnavailable(error) ? new Unavailable('the database cannot be read now', { cause: error }) : error;
    }
  };

  const layoutFor = (app: RegisteredApp): Layout => {
    let layout = layouts.get(app);
    if (layout === undefined) {
      layout = layoutOf(app.app, app.id, app.generation);
      layouts.set(app, layout);
    }
    return layout;
  };

  const searchHere = (app: RegisteredApp, search: Search, maxRecords: number): Found | null => {
    if ((search.limit ?? 0) > SHORT) return null;
    const layout = layoutFor(app);
    const after = search.after === null ? 0 : searcher.placeOf(layout, search.after);
    if (after === null) return { kind: 'unknown_after' };
    const plan = searcher.plan(layout, search);
    if (plan.work > MUCH_WORK) return null;
    const page = searcher.page(plan, { after, limit: search.limit ?? SHORT + 1 });
    if (page.answers === null) return { kind: 'none' };
    if (search.limit === null) {
      if (maxRecords > 0 && page.count > maxRecords) return { kind: 'too_many' };
      return page.count > SHORT ? null : { kind: 'page', records: closed(page.answers), next: null };
    }
    const more = page.count === search.limit && searcher.count(plan, { after: page.last, limit: 1 }) > 0;
    const next = more ? searcher.primaryKeyAt(layout, page.last) : null;
    return { kind: 'page', records: closed(page.answers), next };
  };

  return {
    catalog: () => guard(() => catalog.current()),
    async search(app, search, maxRecords) {
      const found = guard(() => searchHere(app, search, maxRecords));
      if (found !== null) return found;
      reader ??= new ReaderThread(dataDir);
      return reader.search(app, search, maxRecords);
    },
    update: (app, change, userId) =>
      writer.update({ appCode: app.app.code, version: app.version, change, userId }),
    keyUsed(key: AppKey) {
      used.set(key.id, Date.now());
    },
    resume: () =>
      new Promise((resolve, reject) => {
        resuming = startThread('resume-thread', { dataDir });
        resuming.once('error', reject).once('exit', () => resolve());
      }),
    async close() {
      isClosed = true;
      clearInterval(timer);
      await resuming?.terminate();
      noteUses();
      await Promise.all([writer.close(), reader?.close()]);
      db.close();
    },
  };
}

/** Answers closed so that they are records: the pages of a search carry `},` only between them. */
function closed(answers: Uint8Array): Uint8Array {
  const records = Buffer.allocUnsafe(answers.length + 1);
  records.set(answers);
  records[answers.length] = 125;
  return records;
}

interface Waiting {
  readonly job: UpdateJob;
  readonly resolve: (updated: Updated) => void;
  readonly reject: (error: unknown) => void;
}

/** Updates gather here while the thread commits; then all of them go at once. */
class WriterThread {
  readonly #worker: Worker;
  #waiting: Waiting[] = [];
  #running: Waiting[] = [];
  #busy = false;
  #uses: ReadonlyMap<number, string> | null = null;
  #closed: (() => void) | null = null;
  #dead: unknown = null;

  constructor(dataDir: string) {
    this.#worker = startThread('writer-thread', { dataDir });
    this.#worker.on('message', (reply: WriterReply) => this.#answered(reply));
    this.#worker.on('error', (error) => this.#died(error));
    this.#worker.on('exit', () => this.#died(new Error('the writer thread has ended')));
  }

  update(job: UpdateJob): Promise<Updated> {
    return new Promise((resolve, reject) => {
      if (this.#dead !== null) {
        reject(new Unavailable('the database is closed', { cause: this.#dead }));
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
    this.#uses = uses;
    if (!this.#busy) this.#send();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#dead !== null) return resolve();
      this.#closed = resolve;
      if (!this.#busy) this.#send();
    });
  }

  #post(request: WriterRequest): void {
    this.#busy = true;
    this.#worker.postMessage(request);
  }

  #send(): void {
    this.#busy = false;
    if (this.#waiting.length > 0) {
      this.#running = this.#waiting.splice(0, BATCH);
      this.#post({ kind: 'updates', jobs: this.#running.map(({ job }) => job) });
    } else if (this.#uses !== null) {
      this.#post({ kind: 'keys-used', uses: this.#uses });
      this.#uses = null;
    } else if (this.#closed !== null) this.#post({ kind: 'close' });
  }

  #answered(reply: WriterReply): void {
    const answered = this.#running;
    this.#running = [];
    this.#send();
    for (let i = 0; i < answered.length; i++) {
      const { resolve, reject } = answered[i] as Waiting;
      if (reply.kind === 'failed') {
        reject(reply.unavailable ? new Unavailable('the database cannot be written now', { cause: reply.error }) : reply.error);
        continue;
      }
      const result = reply.results[i] as JobResult;
      if (result.kind === 'fault') reject(result.error);
      else resolve(result);
    }
  }

  #died(error: unknown): void {
    this.#dead ??= error;
    for (const { reject } of [...this.#running, ...this.#waiting]) {
      reject(new Unavailable('the database is closed', { cause: error }));
    }
    this.#running = [];
    this.#waiting = [];
    this.#closed?.();
  }
}

/** Long answers: each a stream of pages, the next one asked for when the last was taken. */
class ReaderThread {
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
        if (page.answers !== null) yield closedForMore(page.answers, page === first);
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

/** A page of records with the comma before it that joins it to the last. */
function closedForMore(answers: Uint8Array, first: boolean): Uint8Array {
  if (first) return closed(answers);
  const records = Buffer.allocUnsafe(answers.length + 2);
  records[0] = 44;
  records.set(answers, 1);
  records[answers.length + 1] = 125;
  return records;
}

function readFailure({ error, unavailable }: ReaderReply & { kind: 'failed' }): unknown {
  return unavailable ? new Unavailable('the database cannot be read now', { cause: error }) : error;
}
