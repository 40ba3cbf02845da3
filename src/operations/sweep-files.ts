// Removes what no record has: files that nothing names any more, contents without a file, and what interrupted uploads left (D28, P18).
import { type FileStore, type KeptContent, SMALL } from '../files/file-store.ts';
import { now } from '../store/clock.ts';
import { ADOPTED_WITHIN } from '../store/files.ts';
import type { Register } from '../store/register.ts';

/** Milliseconds that something must have been of no use before a sweep takes it, unless asked otherwise. */
export const USELESS_FOR = 2 * 60 * 60_000;
/** The least that can be asked for: what a request may still be sending, or an update be about to adopt, is younger. */
export const LEAST_USELESS_FOR = 60 * 60_000 + ADOPTED_WITHIN;

export interface SweepReport {
  /** Versions of records that were older than the history is kept. */
  readonly versions: number;
  /** Files that no record and no version in the history named. */
  readonly files: number;
  /** Contents, and thumbnails, that no file had. */
  readonly contents: number;
  /** Bytes of these. */
  readonly bytes: number;
  /** What had not arrived whole, or was not taken over. */
  readonly received: number;
}

/** Files, and contents, asked about at a time. */
const BATCH = 500;
const CONTENTS = 50;
/**
 * Contents removed at a time, while no file can be added and, on SQLite, nothing be written: as many as a bucket is asked to remove at once,
 * so that whoever waits does so for about one request.
 */
const REMOVED_AT_ONCE = 8;
/** Milliseconds for which the age of a content counts that was looked at; after that it may have begun anew. */
const SEEN_FOR = 1_000;

/** Sweeps the history, kept for so many days (0 for ever), and files that have been of no use for so many milliseconds. Updates go on meanwhile. */
export async function sweep(
  register: Register,
  store: FileStore,
  { historyDays, uselessFor = USELESS_FOR }: { readonly historyDays: number; readonly uselessFor?: number },
): Promise<SweepReport> {
  let versions = 0;
  if (historyDays > 0) {
    const before = now(new Date(Date.now() - historyDays * DAY));
    for (const code of register.catalog().apps.keys()) versions += await register.forgetVersions(code, before);
  }
  return { versions, ...(await sweepFiles(register, store, uselessFor)) };
}

const DAY = 24 * 60 * 60_000;

/** Sweeps files alone. */
export async function sweepFiles(
  register: Register,
  store: FileStore,
  uselessFor = USELESS_FOR,
): Promise<Omit<SweepReport, 'versions'>> {
  const received = await store.removeReceived(uselessFor);
  const unusedSince = Date.now() - uselessFor;
  let files = 0;
  for (const code of register.catalog().apps.keys()) files += await forgetUnnamed(register, code, unusedSince);
  return { files, ...(await removeUnused(register, store, uselessFor)), received };
}

async function forgetUnnamed(register: Register, code: string, unusedSince: number): Promise<number> {
  // The records of a load that is under way name files and cannot be seen yet.
  if (await register.isBuilding(code)) return 0;
  const unnamed = await unnamedFiles(register, code);
  let forgotten = 0;
  for (let at = 0; at < unnamed.length; at += BATCH) {
    forgotten += await register.forgetFiles(code, unnamed.slice(at, at + BATCH), unusedSince);
  }
  return forgotten;
}

/** IDs of the files of an app that nothing in it names. */
export async function unnamedFiles(register: Register, code: string): Promise<readonly string[]> {
  const unnamed = new Set<string>();
  for (let after = ''; ; ) {
    const files = await register.files(code, after, BATCH);
    for (const { id } of files) unnamed.add(id);
    if (files.length < BATCH) break;
    after = files.at(-1)?.id ?? '';
  }
  if (unnamed.size === 0) return [];
  for await (const references of register.fileReferences(code)) {
    for (const { fileId } of references) unnamed.delete(fileId);
  }
  return [...unnamed];
}

async function removeUnused(
  register: Register,
  store: FileStore,
  uselessFor: number,
): Promise<Pick<SweepReport, 'contents' | 'bytes'>> {
  let contents = 0;
  let bytes = 0;
  for await (const kept of store.list()) {
    const old = kept.filter(({ age }) => age >= uselessFor);
    for (let at = 0; at < old.length; at += CONTENTS) {
      const unused = await unusedOf(
        register,
        old.slice(at, at + CONTENTS).map(({ name }) => name),
      );
      for (let next = 0; next < unused.length; next += REMOVED_AT_ONCE) {
        const removed = await removeUseless(register, store, unused.slice(next, next + REMOVED_AT_ONCE), uselessFor);
        contents += removed.length;
        bytes += removed.reduce((sum, { size }) => sum + size, 0);
      }
    }
  }
  return { contents, bytes };
}

/** Those of the contents that no file has now. */
async function unusedOf(register: Register, names: readonly string[]): Promise<readonly string[]> {
  let unused: readonly string[] = [];
  await register.whileUnused(digestsOf(names), async (digests) => {
    unused = names.filter((name) => digests.includes(digestOf(name)));
  });
  return unused;
}

/** Removes those of the contents that are of no use still; gives them. */
async function removeUseless(
  register: Register,
  store: FileStore,
  names: readonly string[],
  uselessFor: number,
): Promise<readonly KeptContent[]> {
  // The age of one may have begun anew since it was listed.
  const look = async () => {
    const found = await Promise.all(names.map((name) => store.find(name)));
    return found.filter((content) => content !== null && content.age >= uselessFor) as KeptContent[];
  };
  const seen = await look();
  const seenAt = performance.now();
  let removed: readonly KeptContent[] = [];
  if (seen.length === 0) return removed;
  await register.whileUnused(digestsOf(seen.map(({ name }) => name)), async (digests) => {
    // Whoever adds files may have been at it for long.
    const useless = performance.now() - seenAt < SEEN_FOR ? seen : await look();
    removed = useless.filter(({ name }) => digests.includes(digestOf(name)));
    await store.remove(removed.map(({ name }) => name));
  });
  return removed;
}

const digestsOf = (names: readonly string[]) => [...new Set(names.map(digestOf))];

function digestOf(name: string): string {
  return name.endsWith(SMALL) ? name.slice(0, -SMALL.length) : name;
}
