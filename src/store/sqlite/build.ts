// Copies an app's records into a new generation of tables while the old one goes on serving, then switches over.
// Records changed meanwhile are noted by triggers and copied again in the short transaction that switches.
import type { App } from '../../app/app.ts';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { adopterOf } from '../adopt.ts';
import { type Build, type BuildKind, isFill } from '../building.ts';
import { parseDefinition } from '../definition-text.ts';
import type { Derived, StoredRecord } from '../derive.ts';
import { Mistake, type Progress } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { catalogChanged, catalogReader } from './catalog.ts';
import { type Connection, isTaken, pauseWriting, writing } from './connection.ts';
import { mergePairs } from './pair-index.ts';
import { type RecordTable, recordTable } from './record-table.ts';
import { createTables, dropTables, indexStatements } from './tables.ts';

/** Records in one transaction of a build: short enough that updates come in between. */
const BATCH = 2_000;
/** Changed records that the switching transaction may still have to copy. */
const FEW_CHANGED = 500;
/** Bytes of the database that are mapped while indexes are made. */
const MAPPED = 64 * 1024 ** 3;
/** Milliseconds after which nobody reads the old generation any more: a request reads it at once or in a transaction. */
const GRACE = 1_000;

/** The unfinished build of an app, if there is one; refuses where a living process is at work on it. */
export function pendingBuild(db: Connection, appId: number): Build | null {
  const row = db.prepare('select * from builds where app_id = ?').get(appId) as
    | { generation: number; kind: BuildKind; definition: string; source: string; position: number; pid: number }
    | undefined;
  if (row === undefined) return null;
  if (row.pid !== process.pid && isAlive(row.pid)) {
    throw new AtWork(`process ${row.pid} is at work on this app; wait for it to finish, or stop it`);
  }
  const { generation, kind, source, position } = row;
  return { appId, generation, kind, source, position, app: parseDefinition(row.definition) };
}

/**
 * Drops what bulks of processes that have ended put in: it was never seen (D39). `owner` is what this process's own bulks are named
 * by; a process that has ended may have had the same number.
 */
export function dropLeftBulks(db: Connection, owner: string): void {
  dropBulks(db, (source) => !source.startsWith(owner));
}

/** Drops those of the bulks that are meant by what names them, unless another living process is at work on them. */
export function dropBulks(db: Connection, isMeant: (source: string) => boolean): void {
  const bulks = db.prepare(`select app_id as appId, source, pid from builds where kind = 'bulk'`);
  const meant = () =>
    (bulks.all() as { appId: number; source: string; pid: number }[]).filter(
      ({ source, pid }) => isMeant(source) && (pid === process.pid || !isAlive(pid)),
    );
  if (meant().length === 0) return;
  writing(db, () => {
    const apps = [...catalogReader(db).current().apps.values()];
    for (const { appId } of meant()) {
      const registered = apps.find(({ id }) => id === appId) as RegisteredApp;
      abandonBuild(db, registered, pendingBuild(db, appId) as Build);
    }
  });
}

/** A living process works on the build. */
export class AtWork extends Mistake {}

/** Whether there is such a process. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Makes this process the one that works on a build. */
export function takeOver(db: Connection, appId: number): void {
  db.prepare('update builds set pid = ? where app_id = ?').run(process.pid, appId);
}

/** A condition on builds: isFill. */
export const IS_FILL = `kind in ('import', 'bulk')`;
/** Finds an app that is being filled in tables of its own: no record can be put in beside. */
export const BEING_FILLED = `select 1 from builds where app_id = ? and ${IS_FILL}`;

/** Begins a build: its tables, and the triggers that note what changes in the old ones. */
export function beginBuild(
  db: Connection,
  registered: RegisteredApp,
  app: App,
  source: string,
  kind: BuildKind,
): Build {
  const { id: appId } = registered;
  const generation = registered.generation + 1;
  writing(db, () => {
    db.prepare(
      'insert into builds (app_id, generation, definition, source, kind, position, pid) values (?, ?, ?, ?, ?, 0, ?)',
    ).run(appId, generation, JSON.stringify(app), source, kind, process.pid);
    const layout = layoutOf(app, appId, generation);
    dropTables(db, layout);
    createTables(db, layout);
    watchChanges(db, appId, layoutOf(registered.app, appId, registered.generation));
  });
  return { appId, generation, kind, app, source, position: 0 };
}

