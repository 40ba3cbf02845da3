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

/** Files asked about, or contents removed, at a time. */
const BATCH = 500;
/** Contents removed while no file can be added: few, so that nobody waits for long. */
const REMOVED_AT_ONCE = 50;

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
    for (let at = 0; at < old.length; at += REMOVED_AT_ONCE) {
      const names = old.slice(at, at + REMOVED_AT_ONCE).map(({ name }) => name);
      await register.whileUnused([...new Set(names.map(digestOf))], async (digests) => {
        const unused = names.filter((name) => digests.includes(digestOf(name)));
        // The age of one may have begun anew since it was listed.
        const found = await Promise.all(unused.map((name) => store.find(name)));
        const useless = found.filter((content) => content !== null && content.age >= uselessFor) as KeptContent[];
        await store.remove(useless.map(({ name }) => name));
        contents += useless.length;
        bytes += useless.reduce((sum, { size }) => sum + size, 0);
      });
    }
  }
  return { contents, bytes };
}

function digestOf(name: string): string {
  return name.endsWith(SMALL) ? name.slice(0, -SMALL.length) : name;
}
