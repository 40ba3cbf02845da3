// The store on SQLite: short searches at once on this thread, long ones in the reader thread, updates in the writer thread.
import type { Worker } from 'node:worker_threads';
import type { Search } from '../../search/condition.ts';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { now } from '../clock.ts';
import { closed } from '../records-text.ts';
import { type AppKey, type Found, type RegisteredApp, type Store, Unavailable } from '../store.ts';
import { startThread } from '../thread.ts';
import { following, jobsOf } from '../together.ts';
import { dropLeftBulks } from './build.ts';
import { BULK_OWNER, Filler } from './bulk-client.ts';
import { catalogReader } from './catalog.ts';
import { connect, isUnavailable } from './connection.ts';
import { fileTable } from './files.ts';
import { isEmpty } from './load.ts';
import { ReaderThread } from './reader-client.ts';
import { type RecordTable, recordTable, wholeRecord } from './record-table.ts';
import { openSchema } from './schema.ts';
import { type Plan, searcherOn } from './searcher.ts';
import { WriterThread } from './writer-client.ts';

/** Longest answer, in records, that is read on this thread. */
const SHORT = 200;
/** A search that may have to look at more rows than this before its first page goes to the reader thread. */
const MUCH_WORK = 4_000;
/** A search by more keywords than this goes there too: the pair index takes long to walk so many lists. */
const MANY_KEYWORDS = 64;
/** Milliseconds between two notes of the uses of keys. */
const NOTE_KEYS_AFTER = 30_000;

function keywords({ conditions }: Search): number {
  const groups = [conditions.form, ...conditions.tables.map((table) => table.conditions)];
  return groups.flat().reduce((sum, condition) => sum + ('anyOf' in condition ? condition.anyOf.length : 1), 0);
}

export interface SqliteStoreOptions {
  readonly dataDir: string;
  /** MiB of page cache for short searches. */
  readonly cacheMiB: number;
}

/** Opens the store in a data folder that exists. */
export function openSqliteStore({ dataDir, cacheMiB }: SqliteStoreOptions): Store {
  const setUp = connect(dataDir);
  openSchema(setUp);
  dropLeftBulks(setUp, BULK_OWNER);
  setUp.close();
  const db = connect(dataDir, { readonly: true, cacheMiB });
  const catalog = catalogReader(db);
  const searcher = searcherOn(db);
  const files = fileTable(db);
  const writer = new WriterThread(dataDir);
  const filler = new Filler(dataDir);
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

  /** Reads records; their tables may be gone since. */
  const read = <T>(app: RegisteredApp, work: (table: RecordTable) => T): T | 'stale' =>
    guard(() => {
      try {
        // Of one moment, however many statements it takes.
        return db.transaction(() => work(recordTable(db, layoutFor(app))))();
      } catch (error) {
        if (catalog.current().apps.get(app.app.code) !== app) return 'stale';
        throw error;
      }
    });

  const readerThread = (): ReaderThread => {
    if (!reader?.isOpen) reader = new ReaderThread(dataDir);
    return reader;
  };

  const searchHere = (app: RegisteredApp, search: Search, maxRecords: number): Found | null => {
    if ((search.limit ?? 0) > SHORT || keywords(search) > MANY_KEYWORDS) return null;
    const layout = layoutFor(app);
    const after = search.after === null ? 0 : searcher.placeOf(layout, search.after);
    if (after === null) return { kind: 'unknown_after' };
    const wanted = { after, limit: search.limit ?? SHORT + 1 };
    let page = searcher.pageOfSingle(layout, search, wanted);
    let plan: Plan | null = null;
    if (page === null) {
      plan = searcher.plan(layout, search);
      if (plan.work > MUCH_WORK) return null;
      page = searcher.page(plan, wanted);
    }
    if (page.answers === null) return { kind: 'none' };
    if (search.limit === null) {
      if (maxRecords > 0 && page.count > maxRecords) return { kind: 'too_many' };
      return page.count > SHORT ? null : { kind: 'page', records: closed(page.answers), next: null };
    }
    const rest = { after: page.last, limit: 1 };
    const more = page.count === search.limit && searcher.count(plan ?? searcher.plan(layout, search), rest) > 0;
    const next = more ? searcher.primaryKeyAt(layout, page.last) : null;
    return { kind: 'page', records: closed(page.answers), next };
  };

  return {
    catalog: () => guard(() => catalog.current()),
    // It looks at the database each time.
    renewed: async () => false,
    search(app, search, maxRecords) {
      const found = guard(() => {
        try {
          return searchHere(app, search, maxRecords);
        } catch (error) {
          // Its tables may be gone since.
          if (catalog.current().apps.get(app.app.code) !== app) return { kind: 'stale' } as const;
          throw error;
        }
      });
      if (found !== null) return found;
      return readerThread().search(app, search, maxRecords);
    },
    files: async (app, ids) => guard(() => files.find(app.id, ids)),
    update: (app, change, userId) => writer.update({ appCode: app.app.code, version: app.version, change, userId }),
    edit: (app, edit, userId) => writer.edit({ appCode: app.app.code, version: app.version, edit, userId }),
    async editTogether(app, userId, edits) {
      const follow = following(edits);
      const jobs = jobsOf(app, userId, edits, follow.isStale);
      const fills = edits.areMany && guard(() => isEmpty(db, app));
      if (
        !fills ||
        !(await filler.fill({ appCode: app.app.code, version: app.version, userId, onlyKey: true }, jobs, follow))
      )
        await writer.together(jobs, follow);
      return follow.isStale() ? 'stale' : 'done';
    },
    record: async (app, primaryKey) => read(app, (table) => wholeRecord(table, table.find(primaryKey))),
    history: async (app, primaryKey) =>
      read(app, (table) => {
        const live = wholeRecord(table, table.find(primaryKey));
        const place = live?.seq ?? table.deletedPlace(primaryKey);
        return place === null ? null : { live, versions: table.versions(place) };
      }),
    async count(app, search) {
      const few = read(app, () => {
        const plan = searcher.plan(layoutFor(app), search);
        return plan.work > MUCH_WORK ? null : searcher.count(plan, { after: 0, limit: MUCH_WORK + 1 });
      });
      return few === 'stale' || (few !== null && few <= MUCH_WORK) ? few : readerThread().count(app, search);
    },
    keyUsed(key: AppKey) {
      used.set(key.id, Date.now());
    },
    resume: () =>
      new Promise((resolve, reject) => {
        resuming = startThread(import.meta.url, 'resume-thread', { dataDir, owner: BULK_OWNER });
        resuming.once('error', reject).once('exit', () => resolve());
      }),
    async close() {
      isClosed = true;
      clearInterval(timer);
      await resuming?.terminate();
      noteUses();
      await Promise.all([writer.close(), reader?.close(), filler.close()]);
      db.close();
    },
  };
}
