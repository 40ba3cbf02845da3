// Moves a register to another place: copies what the target lacks, then compares everything of both sides.
import { createHash } from 'node:crypto';
import type { FileStore } from '../files/file-store.ts';
import { parseDefinition } from '../store/definition-text.ts';
import {
  hasSameRecords,
  type Move,
  type MovedApp,
  type MovedCatalog,
  type MovedRecord,
  type MovedVersion,
  type MoveReader,
  type MoveSource,
  type MoveTarget,
  type Replacement,
} from '../store/move.ts';
import { Mistake, type Progress } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import { copyContent } from './copy-content.ts';
import { type Order, type Stretch, sideBySide } from './side-by-side.ts';

export interface MoveOptions {
  /** Where the source is, for people. */
  readonly from: string;
  /** Where the contents of its files are, and where they go; one store where they stay. */
  readonly files: { readonly from: FileStore; readonly to: FileStore };
  /** Work of another kind begins; what follows is counted from 0. */
  readonly begin: (what: string, unit: string) => void;
  readonly progress: Progress;
}

/** Something that is not the same on both sides. */
export interface MoveDifference {
  /** '' where it is of no app. */
  readonly app: string;
  /** null where it is of no record. */
  readonly primaryKey: string | null;
  readonly message: string;
}

export interface MoveReport {
  readonly apps: number;
  readonly records: number;
  /** Versions in the history. */
  readonly versions: number;
  readonly files: number;
  readonly seconds: number;
  /** Both sides are the same; the target can be used. */
  readonly verified: boolean;
  /** How many differences there are, and the first of them. */
  readonly different: number;
  readonly differences: readonly MoveDifference[];
}

/** Records or versions looked at, and written, at a time. */
const BATCH = 1_000;
/** Contents copied, or looked for, at a time. */
const CONTENTS = 8;
/** Differences that a report names. */
const MOST_DIFFERENCES = 1_000;

const RECORDS: Order<MovedRecord> = {
  start: { place: 0, revision: 0, values: [], rows: [] },
  compare: (a, b) => a.place - b.place,
  isSame: (a, b) =>
    a.revision === b.revision && JSON.stringify([a.values, a.rows]) === JSON.stringify([b.values, b.rows]),
};

const VERSIONS: Order<MovedVersion> = {
  start: { place: 0, revision: 0, userId: '', at: '', version: '' },
  compare: (a, b) => a.place - b.place || a.revision - b.revision,
  isSame: (a, b) => a.userId === b.userId && a.at === b.at && a.version === b.version,
};

const FILES: Order<StoredFile> = {
  start: { id: '', name: '', size: 0, type: '', digest: '', width: null, height: null },
  compare: (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  isSame: (a, b) => JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort()),
};

/** Moves a register. What an interrupted move has copied is compared, and only what differs is copied again. */
export async function moveRegister(
  source: MoveSource,
  openTarget: (move: Move) => Promise<MoveTarget>,
  options: MoveOptions,
): Promise<MoveReport> {
  const started = performance.now();
  await source.look();
  const unfinished = await source.unfinished();
  if (unfinished.length > 0) throw new Mistake(unfinished.join('\n'));
  const catalog = await source.catalog();
  if (catalog.apps.length === 0) throw new Mistake(`there is nothing to move: ${options.from} has no app`);
  const target = await openTarget({ fingerprint: fingerprintOf(catalog), from: options.from });
  try {
    await copy(source, target, catalog, options);
    options.begin('indexing', 'apps');
    await target.complete(options.progress);
    // As it is now: what was changed since it was copied is found.
    await source.look();
    const { records, versions, files, found } = await verify(source, target, options);
    const verified = found.count === 0;
    if (verified) await target.finish();
    const seconds = Math.round(performance.now() - started) / 1000;
    return {
      ...{ apps: catalog.apps.length, records, versions, files, seconds, verified },
      ...{ different: found.count, differences: found.first },
    };
  } finally {
    await target.close();
  }
}

/** What stays the same of a register: its first app. */
function fingerprintOf({ apps: [first] }: MovedCatalog): string {
  const { id, code, createdAt } = first as MovedApp;
  return createHash('sha256')
    .update(JSON.stringify([id, code, createdAt]))
    .digest('hex');
}

