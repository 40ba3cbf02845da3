// What lies in a backup: its entries, and the lists of each app (P23).
import type { MovedApp, MovedCatalog, MovedRecord, MovedVersion, MoveReader, MoveTarget } from '../store/move.ts';
import type { StoredFile } from '../store/store.ts';

/** Version of the format; a change that an older Daicho could misread makes it one more. */
export const BACKUP_FORMAT = 1;

/** Names of the entries, in their order; contents come behind the manifest, lists behind the catalog. */
export const ENTRY = {
  manifest: 'manifest.json',
  content: (digest: string) => `contents/${digest}`,
  definition: (code: string) => `apps/${code}/definition.yaml`,
  catalog: 'catalog.json',
  list: (code: string, list: string, part: number) => `apps/${code}/${list}-${String(part).padStart(5, '0')}.jsonl`,
  summary: 'summary.json',
  sums: 'SHA256SUMS',
} as const;

export interface Manifest {
  readonly format: number;
  /** Of this backup alone: by it an interrupted restore of it is known. */
  readonly id: string;
  /** Version of Daicho. */
  readonly daicho: string;
  /** Where the register was, for people. */
  readonly from: string;
  readonly begunAt: string;
}

/** How many items the lists of an app have. */
export type Counts = Awaited<ReturnType<MoveReader['count']>>;

/** An app; its definition as it was written is an entry of its own. */
export interface BackupApp extends Omit<MovedApp, 'source' | 'webhooks'> {
  /** Older backups have none. */
  readonly webhooks?: MovedApp['webhooks'];
  readonly counts: Counts;
}

export interface BackupCatalog extends Omit<MovedCatalog, 'apps'> {
  /** The moment that the backup shows. */
  readonly at: string;
  readonly apps: readonly BackupApp[];
}

/** What a backup holds in all. */
export interface Summary extends Counts {
  readonly apps: number;
  readonly contents: number;
  /** Bytes of the contents. */
  readonly contentBytes: number;
  /** Digests of contents that were not in the file store, or not as the register says. */
  readonly missing: readonly string[];
}

/** A list of an app: how it is read, and how it is put in again. */
export interface AppList {
  readonly name: keyof Counts;
  /** Its items in order, some at a time; what comes next is read meanwhile. */
  read(from: MoveReader, appId: number): AsyncGenerator<readonly unknown[]>;
  put(to: MoveTarget, appId: number, items: readonly unknown[]): Promise<void>;
}

/** Items read, and put in, at a time. */
export const LIST_BATCH = 1_000;

/** All lists, in the order in which they are put in. */
export const APP_LISTS: readonly AppList[] = [
  listOf<StoredFile, Pick<StoredFile, 'id'>>('files', {
    start: { id: '' },
    read: (from, ...which) => from.files(...which),
    put: (to, appId, files) => to.putFiles(appId, { remove: [], put: files }),
  }),
  listOf<MovedRecord, Pick<MovedRecord, 'place'>>('records', {
    start: { place: 0 },
    read: (from, ...which) => from.records(...which),
    put: (to, appId, records) => to.putRecords(appId, { remove: [], put: records }),
  }),
  listOf<MovedVersion, Pick<MovedVersion, 'place' | 'revision'>>('versions', {
    start: { place: 0, revision: 0 },
    read: (from, ...which) => from.versions(...which),
    put: (to, appId, versions) => to.putVersions(appId, { remove: [], put: versions }),
  }),
];

interface Access<Item, Key> {
  /** Stands before every item. */
  readonly start: Key;
  read(from: MoveReader, appId: number, after: Key, limit: number): Promise<readonly Item[]>;
  put(to: MoveTarget, appId: number, items: readonly Item[]): Promise<void>;
}

function listOf<Item extends Key, Key>(name: keyof Counts, { start, read, put }: Access<Item, Key>): AppList {
  return {
    name,
    async *read(from, appId) {
      for (let next: Promise<readonly Item[]> | null = read(from, appId, start, LIST_BATCH); next !== null; ) {
        const items: readonly Item[] = await next;
        next = items.length < LIST_BATCH ? null : read(from, appId, items.at(-1) as Item, LIST_BATCH);
        // Whoever waits for it gets the error.
        next?.catch(() => {});
        if (items.length > 0) yield items;
      }
    },
    put: (to, appId, items) => put(to, appId, items as readonly Item[]),
  };
}

/** The sum of the counts of all lists. */
export function sumOf(all: readonly Counts[]): Counts {
  const sums = APP_LISTS.map(({ name }) => [name, all.reduce((sum, counts) => sum + (counts[name] ?? 0), 0)]);
  return Object.fromEntries(sums) as Counts;
}
