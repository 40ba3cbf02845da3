// The store on PostgreSQL: short searches in one statement, long ones through a cursor, updates together.
import type { Worker } from 'node:worker_threads';
import type { Search } from '../../search/condition.ts';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { CATALOG_VERSION } from '../../sql/search.ts';
import { now } from '../clock.ts';
import { closed } from '../records-text.ts';
import { type Found, type RegisteredApp, type Store, Unavailable } from '../store.ts';
import { startThread } from '../thread.ts';
import {
  arrayText,
  type Connection,
  guarded,
  isGone,
  isLost,
  isTooLong,
  isUnavailable,
  openPool,
  type Place,
  type Pool,
  rowsOf,
  run,
} from './connection.ts';
import { readWhole } from './edit.ts';
import { openEditing } from './editing.ts';
import { findFiles } from './files.ts';
import { liveCatalog } from './live-catalog.ts';
import { longAnswer } from './long-answer.ts';
import { type RecordTable, recordTable } from './record-table.ts';
import { watchReplicas } from './replicas.ts';
import { openSchema } from './schema.ts';
import { countRecords, makePlan, placeOf, readPage } from './searcher.ts';
import { tokenFrequencies } from './token-frequencies.ts';
import { openWriter } from './writer.ts';

/** Longest answer, in records, that is read by one statement. */
const SHORT = 200;
/** A search that may have to look at more rows than this before its first page is read through a cursor. */
const MUCH_WORK = 4_000;
/** A bound for counting that no register reaches. */
const MOST = 2_000_000_000;
/** Milliseconds between two notes of the uses of keys. */
const NOTE_KEYS_AFTER = 30_000;
/** Milliseconds between two looks for work that another process left unfinished. */
const RESUME_EVERY = 10_000;
/** Whether there is such work. A load goes on only where its source is at hand. */
const UNFINISHED = `exists (select from builds where kind <> 'import') or exists (select from renames where app_id not in (select app_id from builds)) or exists (select from dropped)`;

export interface PostgresStoreOptions extends Place {
  /** Replicas that may answer searches. */
  readonly readUrls: readonly string[];
  /** Connections for searches, for short ones and as many for long ones. */
  readonly connections: number;
  /** Milliseconds after which a search is given up. */
  readonly timeout: number;
}