/** Gives up a build: the old generation stays. */
export function abandonBuild(db: Connection, registered: RegisteredApp, build: Build): void {
  writing(db, () => {
    const layout = build.kind === 'bulk' ? bulkLayout(build) : layoutOf(build.app, build.appId, build.generation);
    unwatchChanges(db, build.appId, layoutOf(registered.app, build.appId, registered.generation));
    dropTables(db, layout);
    if (build.kind === 'bulk') db.exec(`drop table if exists ${quote(layout.history)}`);
    db.prepare('delete from builds where app_id = ?').run(build.appId);
  });
}

/** Tables that a bulk fills: their history too is their own until they are seen. */
export function bulkLayout({ app, appId, generation }: Build): Layout {
  const layout = layoutOf(app, appId, generation);
  return { ...layout, history: `${layout.form.name}_history` };
}

/** Copies what is left to copy, switches over, and drops the old tables. */
export async function finishBuild(
  db: Connection,
  registered: RegisteredApp,
  build: Build,
  progress: Progress,
): Promise<void> {
  switchOver(db, registered, build, progress);
  await dropOldSoon(db);
}

/** Drops old tables when nobody reads them any more. */
export async function dropOldSoon(db: Connection): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, GRACE));
  dropOldTables(db);
}

/**
 * Copies what is left to copy and lets the new generation serve. Fills have nothing to copy: their records were put into the new
 * tables. `also` is done in the transaction that switches.
 */
export function switchOver(
  db: Connection,
  registered: RegisteredApp,
  build: Build,
  progress: Progress,
  also: () => void = () => {},
): void {
  const old = recordTable(db, layoutOf(registered.app, build.appId, registered.generation));
  const layout = layoutOf(build.app, build.appId, build.generation);
  const table = recordTable(db, layout);
  const copying: Copying = { old, table, copy: copier(db, old, table, build.kind === 'lossy') };
  if (!isFill(build.kind)) copyRecords(db, copying, build, progress);
  makeIndexes(db, layout);
  while (copyChanged(db, build.appId, copying, BATCH) > FEW_CHANGED);
  writing(db, () => {
    while (copyChanged(db, build.appId, copying, BATCH) > 0);
    unwatchChanges(db, build.appId, old.layout);
    db.prepare('update apps set definition = ?, source = ?, version = version + 1, generation = ? where id = ?').run(
      JSON.stringify(build.app),
      build.source,
      build.generation,
      build.appId,
    );
    db.prepare('delete from builds where app_id = ?').run(build.appId);
    also();
    const drop = db.prepare('insert or replace into dropped (name, at) values (?, ?)');
    for (const { name, pairs } of [old.layout.form, ...old.layout.tables]) {
      for (const dropped of pairs === null ? [name] : [pairs, name]) drop.run(dropped, Date.now());
    }
    catalogChanged(db);
  });
}

/** Makes the search indexes of tables that were filled without them. */
export function makeIndexes(db: Connection, layout: Layout): void {
  // Each index reads the whole table once: from memory that the system shares, not by copying page after page.
  db.pragma(`mmap_size = ${MAPPED}`);
  for (const statement of indexStatements(layout)) {
    writing(db, () => db.exec(statement));
    pauseWriting();
  }
  db.pragma('mmap_size = 0');
  for (const { pairs } of [layout.form, ...layout.tables]) if (pairs !== null) mergePairs(db, pairs);
}

/** Drops the tables of generations that nobody reads any more. */
export function dropOldTables(db: Connection): void {
  const names = db
    .prepare('select name from dropped where at <= ?')
    .pluck()
    .all(Date.now() - GRACE) as string[];
  for (const name of names) {
    writing(db, () => {
      db.exec(`drop table if exists ${quote(name)}`);
      db.prepare('delete from dropped where name = ?').run(name);
    });
  }
}

/** Notes how far a build has come. */
export function notePosition(db: Connection, appId: number, position: number): void {
  db.prepare('update builds set position = ? where app_id = ?').run(position, appId);
}

