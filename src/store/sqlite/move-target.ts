// Puts a register that moves into a data folder together: the catalog, the records, the history, the indexes last.
import { existsSync, mkdirSync } from 'node:fs';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { parseDefinition } from '../definition-text.ts';
import { deriver } from '../derive.ts';
import {
  hasSameRecords,
  judgeTarget,
  MOVE_NOTE,
  type Move,
  type MovedApp,
  type MovedCatalog,
  type MoveTarget,
  type NotedMove,
} from '../move.ts';
import { Mistake } from '../register.ts';
import { currentNames, isAlive, makeIndexes } from './build.ts';
import { catalogChanged } from './catalog.ts';
import { beginWriting, type Connection, connect, databaseFile } from './connection.ts';
import { fileTable } from './files.ts';
import { moveReader } from './move-source.ts';
import { tunePairs } from './pair-index.ts';
import { indexDeleted } from './record-table.ts';
import { continueRename, pendingRenames, startRename } from './rename.ts';
import { migrate, moveNote, schemaVersion } from './schema.ts';
import { createTables, dropTables } from './tables.ts';

/** Records and versions in one commit: the pair index is fast when it takes in much at once. */
const COMMIT_EVERY = 16_000;

/** Opens a data folder as the target of a move, a new one or one that was begun; nothing is changed where it is refused. */
export function openSqliteTarget(dataDir: string, move: Move): MoveTarget {
  if (existsSync(databaseFile(dataDir))) {
    const looking = connect(dataDir, { readonly: true });
    try {
      judge(looking, move);
    } finally {
      looking.close();
    }
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const db = connect(dataDir, { cacheMiB: 64 });
  try {
    takeUp(db, move);
  } catch (error) {
    db.close();
    throw error;
  }
  return moveTarget(db, move);
}

function judge(db: Connection, move: Move): void {
  const hasTables = schemaVersion(db) > 0;
  const isEmpty =
    !hasTables || db.prepare('select 1 from apps union all select 1 from users limit 1').get() === undefined;
  const noted = judgeTarget(hasTables ? moveNote(db) : undefined, isEmpty, move);
  if (noted?.pid === undefined || noted.pid === process.pid || !isAlive(noted.pid)) return;
  throw new Mistake(`process ${noted.pid} is moving a register there; wait for it to finish, or stop it`);
}

function note(db: Connection, noted: NotedMove): void {
  db.prepare('insert or replace into settings (name, value) values (?, ?)').run(MOVE_NOTE, JSON.stringify(noted));
}

/** Notes that this process is at work on the move. */
function takeUp(db: Connection, move: Move): void {
  db.transaction(() => {
    judge(db, move);
    migrate(db);
    note(db, { ...move, pid: process.pid });
  }).immediate();
  // It is of no use before it is finished, so a commit may reach the disk later.
  db.pragma('synchronous = NORMAL');
  db.pragma('wal_autocheckpoint = 8000');
}

function moveTarget(db: Connection, move: Move): MoveTarget {
  const reader = moveReader(db);
  let uncommitted = 0;
  const commit = () => {
    if (db.inTransaction) db.exec('commit');
    uncommitted = 0;
  };
  const write = (count: number, work: () => void) => {
    if (!db.inTransaction) beginWriting(db);
    try {
      work();
    } catch (error) {
      // Back to the last commit; what is missing then is found when the move goes on.
      if (db.inTransaction) db.exec('rollback');
      throw error;
    }
    uncommitted += count;
    if (uncommitted >= COMMIT_EVERY) commit();
  };
  let names: ReturnType<typeof currentNames> = { userName: () => '' };
  let layouts: readonly Layout[] = [];

  return {
    ...reader,
    async putCatalog(catalog) {
      commit();
      const before = await reader.catalog();
      db.transaction(() => putCatalog(db, before, catalog)).immediate();
      await reader.catalog();
      names = currentNames(db);
      layouts = catalog.apps.map(({ id }) => reader.table(id).layout);
      for (const layout of layouts) tunePairs(db, layout, 'load');
    },
    async putRecords(appId, { remove, put }) {
      const table = reader.table(appId);
      const derive = deriver(table.layout, null);
      const deriveRow = table.layout.tables.map((_, index) => deriver(table.layout, index));
      write(remove.length + put.length, () => {
        for (const { place } of remove) table.remove(place);
        for (const { place, revision, values, rows } of put) {
          table.insert(derive(values, names), revision, place);
          rows.forEach((of, index) => {
            const derived = of.map((row) => (deriveRow[index] as (typeof deriveRow)[number])(row, names));
            if (derived.length > 0) table.putRows(index, place, derived, true);
          });
        }
      });
    },
    async putVersions(appId, { remove, put }) {
      const history = quote(reader.table(appId).layout.history);
      const drop = db.prepare(`delete from ${history} where record = ? and revision = ?`);
      const insert = db.prepare(
        `insert into ${history} (record, revision, user_id, at, version) values (?, ?, ?, ?, ?)`,
      );
      write(remove.length + put.length, () => {
        for (const { place, revision } of remove) drop.run(place, revision);
        for (const { place, revision, userId, at, version } of put) insert.run(place, revision, userId, at, version);
      });
    },
    async putFiles(appId, { remove, put }) {
      const drop = db.prepare('delete from files where app_id = ? and id = ?');
      const files = fileTable(db);
      write(remove.length + put.length, () => {
        for (const { id } of remove) drop.run(appId, id);
        files.add(appId, put);
      });
    },
    async complete(progress) {
      commit();
      for (const userId of pendingRenames(db)) continueRename(db, userId, () => {});
      layouts.forEach((layout, done) => {
        progress(done, layouts.length);
        makeIndexes(db, layout);
        indexDeleted(db, layout.history);
        tunePairs(db, layout, 'updates');
      });
    },
    async finish() {
      commit();
      db.pragma('synchronous = FULL');
      db.transaction(() => {
        db.prepare('delete from settings where name = ?').run(MOVE_NOTE);
        catalogChanged(db);
      }).immediate();
    },
    async close() {
      commit();
      // Somebody else may go on with it.
      if (moveNote(db) !== undefined) note(db, move);
      db.close();
    },
  };
}

function putCatalog(db: Connection, before: MovedCatalog, { webApi, users, apps }: MovedCatalog): void {
  db.prepare(`update settings set value = ? where name = 'web_api'`).run(webApi);
  for (const table of ['rights', 'keys', 'counters', 'imports', 'webhooks']) db.exec(`delete from ${table}`);
  const isKept = (app: MovedApp) => apps.some((other) => hasSameRecords(app, other));
  for (const app of before.apps) if (!isKept(app)) dropApp(db, app);
  const old = new Map(before.users.map((user) => [user.id, user]));
  for (const id of old.keys()) {
    if (users.some((user) => user.id === id)) continue;
    db.prepare('delete from renames where user_id = ?').run(id);
    db.prepare('delete from users where id = ?').run(id);
  }
  const putUser = db.prepare(
    `insert into users (id, name, lang, created_at) values (?, ?, ?, ?)
     on conflict (id) do update set name = excluded.name, lang = excluded.lang, created_at = excluded.created_at`,
  );
  for (const { id, name, lang, createdAt } of users) putUser.run(id, name, lang, createdAt);
  for (const app of apps) putApp(db, app, before);
  // Receivers know the numbers of the register that this was: its deliveries go on behind all of them.
  db.exec(`delete from sqlite_sequence where name = 'deliveries'`);
  db.prepare(`insert into sqlite_sequence (name, seq) values ('deliveries', ?)`).run(Date.now());
  // Answers that were copied show the name as it was.
  for (const { id, name } of users) if (before.apps.length > 0 && old.get(id)?.name !== name) startRename(db, id);
}

function putApp(db: Connection, app: MovedApp, before: MovedCatalog): void {
  const { id, code, definition, source, version, createdAt } = app;
  db.prepare(
    `insert into apps (id, code, definition, source, version, generation, created_at) values (?, ?, ?, ?, ?, 1, ?)
     on conflict (id) do update set definition = excluded.definition, source = excluded.source, version = excluded.version,
     created_at = excluded.created_at`,
  ).run(id, code, definition, source, version, createdAt);
  if (!before.apps.some((other) => hasSameRecords(other, app))) createTables(db, layoutOfApp(app));
  const putRights = db.prepare(
    'insert into rights (app_id, user_id, may_update, may_edit, may_admin) values (?, ?, ?, ?, ?)',
  );
  for (const { userId, update, edit, admin } of app.rights) {
    putRights.run(id, userId, Number(update), Number(edit), Number(admin));
  }
  const putKey = db.prepare(
    `insert into keys (id, app_id, user_id, digest, issued_at, expires_at, revoked_at, last_used_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const { id: key, userId, digest, issuedAt, expiresAt, revokedAt, lastUsedAt } of app.keys) {
    putKey.run(key, id, userId, Buffer.from(digest, 'hex'), issuedAt, expiresAt, revokedAt, lastUsedAt);
  }
  const putCounter = db.prepare('insert into counters (app_id, name, next) values (?, ?, ?)');
  for (const [name, next] of app.counters) putCounter.run(id, name, next);
  const putImport = db.prepare('insert into imports (app_id, fingerprint, position) values (?, ?, ?)');
  for (const [fingerprint, position] of app.imports) putImport.run(id, fingerprint, position);
  const putWebhook = db.prepare(
    'insert into webhooks (id, app_id, url, events, secret, created_at) values (?, ?, ?, ?, ?, ?)',
  );
  for (const webhook of app.webhooks) {
    putWebhook.run(webhook.id, id, webhook.url, webhook.events, webhook.secret, webhook.createdAt);
  }
}

function dropApp(db: Connection, app: MovedApp): void {
  const layout = layoutOfApp(app);
  dropTables(db, layout);
  db.exec(`drop table ${quote(layout.history)}`);
  db.prepare('delete from renames where app_id = ?').run(app.id);
  db.prepare('delete from files where app_id = ?').run(app.id);
  db.prepare('delete from apps where id = ?').run(app.id);
}

/** Its tables in the target are the first generation. */
function layoutOfApp({ id, definition }: MovedApp): Layout {
  return layoutOf(parseDefinition(definition), id, 1);
}
