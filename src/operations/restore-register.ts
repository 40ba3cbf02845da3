// Makes a register of a backup, where there is none; or only reads the backup, to see that it is whole (P23).
import { createHash } from 'node:crypto';
import type { FileStore, Received, Receiver } from '../files/file-store.ts';
import type { Move, MovedCatalog, MoveTarget } from '../store/move.ts';
import type { Progress } from '../store/register.ts';
import { type BackupCatalog, LIST_BATCH, sumOf } from './backup-format.ts';
import { type BackupTaker, changedContent, type ReadBackup, readBackup } from './read-backup.ts';

export interface RestoreOptions {
  /** The file of the backup, for people. */
  readonly from: string;
  /** Where the contents of the files go. */
  readonly files: FileStore;
  /** Work of another kind begins; what follows is counted from 0. */
  readonly begin: (what: string, unit: string) => void;
  readonly progress: Progress;
}

export interface RestoreReport extends ReadBackup {
  readonly seconds: number;
}

/** Contents being put into the file store at a time. */
const AT_ONCE = 8;

/**
 * Restores a register. It can be opened only when all of the backup has been read and found right; one that was interrupted begins
 * again, with the same backup.
 */
export async function restoreRegister(
  bytes: AsyncIterable<Uint8Array>,
  openTarget: (move: Move) => Promise<MoveTarget>,
  { from, files, begin, progress }: RestoreOptions,
): Promise<RestoreReport> {
  const started = performance.now();
  const keeping = atMost(AT_ONCE);
  let target: MoveTarget | null = null;
  let catalog: MovedCatalog | null = null;
  let writing: Promise<void> = Promise.resolve();
  const opened = () => target as MoveTarget;
  const counter = itemCounter(begin, progress);
  const taker: BackupTaker = {
    async begin({ id }) {
      target = await openTarget({ fingerprint: id, from });
      begin('restoring files', 'files');
    },
    async content(digest, content) {
      const receiver = await receive(files, content);
      await keeping.begin(() => keep(files, receiver, digest));
      counter.content();
    },
    async catalog(archived, sources) {
      await keeping.end();
      catalog = catalogOf(archived, sources);
      // What an interrupted restore has left goes, also where it is the same.
      await opened().putCatalog({ ...catalog, users: [], apps: [] });
      await opened().putCatalog(catalog);
      counter.begin(archived);
    },
    async items({ put }, { id }, items) {
      for (let at = 0; at < items.length; at += LIST_BATCH) {
        await writing;
        const some = items.slice(at, at + LIST_BATCH);
        writing = put(opened(), id, some);
        // Whoever waits for it next gets the error.
        writing.catch(() => {});
        counter.items(some.length);
      }
    },
  };
  try {
    const read = await readBackup(bytes, taker).finally(() => Promise.allSettled([writing, keeping.end()]));
    await writing;
    begin('indexing', 'apps');
    await opened().complete(progress);
    await compare(opened(), catalog as unknown as MovedCatalog, read);
    await opened().finish();
    return { ...read, seconds: Math.round(performance.now() - started) / 1000 };
  } finally {
    await (target as MoveTarget | null)?.close();
  }
}

/** Reads a backup and verifies all of it; nothing is written. */
export async function checkBackup(
  bytes: AsyncIterable<Uint8Array>,
  { begin, progress }: Pick<RestoreOptions, 'begin' | 'progress'>,
): Promise<RestoreReport> {
  const started = performance.now();
  const counter = itemCounter(begin, progress);
  const read = await readBackup(bytes, {
    async begin() {
      begin('checking files', 'files');
    },
    async content(digest, content) {
      const hash = createHash('sha256');
      for await (const piece of content) hash.update(piece);
      if (hash.digest('hex') !== digest) throw changedContent(digest);
      counter.content();
    },
    async catalog(archived) {
      counter.begin(archived);
    },
    async items(_list, _app, items) {
      counter.items(items.length);
    },
  });
  return { ...read, seconds: Math.round(performance.now() - started) / 1000 };
}

function catalogOf(archived: BackupCatalog, sources: ReadonlyMap<string, string>): MovedCatalog {
  const { at: _, apps, ...registerWide } = archived;
  return {
    ...registerWide,
    apps: apps.map(({ counts: _counts, ...app }) => {
      const source = sources.get(app.code);
      if (source === undefined) throw new Error(`the backup lacks the definition of ${app.code}`);
      return { ...app, source, webhooks: app.webhooks ?? [] };
    }),
  };
}

/** What was restored is what was in the backup. */
async function compare(target: MoveTarget, catalog: MovedCatalog, read: ReadBackup): Promise<void> {
  const restored = await target.catalog();
  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_, member: unknown) =>
      member !== null && typeof member === 'object' && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    );
  if (sorted(restored) !== sorted(catalog)) throw new Error('the restored catalog is another than that of the backup');
  const counts = [];
  for (const { id } of catalog.apps) counts.push(await target.count(id));
  const total = sumOf(counts);
  for (const [name, count] of Object.entries(total)) {
    const expected = read[name as keyof typeof total] ?? 0;
    if (count !== expected) throw new Error(`${count} ${name} were restored where the backup has ${expected}`);
  }
}

async function receive(files: FileStore, content: AsyncIterable<Buffer>): Promise<Receiver> {
  const receiver = await files.receive();
  try {
    for await (const piece of content) await receiver.write(piece);
    return receiver;
  } catch (error) {
    await receiver.abort();
    throw error;
  }
}

async function keep(files: FileStore, receiver: Receiver, digest: string): Promise<void> {
  const received: Received = await receiver.end();
  try {
    if (received.digest !== digest) throw changedContent(digest);
    await files.keep(received);
  } finally {
    await files.drop(received);
  }
}

/** Work of which only so much is under way; the first error comes with the next that is begun, or at the end. */
function atMost(limit: number) {
  const underWay = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  const check = () => {
    if (failure !== null) throw failure.error;
  };
  return {
    async begin(work: () => Promise<void>): Promise<void> {
      const running: Promise<void> = work().then(
        () => void underWay.delete(running),
        (error: unknown) => {
          underWay.delete(running);
          failure ??= { error };
        },
      );
      underWay.add(running);
      if (underWay.size >= limit) await Promise.race(underWay);
      check();
    },
    async end(): Promise<void> {
      await Promise.all(underWay);
      check();
    },
  };
}

function itemCounter(begin: RestoreOptions['begin'], progress: Progress) {
  let [done, total] = [0, 0];
  return {
    content: () => progress(++done, 0),
    begin({ apps }: BackupCatalog) {
      begin('reading', 'records, versions and files');
      done = 0;
      total = Object.values(sumOf(apps.map(({ counts }) => counts))).reduce((sum, count) => sum + count, 0);
    },
    items(count: number) {
      done += count;
      progress(done, total);
    },
  };
}
