// The tables beside the records: apps, users, rights, keys, settings; made and migrated here.
import { MOVE_NOTE, refuseUnfinishedMove } from '../move.ts';
import type { Connection } from './connection.ts';

/** Each entry takes the database from the version of its index to the next; `pragma user_version` holds where it is. */
const MIGRATIONS: readonly string[] = [
  `
  create table settings (name text primary key, value text not null) strict, without rowid;
  insert into settings (name, value) values ('catalog_version', '1'), ('web_api', 'on');
  create table users (
    id text primary key, name text not null, lang text not null, created_at text not null
  ) strict, without rowid;
  create table apps (
    id integer primary key, code text not null unique,
    definition text not null, source text not null,
    version integer not null, generation integer not null, created_at text not null
  ) strict;
  create table rights (
    app_id integer not null references apps (id), user_id text not null references users (id),
    may_update integer not null, may_edit integer not null, may_admin integer not null,
    primary key (app_id, user_id)
  ) strict, without rowid;
  create table keys (
    id integer primary key, app_id integer not null references apps (id), user_id text not null references users (id),
    digest blob not null unique, issued_at text not null,
    expires_at integer, revoked_at text, last_used_at text
  ) strict;
  create table counters (
    app_id integer not null references apps (id), name text not null, next integer not null,
    primary key (app_id, name)
  ) strict, without rowid;
  create table builds (
    app_id integer primary key references apps (id), generation integer not null,
    definition text not null, source text not null, kind text not null,
    position integer not null, pid integer not null
  ) strict;
  create table dropped (name text primary key, at integer not null) strict, without rowid;
  create table imports (
    app_id integer not null references apps (id), fingerprint text not null, position integer not null,
    primary key (app_id, fingerprint)
  ) strict, without rowid;
  create table renames (
    user_id text not null references users (id), app_id integer not null references apps (id), position integer not null,
    primary key (user_id, app_id)
  ) strict, without rowid;
  `,
  `
  create table files (
    app_id integer not null references apps (id), id text not null,
    name text not null, size integer not null, type text not null, digest text not null, width integer, height integer,
    used_at integer not null,
    primary key (app_id, id)
  ) strict, without rowid;
  create index files_digest on files (digest);
  `,
  `
  create table webhooks (
    id integer primary key autoincrement, app_id integer not null references apps (id),
    url text not null, events text not null, secret text not null, created_at text not null
  ) strict;
  create table deliveries (
    id integer primary key autoincrement, webhook_id integer not null, app_id integer not null,
    event text not null, place integer not null, revision integer not null, record text not null,
    user_id text not null, at text not null,
    state text not null default 'waiting', attempts integer not null default 0, due_at integer not null,
    status integer, error text
  ) strict;
  create index deliveries_due on deliveries (webhook_id, due_at, id) where state = 'waiting';
  create index deliveries_record on deliveries (webhook_id, record, id) where state = 'waiting';
  create index deliveries_over on deliveries (state, due_at) where state <> 'waiting';
  create index deliveries_app on deliveries (app_id, id);
  `,
];

/** The version that MIGRATIONS lead to. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The version of the database's tables; 0 where it has none. */
export function schemaVersion(db: Connection): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/** Brings the database of a register to the newest version. */
export function openSchema(db: Connection): void {
  migrate(db);
  refuseUnfinishedMove(moveNote(db));
}

/** The note of a move into the database that is not finished. */
export function moveNote(db: Connection): string | undefined {
  return db.prepare('select value from settings where name = ?').pluck().get(MOVE_NOTE) as string | undefined;
}

/** Brings the database to the newest version; safe from several processes at once. */
export function migrate(db: Connection): void {
  if (schemaVersion(db) > MIGRATIONS.length) {
    throw new Error('this data folder was written by a newer version of Daicho; start that version, or a newer one');
  }
  if (schemaVersion(db) === MIGRATIONS.length) return;
  db.transaction(() => {
    for (let next = schemaVersion(db); next < MIGRATIONS.length; next++) {
      db.exec(MIGRATIONS[next] as string);
      db.pragma(`user_version = ${next + 1}`);
    }
  }).immediate();
}
