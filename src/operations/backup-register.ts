// Backs up a register: everything as of one moment, with the contents of its files, as the bytes of one archive (P23).
import { createHash, randomUUID } from 'node:crypto';
import type { FileStore } from '../files/file-store.ts';
import { type MovedApp, type MoveSource, unfinishedWork } from '../store/move.ts';
import { Mistake, type Progress } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import { type Contents, contentsOf, damaged } from './backup-contents.ts';
import {
  APP_LISTS,
  BACKUP_FORMAT,
  type BackupApp,
  type BackupCatalog,
  ENTRY,
  type Manifest,
  type Summary,
  sumOf,
} from './backup-format.ts';
import { TAR_END, tarFile } from './write-tar.ts';

export interface BackupOptions {
  readonly files: FileStore;
  /** Where the register is, for people. */
  readonly from: string;
  /** Version of Daicho. */
  readonly daicho: string;
  /** Contents that are not in the file store are left out and reported. */
  readonly allowMissing: boolean;
  /** Work of another kind begins; what follows is counted from 0. */
  readonly begin: (what: string, unit: string) => void;
  readonly progress: Progress;
}

export interface BackupReport extends Summary {
  /** The moment that the backup shows. */
  readonly at: string;
  readonly seconds: number;
  /** The files whose contents are missing. */
  readonly withoutContent: readonly { readonly app: string; readonly id: string; readonly name: string }[];
}

/** Bytes of a list in one entry: what is held in memory. */
const PART = 4 << 20;
/** Files looked at in one state of the data, before its moment. */
const FILES_AT_ONCE = 100;

/** The bytes of the archive; when they have been taken, the report. The source may be changed meanwhile. */
export async function* backupRegister(
  source: MoveSource,
  options: BackupOptions,
): AsyncGenerator<Uint8Array, BackupReport> {
  const { files: store, from, daicho, allowMissing, begin } = options;
  const started = performance.now();
  const begun = new Date();
  const archive = archiveOf(begun);
  const manifest: Manifest = {
    ...{ format: BACKUP_FORMAT, id: randomUUID(), daicho, from, begunAt: begun.toISOString() },
  };
  yield archive.entry(ENTRY.manifest, jsonOf(manifest));

  const contents = contentsOf({ store, modified: begun, leaveOut: allowMissing });
  yield* contentsBefore(source, contents, options);

  // From here on everything is of one moment.
  await source.look();
  const unfinished = await source.unfinished();
  const at = new Date().toISOString();
  const { apps, ...registerWide } = await source.catalog();
  // Read, the tables of the moment's generations stay until the end, also where a definition is changed meanwhile.
  for (const { id } of apps) await source.records(id, { place: 0 }, 1);
  const archived: BackupApp[] = [];
  for (const app of apps) archived.push(await archivedApp(source, app, unfinished));
  const total = sumOf(archived.map(({ counts }) => counts));

  const withoutContent: BackupReport['withoutContent'][number][] = [];
  const missing = new Set<string>();
  for (const { id, code } of apps) {
    for (let after = { id: '' }, some: readonly StoredFile[] | null = null; some?.length !== 0; ) {
      some = await source.files(id, after, FILES_AT_ONCE);
      yield* contents.add(some);
      for (const file of some.filter(({ digest }) => !contents.digests.has(digest))) {
        if (!allowMissing) throw new Mistake(`${code}: ${damaged(file, store)}`);
        missing.add(file.digest);
        withoutContent.push({ app: code, id: file.id, name: file.name });
      }
      after = some.at(-1) ?? after;
    }
  }

  for (const { code, source: text } of apps) yield archive.entry(ENTRY.definition(code), Buffer.from(text));
  const catalog: BackupCatalog = { at, ...registerWide, apps: archived };
  yield archive.entry(ENTRY.catalog, jsonOf(catalog));

  begin('backing up', 'records and versions');
  let done = 0;
  const units = total.records + total.versions;
  for (const { id, code, counts } of archived) {
    for (const { name, read } of APP_LISTS) {
      let [part, count, bytes] = [0, 0, 0];
      let lines: Buffer[] = [];
      const entry = () => {
        const whole = Buffer.concat(lines);
        [lines, bytes] = [[], 0];
        return archive.entry(ENTRY.list(code, name, ++part), whole);
      };
      for await (const items of read(source, id)) {
        const text = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
        lines.push(text);
        bytes += text.length;
        count += items.length;
        if (name !== 'files') done += items.length;
        options.progress(done, units);
        if (bytes >= PART) yield entry();
      }
      if (bytes > 0) yield entry();
      if (count !== counts[name])
        throw new Error(`${code}: ${count} ${name} were read where there are ${counts[name]}`);
    }
  }

  const summary: Summary = {
    ...{ apps: apps.length, ...total, contents: contents.digests.size, contentBytes: contents.bytes() },
    missing: [...missing],
  };
  yield archive.entry(ENTRY.summary, jsonOf(summary));
  yield archive.entry(ENTRY.sums, Buffer.from(archive.sums()));
  yield TAR_END;
  return { at, ...summary, seconds: Math.round(performance.now() - started) / 1000, withoutContent };
}

/**
 * The contents that there are now, read before the moment: a long time, in which the database need not keep a state of the data. A
 * content that goes meanwhile is none of the moment's.
 */
async function* contentsBefore(
  source: MoveSource,
  contents: Contents,
  { begin, progress }: BackupOptions,
): AsyncGenerator<Uint8Array> {
  await source.look();
  const { apps } = await source.catalog();
  let total = 0;
  for (const { id } of apps) total += (await source.count(id)).files;
  if (total === 0) return;
  begin('backing up files', 'files');
  let done = 0;
  for (const { id } of apps) {
    for (let after = { id: '' }; ; ) {
      await source.look();
      const some = await source.files(id, after, FILES_AT_ONCE);
      yield* contents.add(some);
      done += some.length;
      progress(done, total);
      if (some.length < FILES_AT_ONCE) break;
      after = some.at(-1) as StoredFile;
    }
  }
}

async function archivedApp(
  from: MoveSource,
  { source: _, ...app }: MovedApp,
  unfinished: readonly string[],
): Promise<BackupApp> {
  // What an import has put into an empty app nobody can see before its end; here it has not begun.
  const isLoading = unfinished.includes(unfinishedWork.import(app.code));
  return { ...app, imports: isLoading ? [] : app.imports, counts: await from.count(app.id) };
}

/** Entries of an archive, each with its SHA-256, and the sums of all of them but the contents, whose names are their sums. */
function archiveOf(modified: Date) {
  let sums = '';
  return {
    entry(name: string, bytes: Buffer): Buffer {
      const digest = createHash('sha256').update(bytes).digest('hex');
      sums += `${digest}  ${name}\n`;
      return tarFile(name, bytes, modified, digest);
    },
    sums: () => sums,
  };
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
}