/** Opens the store in a database; makes the schema where there is none. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema, readUrls, connections, timeout } = options;
  const place = { url, schema };
  const pool = openPool(place, { max: 8, timeout });
  const short = openPool(place, { max: connections, timeout, forSearches: true });
  const long = openPool(place, { max: connections, timeout, forSearches: true });
  // Answers that are still being read end here; whoever takes the next page hears of it.
  const endAll = () => Promise.all([pool, short, long].map((each) => each.end({ timeout: 0 })));
  const opened = await guarded('read', async () => {
    try {
      await openSchema(pool, options);
      const catalog = await liveCatalog(place, pool);
      return { catalog, replicas: await watchReplicas(place, pool, { urls: readUrls, connections, timeout }) };
    } catch (error) {
      await endAll();
      throw error;
    }
  });
  const { catalog, replicas } = opened;
  const frequencies = tokenFrequencies(pool);
  const writer = openWriter(place, pool, catalog, replicas);
  const editing = openEditing(place, pool, catalog, replicas);
  const layouts = new WeakMap<RegisteredApp, Layout>();
  const used = new Map<number, number>();
  let isClosed = false;
  let resuming: Worker | null = null;
  let resumer: NodeJS.Timeout | undefined;

  const noteUses = async (): Promise<void> => {
    if (used.size === 0) return;
    const uses = [...used].map(([id, at]) => [id, now(new Date(at))] as const);
    used.clear();
    await run(
      pool,
      `update keys set last_used_at = greatest(last_used_at, v.at) from unnest($1::int[], $2::text[]) v (id, at) where keys.id = v.id`,
      [arrayText(uses.map(([id]) => id)), arrayText(uses.map(([, at]) => at))],
    );
  };
  // When a key was last used is not worth an error.
  const noting = setInterval(() => void noteUses().catch(() => {}), NOTE_KEYS_AFTER);
  noting.unref();

  const layoutFor = (app: RegisteredApp): Layout => {
    let layout = layouts.get(app);
    if (layout === undefined) {
      layout = layoutOf(app.app, app.id, app.generation, app.distributed);
      layouts.set(app, layout);
    }
    return layout;
  };

  /** `version` is that of the catalog that the search was judged by. */
  const searchOn = async (
    { short: few, long: many }: { readonly short: Pool; readonly long: Pool },
    layout: Layout,
    search: Search,
    maxRecords: number,
    version: string,
  ): Promise<Found> => {
    const readLong = () => longAnswer(many, frequencies, { layout, search, maxRecords, version });
    if ((search.limit ?? 0) > SHORT) return readLong();
    const after = search.after === null ? 0 : await placeOf(few, layout, search.after);
    if (after === null) return (await catalog.renewed({ version })) ? { kind: 'stale' } : { kind: 'unknown_after' };
    const plan = await makePlan(few, frequencies, layout, search);
    if (plan.work > MUCH_WORK) return readLong();
    const page = await readPage(few, plan, after, search.limit ?? SHORT);
    if (page.version !== version) return { kind: 'stale' };
    if (page.answers === null) return { kind: 'none' };
    if (search.limit === null) {
      if (page.count > SHORT) return readLong();
      if (maxRecords > 0 && page.count > maxRecords) return { kind: 'too_many' };
    }
    return { kind: 'page', records: closed(page.answers), next: search.limit === null ? null : page.key };
  };

  /** A search changes nothing: what was lost with its connection is asked for once more. */
  const searchSafely = async (pools: { short: Pool; long: Pool }, ...rest: SearchArguments): Promise<Found> => {
    try {
      return await searchOn(pools, ...rest);
    } catch (error) {
      // Tables are gone where others took their place; gone otherwise, they would be missed for ever.
      if (isGone(error) && (await catalog.renewed({ version: rest[3] }))) return { kind: 'stale' };
      if (!isLost(error)) throw error;
      return searchOn(pools, ...rest);
    }
  };
  type SearchArguments = [Layout, Search, number, string];

  /** Takes up unfinished work in a thread, where there is any. */
  const resumeNow = async (): Promise<void> => {
    const [row] = await rowsOf<[boolean]>(pool, `select ${UNFINISHED}`);
    if (row?.[0] !== true || isClosed) return;
    await new Promise<void>((resolve, reject) => {
      resuming = startThread(import.meta.url, 'resume-thread', place);
      resuming.once('error', reject).once('exit', () => resolve());
    }).finally(() => {
      resuming = null;
    });
  };

  /** Reads of one moment, in which the catalog is still that which the request was judged by. */
  const readRecords = <T>(app: RegisteredApp, work: (on: Connection, table: RecordTable) => Promise<T>) =>
    guarded('read', async (): Promise<T | 'stale'> => {
      const seen = catalog.current();
      if (seen.apps.get(app.app.code) !== app) return 'stale';
      try {
        return await long.begin('isolation level repeatable read read only', async (tx) => {
          const [version] = await rowsOf<[string]>(tx, `select ${CATALOG_VERSION}`);
          if (version?.[0] === seen.version) return work(tx, recordTable(layoutFor(app)));
          await catalog.renewed(seen);
          return 'stale';
        });
      } catch (error) {
        if (isGone(error) && (await catalog.renewed(seen))) return 'stale';
        throw error;
      }
    });

  const store: Store = {
    catalog() {
      if (isClosed) throw new Unavailable('the database is closed');
      return catalog.current();
    },
    renewed: (seen) => catalog.renewed(seen as { version: string } & typeof seen),
    search: (app, search, maxRecords, userId) =>
      guarded('read', async () => {
        if (isClosed) throw new Unavailable('the database is closed');
        const current = catalog.current();
        if (current.apps.get(app.app.code) !== app) return { kind: 'stale' };
        const layout = layoutFor(app);
        const rest: SearchArguments = [layout, search, maxRecords, current.version];
        const replica = await replicas.forUser(userId);
        if (replica !== null) {
          const found = await searchOn(replica, ...rest).catch((error) => {
            if (isTooLong(error) || !(isUnavailable(error) || isGone(error))) throw error;
            return { kind: 'stale' } as const;
          });
          // A replica whose catalog is another, or that lacks a record that was found before, is behind.
          if (found.kind !== 'stale' && found.kind !== 'unknown_after') return found;
        }
        const found = await searchSafely({ short, long }, ...rest);
        if (found.kind === 'stale') await catalog.renewed(current);
        return found;
      }),
    files: (app, ids) =>
      guarded('read', async () => {
        const seen = catalog.current();
        if (ids.length === 0) return new Map();
        const [found, isOld] = await Promise.all([findFiles(pool, app.id, ids), catalog.renewed(seen)]);
        if (isOld || seen.apps.get(app.app.code) !== app) return 'stale';
        return new Map(found.map((file) => [file.id, file]));
      }),
    update: (app, change, userId) => writer.update({ appCode: app.app.code, version: app.version, change, userId }),
    edit: (app, edit, userId) => editing.edit({ appCode: app.app.code, version: app.version, edit, userId }),
    editTogether: (app, userId, edits) => editing.together(app, userId, edits),
    record: (app, primaryKey) => readRecords(app, (on, table) => readWhole(on, table, primaryKey)),
    history: (app, primaryKey) =>
      readRecords(app, async (on, table) => {
        const live = await readWhole(on, table, primaryKey);
        const place = live?.seq ?? (await table.deletedPlace(on, primaryKey));
        return place === null ? null : { live, versions: await table.versions(on, place) };
      }),
    count: (app, search) =>
      readRecords(app, async (on, { layout }) =>
        countRecords(on, await makePlan(on, frequencies, layout, search), 0, MOST),
      ),
    keyUsed(key) {
      used.set(key.id, Date.now());
    },
    async resume() {
      resumer = setInterval(() => {
        // What fails here is tried again the next time.
        if (resuming === null) void resumeNow().catch(() => {});
      }, RESUME_EVERY);
      resumer.unref();
      await resumeNow();
    },
    async close() {
      isClosed = true;
      clearInterval(noting);
      clearInterval(resumer);
      await resuming?.terminate();
      await writer.close();
      await editing.close();
      await noteUses().catch(() => {});
      await catalog.close();
      await replicas.close();
      await endAll();
    },
  };
  return store;
}
