// The thread that reads long answers: each on a connection of its own, in one read transaction, a page when asked for.
import { parentPort, workerData } from 'node:worker_threads';
import type { Search } from '../../search/condition.ts';
import { layoutOf } from '../../sql/layout.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, connect, isUnavailable } from './connection.ts';
import { type Plan, type Searcher, searcherOn } from './searcher.ts';

export interface ReaderOptions {
  readonly dataDir: string;
}

/** To the thread: begin a search, count what one finds, ask for a search's next page, give it up, or the end. */
export type ReaderRequest =
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly appCode: string;
      readonly version: number;
      readonly search: Search;
      readonly maxRecords: number;
    }
  | {
      readonly kind: 'count';
      readonly id: number;
      readonly appCode: string;
      readonly version: number;
      readonly search: Search;
    }
  | { readonly kind: 'next'; readonly id: number }
  | { readonly kind: 'drop'; readonly id: number }
  | { readonly kind: 'close' };

/** From the thread: a page (`answers` as searcher.ts has them), the last one with `next`; or why there is none. */
export type ReaderReply =
  | {
      readonly kind: 'page';
      readonly id: number;
      readonly answers: Uint8Array | null;
      readonly last: boolean;
      readonly next: string | null;
    }
  | { readonly kind: 'counted'; readonly id: number; readonly count: number }
  | { readonly kind: 'stale' | 'unknown_after' | 'too_many'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly error: unknown; readonly unavailable: boolean };

/** Records in a page: large enough to be fast, small enough for flat memory and for others to come in between. */
const PAGE = 256;

interface Reading {
  readonly db: Connection;
  readonly searcher: Searcher;
  plan: Plan;
  after: number;
  left: number;
}

const port = parentPort;
if (port === null) throw new Error('reader-thread.ts runs as a worker thread');
const { dataDir } = workerData as ReaderOptions;
const readings = new Map<number, Reading>();
const idle: Connection[] = [];

port.on('message', (request: ReaderRequest) => {
  if (request.kind === 'close') {
    for (const { db } of readings.values()) db.close();
    for (const db of idle) db.close();
    port.close();
  } else if (request.kind === 'drop') finish(request.id);
  else {
    try {
      port.postMessage(answer(request));
    } catch (error) {
      finish(request.id);
      port.postMessage({
        kind: 'failed',
        id: request.id,
        error,
        unavailable: isUnavailable(error),
      } satisfies ReaderReply);
    }
  }
});

function answer(request: Exclude<ReaderRequest, { kind: 'close' | 'drop' }>): ReaderReply {
  switch (request.kind) {
    case 'open':
      return open(request);
    case 'count':
      return count(request);
    case 'next':
      return next(request.id);
  }
}

/** A read transaction, for as long as the request is read for; null where its definition is another by now. */
function begin({ id, appCode, version }: Pick<ReaderRequest & { kind: 'count' }, 'id' | 'appCode' | 'version'>) {
  const db = idle.pop() ?? connect(dataDir, { readonly: true, cacheMiB: 8 });
  db.exec('begin');
  const searcher = searcherOn(db);
  readings.set(id, { db, searcher, plan: null as unknown as Plan, after: 0, left: 0 });
  const registered = catalogReader(db).current().apps.get(appCode);
  if (registered?.version === version) {
    return { db, searcher, layout: layoutOf(registered.app, registered.id, registered.generation) };
  }
  finish(id);
  return null;
}

function count(request: ReaderRequest & { kind: 'count' }): ReaderReply {
  const { id, search } = request;
  const begun = begin(request);
  if (begun === null) return { kind: 'stale', id };
  const { searcher, layout } = begun;
  const found = searcher.count(searcher.plan(layout, search), { after: 0, limit: Number.MAX_SAFE_INTEGER });
  finish(id);
  return { kind: 'counted', id, count: found };
}

function open(request: ReaderRequest & { kind: 'open' }): ReaderReply {
  const { id, search, maxRecords } = request;
  const begun = begin(request);
  if (begun === null) return { kind: 'stale', id };
  const { db, searcher, layout } = begun;
  const after = search.after === null ? 0 : searcher.placeOf(layout, search.after);
  if (after === null) {
    finish(id);
    return { kind: 'unknown_after', id };
  }
  const plan = searcher.keep(searcher.plan(layout, search));
  const tooMany =
    maxRecords > 0 && search.limit === null && searcher.count(plan, { after, limit: maxRecords + 1 }) > maxRecords;
  if (tooMany) {
    finish(id);
    return { kind: 'too_many', id };
  }
  readings.set(id, { db, searcher, plan, after, left: search.limit ?? Number.POSITIVE_INFINITY });
  return next(id);
}

function next(id: number): ReaderReply {
  const reading = readings.get(id) as Reading;
  const { searcher, plan } = reading;
  const page = searcher.page(plan, { after: reading.after, limit: Math.min(PAGE, reading.left) });
  reading.left -= page.count;
  if (page.count > 0) reading.after = page.last;
  const full = page.count === PAGE && reading.left > 0;
  let following: string | null = null;
  if (!full) {
    const more = plan.search.limit !== null && page.count > 0 && reading.left === 0 && follows(reading);
    if (more) following = searcher.primaryKeyAt(plan.layout, reading.after);
    finish(id);
  }
  return { kind: 'page', id, answers: page.answers, last: !full, next: following };
}

function follows({ searcher, plan, after }: Reading): boolean {
  return searcher.count(plan, { after, limit: 1 }) > 0;
}

function finish(id: number): void {
  const reading = readings.get(id);
  if (reading === undefined) return;
  readings.delete(id);
  if (reading.db.inTransaction) reading.db.exec('rollback');
  if (idle.length < 2) idle.push(reading.db);
  else reading.db.close();
}