async function copy(
  source: MoveSource,
  target: MoveTarget,
  catalog: MovedCatalog,
  { begin, progress, files }: MoveOptions,
): Promise<void> {
  await target.putCatalog(catalog);
  const total = await countAll(source, catalog);
  begin('copying', 'records');
  let done = 0;
  for (const { id } of catalog.apps) {
    const put = (records: Replacement<MovedRecord>) => target.putRecords(id, records);
    await align(walkRecords(source, target, id), put, (count) => {
      done += count;
      progress(done, total.records);
    });
  }
  begin('copying the history', 'versions');
  done = 0;
  for (const { id } of catalog.apps) {
    const put = (versions: Replacement<MovedVersion>) => target.putVersions(id, versions);
    await align(walkVersions(source, target, id), put, (count) => {
      done += count;
      progress(done, total.versions);
    });
  }
  if (total.files > 0) begin('copying files', 'files');
  done = 0;
  for (const { id } of catalog.apps) {
    await copyContents(source, id, files, (count) => {
      done += count;
      progress(done, total.files);
    });
    await align(
      walkFiles(source, target, id),
      (some) => target.putFiles(id, some),
      () => {},
    );
  }
}

/** Copies the contents of the files of an app to where they are not there yet; what cannot be copied is found when it is verified. */
async function copyContents(
  source: MoveReader,
  appId: number,
  { from, to }: MoveOptions['files'],
  onDone: (count: number) => void,
): Promise<void> {
  for (let after: Pick<StoredFile, 'id'> = { id: '' }; from !== to; ) {
    const files = await source.files(appId, after, CONTENTS);
    await Promise.all(files.map((file) => copyContent(from, to, file)));
    onDone(files.length);
    if (files.length < CONTENTS) return;
    after = files.at(-1) as StoredFile;
  }
}

/** Brings the target in line with the source; what comes next is read while something is written. */
async function align<Item>(
  stretches: AsyncIterable<Stretch<Item>>,
  put: (items: Replacement<Item>) => Promise<void>,
  onDone: (count: number) => void,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  for await (const { length, missing, different, extra } of stretches) {
    await writing;
    onDone(length);
    if (missing.length + different.length + extra.length === 0) continue;
    writing = put({ remove: [...different, ...extra], put: [...missing, ...different] });
    // Whoever waits for it next gets the error.
    writing.catch(() => {});
  }
  await writing;
}

function walkFiles(source: MoveReader, target: MoveReader, appId: number): AsyncIterable<Stretch<StoredFile>> {
  const sequence = (side: MoveReader) => ({
    read: (after: StoredFile, limit: number) => side.files(appId, after, limit),
  });
  return sideBySide(sequence(source), sequence(target), FILES, BATCH);
}

function walkRecords(source: MoveReader, target: MoveReader, appId: number): AsyncIterable<Stretch<MovedRecord>> {
  const sequence = (side: MoveReader) => ({
    read: (after: MovedRecord, limit: number) => side.records(appId, after, limit),
  });
  return sideBySide(sequence(source), sequence(target), RECORDS, BATCH);
}

function walkVersions(source: MoveReader, target: MoveReader, appId: number): AsyncIterable<Stretch<MovedVersion>> {
  const sequence = (side: MoveReader) => ({
    read: (after: MovedVersion, limit: number) => side.versions(appId, after, limit),
  });
  return sideBySide(sequence(source), sequence(target), VERSIONS, BATCH);
}

async function countAll(source: MoveReader, { apps }: MovedCatalog): ReturnType<MoveReader['count']> {
  const total = { records: 0, versions: 0, files: 0 };
  for (const { id } of apps) {
    const { records, versions, files } = await source.count(id);
    total.records += records;
    total.versions += versions;
    total.files += files;
  }
  return total;
}

