// Reads a backup from its first byte to its last, verifies all of it, and hands on what is in it (P23).
import { createHash } from 'node:crypto';
import { Mistake } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import {
  APP_LISTS,
  type AppList,
  BACKUP_FORMAT,
  type BackupApp,
  type BackupCatalog,
  ENTRY,
  type Manifest,
  type Summary,
  sumOf,
} from './backup-format.ts';
import { readTar, type TarEntry } from './read-tar.ts';

/** Takes what is in a backup, in its order. What it has been given is as it was written, but counts only when all has been read. */
export interface BackupTaker {
  begin(manifest: Manifest): Promise<void>;
  /** Reads the bytes to their end; where their SHA-256 is another, it throws `changedContent`, now or later. */
  content(digest: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** `sources`: the definitions as they were written, by app code. */
  catalog(catalog: BackupCatalog, sources: ReadonlyMap<string, string>): Promise<void>;
  items(list: AppList, app: BackupApp, items: readonly unknown[]): Promise<void>;
}

export interface ReadBackup extends Summary {
  readonly manifest: Manifest;
  readonly at: string;
}

/** Bytes of an entry that is held in memory, at most: far more than is ever written, unless a record is that large. */
const MOST_IN_MEMORY = 1 << 29;

/** A content in a backup is not what its name says. */
export function changedContent(digest: string): Mistake {
  return new Mistake(`it was changed in ${ENTRY.content(digest)}`);
}

/** Reads a backup; throws a `Mistake` that says where it is cut off or was changed. */
export async function readBackup(bytes: AsyncIterable<Uint8Array>, taker: BackupTaker): Promise<ReadBackup> {
  let at = '';
  const sums: string[] = [];
  const contents = new Map<string, number>();
  const sources = new Map<string, string>();
  const found: { manifest: Manifest | null; catalog: BackupCatalog | null; summary: Summary | null; isWhole: boolean } =
    {
      ...{ manifest: null, catalog: null, summary: null, isWhole: false },
    };
  const lists = listsOf(taker, contents);
  try {
    for await (const entry of readTar(bytes)) {
      at = entry.name;
      if (found.isWhole) throw new Mistake(`something else follows its end: ${at}`);
      if (at === ENTRY.sums) {
        compareSums(sums, (await wholeOf(entry)).bytes.toString());
        found.isWhole = true;
        continue;
      }
      const digest = /^contents\/([0-9a-f]{64})$/.exec(at)?.[1];
      if (digest !== undefined && found.manifest !== null) {
        await taker.content(digest, entry.bytes);
        contents.set(digest, entry.size);
        continue;
      }
      const { bytes: whole, digest: sum } = await wholeOf(entry);
      sums.push(`${sum}  ${at}`);
      if (found.manifest === null) {
        found.manifest = readManifest(at, whole);
        await taker.begin(found.manifest);
      } else if (at.endsWith('/definition.yaml')) sources.set(at.split('/')[1] ?? '', whole.toString());
      else if (at === ENTRY.catalog) {
        found.catalog = JSON.parse(whole.toString()) as BackupCatalog;
        lists.begin(found.catalog);
        await taker.catalog(found.catalog, sources);
      } else if (at === ENTRY.summary) found.summary = JSON.parse(whole.toString()) as Summary;
      else await lists.take(at, whole);
    }
  } catch (error) {
    throw mistakeOf(error, at);
  }
  const { manifest, catalog, summary, isWhole } = found;
  if (manifest === null || catalog === null || summary === null || !isWhole) {
    throw new Mistake(`it is cut off behind ${at === '' ? 'its beginning' : at}`);
  }
  lists.end(summary);
  return { ...summary, manifest, at: catalog.at };
}

/** What the decompressor says, in the words of a backup. */
function mistakeOf(error: unknown, at: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const where = at === '' ? 'at its beginning' : `in or behind ${at}`;
  if (code?.startsWith('Z') === true || code?.startsWith('ERR_ZLIB') === true)
    return new Mistake(`it is cut off, or was changed, ${where}: ${message}`);
  return error;
}

function readManifest(name: string, bytes: Buffer): Manifest {
  if (name !== ENTRY.manifest) throw new Mistake(`it is not a backup of Daicho: it begins with ${name}`);
  const manifest = JSON.parse(bytes.toString()) as Manifest;
  if (manifest.format > BACKUP_FORMAT) {
    throw new Mistake(`it was made by a newer version of Daicho, ${manifest.daicho}; restore it with that version`);
  }
  return manifest;
}

/** The bytes of an entry that says its SHA-256. */
async function wholeOf({ name, size, comment, bytes }: TarEntry): Promise<{ bytes: Buffer; digest: string }> {
  if (comment === '' || size > MOST_IN_MEMORY)
    throw new Mistake(`it is not a backup of Daicho, or was changed, in ${name}`);
  const pieces: Buffer[] = [];
  for await (const piece of bytes) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  const digest = createHash('sha256').update(whole).digest('hex');
  if (digest !== comment) throw new Mistake(`it was changed in ${name}`);
  return { bytes: whole, digest };
}

function compareSums(sums: readonly string[], text: string): void {
  const written = text.split('\n').slice(0, -1);
  const at = sums.findIndex((sum, index) => sum !== written[index]);
  if (at >= 0) throw new Mistake(`it was changed in ${sums[at]?.slice(66)}`);
  if (text !== sums.map((sum) => `${sum}\n`).join('')) throw new Mistake(`it was changed in ${ENTRY.sums}`);
}

/** The lists of the apps: that their parts come in order, are complete, and that every file has its content. */
function listsOf(taker: BackupTaker, contents: ReadonlyMap<string, number>) {
  const apps = new Map<string, BackupApp>();
  const taken = new Map<string, number>();
  const absent = new Map<string, StoredFile>();
  let part = { of: '', number: 0 };
  return {
    begin(catalog: BackupCatalog): void {
      for (const app of catalog.apps) apps.set(app.code, app);
    },
    async take(name: string, bytes: Buffer): Promise<void> {
      const [, code = '', listName = '', number = ''] = /^apps\/([^/]+)\/(\w+)-(\d{5,})\.jsonl$/.exec(name) ?? [];
      const [app, list] = [apps.get(code), APP_LISTS.find((one) => one.name === listName)];
      const of = `${code}/${listName}`;
      const expected = part.of === of ? part.number + 1 : 1;
      if (app === undefined || list === undefined || Number(number) !== expected) {
        throw new Mistake(`it was changed: ${name} should not be there`);
      }
      part = { of, number: expected };
      const items = bytes
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown);
      if (list.name === 'files') {
        for (const file of items as StoredFile[]) {
          if (contents.get(file.digest) !== file.size) absent.set(file.digest, file);
        }
      }
      taken.set(of, (taken.get(of) ?? 0) + items.length);
      await taker.items(list, app, items);
    },
    end(summary: Summary): void {
      for (const { code, counts } of apps.values()) {
        for (const { name } of APP_LISTS) {
          const [count, expected] = [taken.get(`${code}/${name}`) ?? 0, counts[name] ?? 0];
          if (count !== expected) throw new Mistake(`it has ${count} of the ${expected} ${name} of ${code}`);
        }
      }
      for (const { digest, id, name } of absent.values()) {
        if (!summary.missing.includes(digest)) throw new Mistake(`it lacks the content of file ${id} (${name})`);
      }
      const total = sumOf([...apps.values()].map(({ counts }) => counts));
      if (APP_LISTS.some(({ name }) => total[name] !== (summary[name] ?? 0)) || summary.contents !== contents.size) {
        throw new Mistake(`it does not hold what ${ENTRY.summary} says`);
      }
    },
  };
}
