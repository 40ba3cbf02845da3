// The register on SQLite: what the command line does, on a connection of its own, also while a server runs.
import { existsSync, mkdirSync } from 'node:fs';
import { compareApps, type DefinitionChange } from '../../app/definition-change.ts';
import { convert } from '../../fields/field-types.ts';
import { keyColumn, type Layout, layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { isFill } from '../building.ts';
import { now } from '../clock.ts';
import {
  type Applied,
  DataLoss,
  type KeyDescription,
  Mistake,
  NO_CHANGE,
  type Progress,
  type Register,
} from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { becomingUnique, uniqueValues } from '../unique.ts';
import { abandonBuild, beginBuild, dropOldTables, finishBuild, pendingBuild, takeOver } from './build.ts';
import { catalogChanged, catalogReader } from './catalog.ts';
import { check } from './check.ts';
import { type Connection, connect, databaseFile, pauseWriting, writing } from './connection.ts';
import { fileReferences, filesAfter, fileTable, forgetFiles, whileUnused } from './files.ts';
import { openLoader } from './load.ts';
import { continueRename, startRename } from './rename.ts';
import { openSchema } from './schema.ts';
import { createTables, indexStatements } from './tables.ts';

/** Whether the folder holds a register. */
export function hasSqliteRegister(dataDir: string): boolean {
  return existsSync(databaseFile(dataDir));
}

/** Opens the register in a data folder; makes the folder and the database where there are none. */
export function openSqliteRegister({ dataDir }: { readonly dataDir: string }): Register {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const db = connect(dataDir, { cacheMiB: 64 });
  openSchema(db);
  dropOldTables(db);
  const catalog = catalogReader(db);
  const appOf = (code: string): RegisteredApp => {
    const registered = catalog.current().apps.get(code);
    if (registered === undefined) throw new Mistake(`there is no app ${code}`);
    return registered;
  };
  const userMust = (id: string) => {
    if (!catalog.current().users.has(id)) throw new Mistake(`there is no user ${id}`);
  };
  /** Changes the catalog in a transaction; the next look at it reads it again. */
  const change = <T>(work: () => T): T =>
    writing(db, () => {
      const result = work();
      catalogChanged(db);
      return result;
    });

  return {
    catalog: () => catalog.current(),
    async setWebApi(on) {
      change(() => db.prepare(`update settings set value = ? where name = 'web_api'`).run(on ? 'on' : 'off'));
    },
    async addUser({ id, name, lang }) {
      if (catalog.current().users.has(id))
        throw new Mistake(`there is a user ${id} already; change it with: daicho user set ${id}`);
      change(() =>
        db.prepare('insert into users (id, name, lang, created_at) values (?, ?, ?, ?)').run(id, name, lang, now()),
      );
    },
    async changeUser(id, { name, lang }, progress) {
      userMust(id);
      change(() => {
        if (lang !== undefined) db.prepare('update users set lang = ? where id = ?').run(lang, id);
        if (name === undefined) return;
        db.prepare('update users set name = ? where id = ?').run(name, id);
        startRename(db, id);
      });
      if (name !== undefined) continueRename(db, id, progress);
    },
    async grant(appCode, userId, { update, edit, admin }) {
      const { id } = appOf(appCode);
      userMust(userId);
      const put = db.prepare(
        'insert or replace into rights (app_id, user_id, may_update, may_edit, may_admin) values (?, ?, ?, ?, ?)',
      );
      change(() => put.run(id, userId, Number(update), Number(edit), Number(admin)));
    },
    async withdraw(appCode, userId) {
      const { id } = appOf(appCode);
      const { changes } = change(() =>
        db.prepare('delete from rights where app_id = ? and user_id = ?').run(id, userId),
      );
      if (changes === 0) throw new Mistake(`user ${userId} has no right in ${appCode}`);
    },
    async addKey(appCode, userId, digest, expiresAt) {
      const { id } = appOf(appCode);
      userMust(userId);
      const put = db.prepare(
        'insert into keys (app_id, user_id, digest, issued_at, expires_at) values (?, ?, ?, ?, ?)',
      );
      return change(() => Number(put.run(id, userId, digest, now(), expiresAt).lastInsertRowid));
    },
    async keys(appCode) {
      const text = `select id, user_id as userId, issued_at as issuedAt, expires_at as expiresAt, revoked_at as revokedAt,
        last_used_at as lastUsedAt from keys where app_id = ? order by id`;
      return db.prepare(text).all(appOf(appCode).id) as KeyDescription[];
    },
    async revokeKey(id) {
      const revoke = db.prepare('update keys set revoked_at = ? where id = ? and revoked_at is null');
      const { changes } = change(() => revoke.run(now(), id));
      if (changes === 0) throw new Mistake(`there is no key ${id} that is not revoked`);
    },
    async source(appCode) {
      return db.prepare('select source from apps where id = ?').pluck().get(appOf(appCode).id) as string;
    },
    async countRecords(appCode) {
      return countRecords(db, appOf(appCode));
    },
    async apply(app, source, { allowDataLoss, dryRun, progress }) {
      const registered = catalog.current().apps.get(app.code);
      if (registered === undefined) {
        if (!dryRun) change(() => createApp(db, app, source));
        return { kind: 'created', change: NO_CHANGE, unreadable: [], records: 0 };
      }
      return applyChanged(registered, app, source, { allowDataLoss, dryRun, progress });
    },
    async reindex(appCode, progress) {
      const registered = appOf(appCode);
      const pending = pendingBuild(db, registered.id);
      if (pending !== null && isFill(pending.kind)) abandonBuild(db, registered, pending);
      else if (pending !== null) {
        takeOver(db, registered.id);
        return finishBuild(db, registered, pending, progress);
      }
      const source = db.prepare('select source from apps where id = ?').pluck().get(registered.id) as string;
      return finishBuild(db, registered, beginBuild(db, registered, registered.app, source, 'rebuild'), progress);
    },
    async load(appCode, userId, fingerprint) {
      return openLoader(db, appCode, userId, fingerprint);
    },
    async countVersions(appCode) {
      return countRows(db, historyOf(appOf(appCode)));
    },
    async forgetVersions(appCode, before) {
      return forgetVersions(db, historyOf(appOf(appCode)), before);
    },
    async isBuilding(appCode) {
      return db.prepare('select 1 from builds where app_id = ?').get(appOf(appCode).id) !== undefined;
    },
    async files(appCode, after, limit) {
      return filesAfter(db, appOf(appCode).id, after, limit);
    },
    async useFiles(appCode, ids) {
      const { id } = appOf(appCode);
      const files = fileTable(db);
      return writing(db, () => files.find(id, [...files.use(id, ids)]));
    },
    async *fileReferences(appCode) {
      const registered = appOf(appCode);
      // A connection of its own: this one can do nothing else while one of its statements is read from.
      const reading = connect(dataDir, { readonly: true });
      try {
        yield* fileReferences(reading, registered);
      } finally {
        reading.close();
      }
    },
    async forgetFiles(appCode, ids, unusedSince) {
      return forgetFiles(db, appOf(appCode).id, ids, unusedSince);
    },
    async whileUnused(digests, remove) {
      const holding = connect(dataDir);
      try {
        await whileUnused(holding, digests, remove);
      } finally {
        holding.close();
      }
    },
    async check(appCodes, progress) {
      for (const code of appCodes) appOf(code);
      // A connection of its own: one that has been open for long may hold parts of the pair index that are no more.
      const fresh = connect(dataDir, { cacheMiB: 64 });
      try {
        return check(fresh, appCodes, progress);
      } finally {
        fresh.close();
      }
    },
    async close() {
      db.close();
    },
  };

  async function applyChanged(
    registered: RegisteredApp,
    app: RegisteredApp['app'],
    source: string,
    options: { allowDataLoss: boolean; dryRun: boolean; progress: Progress },
  ): Promise<Applied> {
    const difference = compareApps(registered.app, app);
    const unreadable = unreadableValues(db, registered, app, difference);
    const records = difference.rebuild ? countRecords(db, registered) : 0;
    const kind = difference.steps.length === 0 ? 'unchanged' : 'changed';
    const report: Applied = { kind, change: difference, unreadable, records };
    const loses = (difference.losses.length > 0 && countRecords(db, registered) > 0) || unreadable.length > 0;
    if (options.dryRun) return report;
    if (loses && !options.allowDataLoss) throw new DataLoss(report);
    const pending = pendingBuild(db, registered.id);
    if (pending?.kind === 'import') {
      throw new Mistake(
        `a load into ${app.code} was interrupted; run it again first, or give it up with: daicho reindex ${app.code}`,
      );
    }
    if (pending !== null) abandonBuild(db, registered, pending);
    refuseDuplicates(db, registered, app);
    if (difference.rebuild) {
      const build = beginBuild(db, registered, app, source, loses ? 'lossy' : 'rebuild');
      await finishBuild(db, registered, build, options.progress);
    } else {
      const put = db.prepare('update apps set definition = ?, source = ?, version = version + 1 where id = ?');
      change(() => put.run(JSON.stringify(app), source, registered.id));
    }
    return report;
  }
}

/** Refuses a definition by which a field becomes unique that is not. */
function refuseDuplicates(
  db: Connection,
  { app: before, id, generation }: RegisteredApp,
  app: RegisteredApp['app'],
): void {
  const layout = layoutOf(before, id, generation);
  const name = (fieldId: string) =>
    quote(layout.form.columns.find(({ field }) => field.id === fieldId)?.name as string);
  for (const { column, field } of becomingUnique(before, layoutOf(app, id, generation))) {
    const take = uniqueValues(column, field);
    const text = `select ${name(field.id)}, ${quote(keyColumn(layout))} from ${quote(layout.form.name)} where ${name(field.id)} is not null`;
    for (const [value, key] of db.prepare(text).raw().iterate() as Iterable<[string, string]>) take(value, key);
  }
}

function historyOf({ app, id, generation }: RegisteredApp): string {
  return layoutOf(app, id, generation).history;
}

function countRows(db: Connection, table: string): number {
  return db
    .prepare(`select count(*) from ${quote(table)}`)
    .pluck()
    .get() as number;
}

/** Versions forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 1_000;

/** Walks through a history once, in its order, some versions in each transaction. */
function forgetVersions(db: Connection, history: string, before: string): number {
  const next = db.prepare(
    `select record, revision from ${quote(history)} where (record, revision) > (?, ?) and at < ? order by record, revision limit ${FORGOTTEN_AT_ONCE}`,
  );
  const forget = db.prepare(`delete from ${quote(history)} where record = ? and revision = ?`);
  let forgotten = 0;
  for (let after: readonly number[] = [0, 0]; ; ) {
    const some = next.raw().all(...after, before) as [number, number][];
    writing(db, () => {
      for (const version of some) forget.run(...version);
    });
    forgotten += some.length;
    if (some.length < FORGOTTEN_AT_ONCE) return forgotten;
    after = some.at(-1) as [number, number];
    pauseWriting();
  }
}

function createApp(db: Connection, app: RegisteredApp['app'], source: string): void {
  const { lastInsertRowid } = db
    .prepare('insert into apps (code, definition, source, version, generation, created_at) values (?, ?, ?, 1, 1, ?)')
    .run(app.code, JSON.stringify(app), source, now());
  const layout = layoutOf(app, Number(lastInsertRowid), 1);
  createTables(db, layout);
  for (const statement of indexStatements(layout)) db.exec(statement);
}

function countRecords(db: Connection, { app, id, generation }: RegisteredApp): number {
  return countRows(db, layoutOf(app, id, generation).form.name);
}

/** Values that the new types of changed fields cannot hold. */
function unreadableValues(
  db: Connection,
  registered: RegisteredApp,
  app: RegisteredApp['app'],
  { conversions }: DefinitionChange,
): Applied['unreadable'] {
  const layout: Layout = layoutOf(registered.app, registered.id, registered.generation);
  return conversions.flatMap(({ field: id, table: code }) => {
    const fields = code === undefined ? app.fields : (app.tables.find((table) => table.code === code)?.fields ?? []);
    const field = fields.find((candidate) => candidate.id === id);
    const from = code === undefined ? layout.form : layout.tables.find(({ table }) => table.code === code);
    const column = from?.columns.find((candidate) => candidate.field.id === id);
    if (field === undefined || from === undefined || column === undefined) return [];
    const text = `select ${quote(column.name)} from ${quote(from.name)} where ${quote(column.name)} is not null`;
    let count = 0;
    let example = '';
    for (const value of db.prepare(text).pluck().iterate() as Iterable<string>) {
      if (convert(value, column.field, field) !== null) continue;
      if (count++ === 0) example = value.slice(0, 60);
    }
    return count === 0 ? [] : [{ field: id, count, example }];
  });
}