/** Compares all that both sides have. */
async function verify(source: MoveSource, target: MoveTarget, { begin, progress, files: stores }: MoveOptions) {
  const [ours, theirs] = [await source.catalog(), await target.catalog()];
  const total = await countAll(source, ours);
  const found = findings();
  compareCatalogs(ours, theirs, found.add);
  begin('verifying', 'records and versions');
  let [records, versions, files] = [0, 0, 0];
  for (const app of ours.apps) {
    const { id, code, definition } = app;
    // Where the definitions differ the records cannot be compared, and need not be.
    if (!theirs.apps.some((other) => hasSameRecords(other, app))) continue;
    const { fields, primaryKey } = parseDefinition(definition);
    const keyPosition = fields.indexOf(primaryKey);
    const keyOf = ({ values }: MovedRecord) => values[keyPosition] as string;
    for await (const stretch of walkRecords(source, target, id)) {
      records += stretch.length;
      for (const [record, what] of labelled(stretch)) {
        found.add({ app: code, primaryKey: keyOf(record), message: `record ${keyOf(record)} ${what}` });
      }
      progress(records + versions, total.records + total.versions);
    }
    for await (const stretch of walkVersions(source, target, id)) {
      versions += stretch.length;
      for (const [{ place, revision }, what] of labelled(stretch)) {
        const [record] = await source.records(id, { place: place - 1 }, 1);
        const primaryKey = record?.place === place ? keyOf(record) : null;
        const message = `version ${revision} of record ${primaryKey ?? `at place ${place}`} ${what}`;
        found.add({ app: code, primaryKey, message });
      }
      progress(records + versions, total.records + total.versions);
    }
  }
  if (total.files > 0) begin('verifying', 'files');
  for (const { id, code } of ours.apps) {
    const report = (message: string) => found.add({ app: code, primaryKey: null, message });
    for await (const stretch of walkFiles(source, target, id)) {
      for (const [file, what] of labelled(stretch)) report(`file ${file.id} (${file.name}) ${what}`);
    }
    for (let after = FILES.start; ; ) {
      const some = await target.files(id, after, CONTENTS);
      const kept = await Promise.all(some.map(({ digest }) => stores.to.find(digest)));
      some.forEach((file, index) => {
        if (kept[index]?.size === file.size) return;
        report(`the content of file ${file.id} (${file.name}) is not in ${stores.to.place}`);
      });
      files += some.length;
      progress(files, total.files);
      if (some.length < CONTENTS) break;
      after = some.at(-1) as StoredFile;
    }
  }
  return { records, versions, files, found };
}

function labelled<Item>({ missing, different, extra }: Stretch<Item>): readonly (readonly [Item, string])[] {
  return [
    ...missing.map((item) => [item, 'is missing in the copy'] as const),
    ...different.map((item) => [item, 'is another in the copy'] as const),
    ...extra.map((item) => [item, 'is only in the copy'] as const),
  ];
}

function findings() {
  const first: MoveDifference[] = [];
  let count = 0;
  return {
    add(difference: MoveDifference) {
      if (count++ < MOST_DIFFERENCES) first.push(difference);
    },
    first,
    get count() {
      return count;
    },
  };
}

const PARTS: readonly (readonly [name: keyof MovedApp, what: string])[] = [
  ['definition', 'the definition has changed'],
  ['source', 'the definition has changed as it was written'],
  ['version', 'the definition has been applied again'],
  ['rights', 'the rights have changed'],
  ['keys', 'keys have been issued, revoked or used'],
  ['counters', 'numbers have been given out'],
  ['imports', 'records have been imported'],
  ['webhooks', 'webhooks have been added or removed'],
];

function compareCatalogs(ours: MovedCatalog, theirs: MovedCatalog, add: (difference: MoveDifference) => void): void {
  const differ = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  const report = (app: string, message: string) => add({ app, primaryKey: null, message });
  if (ours.webApi !== theirs.webApi) report('', 'the WebAPI option has been switched');
  if (differ(ours.users, theirs.users)) report('', 'the users have changed');
  for (const app of ours.apps) {
    const other = theirs.apps.find(({ code }) => code === app.code);
    if (other === undefined) report(app.code, 'the app has been made');
    else for (const [name, what] of PARTS) if (differ(app[name], other[name])) report(app.code, what);
  }
}