function copyRecords(db: Connection, { old, table, copy }: Copying, build: Build, progress: Progress): void {
  const total = db
    .prepare(`select count(*) from ${quote(old.layout.form.name)}`)
    .pluck()
    .get() as number;
  let done = db
    .prepare(`select count(*) from ${quote(old.layout.form.name)} where pms_seq <= ?`)
    .pluck()
    .get(build.position) as number;
  let position = build.position;
  for (let left = true; left; ) {
    despiteStaleCopies(db, build.appId, table, () =>
      writing(db, () => {
        const records = old.after(position, BATCH);
        for (const record of records) copy(record);
        position = records.at(-1)?.seq ?? position;
        done += records.length;
        left = records.length > 0;
        notePosition(db, build.appId, position);
      }),
    );
    pauseWriting();
    progress(done, Math.max(total, done));
  }
}

interface Copying {
  readonly old: RecordTable;
  readonly table: RecordTable;
  readonly copy: (record: StoredRecord) => void;
}

/** Copies one record as it is now into the new tables, which do not have it. */
function copier(db: Connection, old: RecordTable, table: RecordTable, lossy: boolean): Copying['copy'] {
  const context = currentNames(db);
  const adopter = adopterOf(old.layout, table.layout, lossy);
  return (record) => {
    table.insert(adopter.record(record.values, context), record.revision, record.seq);
    adopter.tables.forEach(({ from, row }, index) => {
      if (from < 0) return;
      const derived: Derived[] = [];
      for (const values of old.rows(from, record.seq)) derived.push(row(values, context));
      if (derived.length > 0) table.putRows(index, record.seq, derived, true);
    });
  };
}

/** Current names of users, read once. */
export function currentNames(db: Connection): { userName(id: string): string } {
  const { users } = catalogReader(db).current();
  return { userName: (id) => users.get(id)?.name ?? '' };
}

function changedTable(appId: number): string {
  return quote(`app_${appId}_changed`);
}

function watched(layout: Layout): readonly { table: string; record: string }[] {
  return [
    { table: layout.form.name, record: 'pms_seq' },
    ...layout.tables.map(({ name }) => ({ table: name, record: 'pms_record' })),
  ];
}

function watchChanges(db: Connection, appId: number, layout: Layout): void {
  db.exec(`create table ${changedTable(appId)} (seq integer primary key) strict`);
  for (const { table, record } of watched(layout)) {
    for (const [event, row] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ]) {
      db.exec(
        `create trigger ${quote(`${table}_${event}`)} after ${event} on ${quote(table)} begin insert or ignore into ${changedTable(appId)} (seq) values (${row}.${record}); end`,
      );
    }
  }
}

function unwatchChanges(db: Connection, appId: number, layout: Layout): void {
  for (const { table } of watched(layout)) {
    for (const event of ['insert', 'update', 'delete']) db.exec(`drop trigger if exists ${quote(`${table}_${event}`)}`);
  }
  db.exec(`drop table if exists ${changedTable(appId)}`);
}

/** Copies records that changed since they were copied; gives how many were done. */
function copyChanged(db: Connection, appId: number, { old, table, copy }: Copying, limit: number): number {
  const changed = changedTable(appId);
  const run = () => {
    const places = db.prepare(`select seq from ${changed} order by seq limit ?`).pluck().all(limit) as number[];
    const done = db.prepare(`delete from ${changed} where seq = ?`);
    for (const seq of places) {
      table.remove(seq);
      const [record] = old.after(seq - 1, 1);
      if (record?.seq === seq) copy(record);
      done.run(seq);
    }
    return places.length;
  };
  return despiteStaleCopies(db, appId, table, () => writing(db, run));
}

/**
 * Does work. What must be there once may still be in the copy of a record that has given it up since: then the copies of all
 * records that changed are taken out, to be copied again by their notes, and the work is done once more.
 */
function despiteStaleCopies<T>(db: Connection, appId: number, table: RecordTable, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
  writing(db, () => {
    const noted = db
      .prepare(`select seq from ${changedTable(appId)}`)
      .pluck()
      .all() as number[];
    for (const seq of noted) table.remove(seq);
  });
  return work();
}
