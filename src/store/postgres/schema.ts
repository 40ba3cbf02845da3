// The tables beside the records: apps, users, rights, keys, settings; made and migrated here.
import { quote } from '../../sql/sql.ts';
import { MOVE_NOTE, refuseUnfinishedMove } from '../move.ts';
import { type Connection, type Place, type Pool, rowsOf, run } from './connection.ts';

/** Each entry takes the schema from the version of its index to the next; a setting holds where it is. */
const MIGRATIONS: readonly string[] = [
  `
  create table users (
    id text collate "C" primary key, name text not null, lang text not null, created_at text not null
  );
  create table apps (
    id integer primary key, code text collate "C" not null unique,
    definition text not null, source text not null,
    version integer not null, generation integer not null, created_at text not null
  );
  create table rights (
    app_id integer not null references apps (id), user_id text collate "C" not null references users (id),
    may_update boolean not null, may_edit boolean not null, may_admin boolean not null,
    primary key (app_id, user_id)
  );
  create table keys (
    id integer primary key, app_id integer not null references apps (id),
    user_id text collate "C" not null references users (id),
    digest bytea not null unique, issued_at text not null, expires_at bigint, revoked_at text, last_used_at text
  );
  create table counters (
    app_id integer not null references apps (id), name text collate "C" not null, next bigint not null,
    primary key (app_id, name)
  );
  create table builds (
    app_id integer primary key references apps (id), generation integer not null,
    definition text not null, source text not null, kind text not null, position bigint not null
  );
  create table dropped (name text collate "C" primary key, at timestamptz not null);
  create table imports (
    app_id integer not null references apps (id), fingerprint text collate "C" not null, position bigint not null,
    primary key (app_id, fingerprint)
  );
  create table renames (
    user_id text collate "C" not null references users (id), app_id integer not null references apps (id),
    position bigint not null, primary key (user_id, app_id)
  );
  `,
  `
  create table files (
    app_id integer not null references apps (id), id text collate "C" not null,
    name text not null, size bigint not null, type text not null, digest text collate "C" not null,
    width integer, height integer, used_at bigint not null,
    primary key (app_id, id)
  );
  create index files_digest on files (digest);
  `,
  `
  create table webhooks (
    id integer generated always as identity primary key, app_id integer not null references apps (id),
    url text not null, events text not null, secret text not null, created_at text not null
  );
  create table deliveries (
    id bigint generated always as identity primary key, webhook_id integer not null, app_id integer not null,
    event text not null, place bigint not null, revision integer not null, record text collate "C" not null,
    user_id text not null, at text not null,
    state text collate "C" not null default 'waiting', attempts integer not null default 0, due_at bigint not null,
    status integer, error text
  );
  create index deliveries_due on deliveries (webhook_id, due_at, id) where state = 'waiting';
  create index deliveries_record on deliveries (webhook_id, record, id) where state = 'waiting';
  create index deliveries_over on deliveries (state, due_at) where state <> 'waiting';
  create index deliveries_app on deliveries (app_id, id);
  `,
];

/** Held by whoever makes or changes the schema: any number, the same for everyone. */
const MIGRATION_LOCK = 7_215_001;

/** Whether the database holds a register. */
export async function hasSchema(pool: Pool, schema: string): Promise<boolean> {
  const rows = await rowsOf(pool, `select 1 from pg_namespace where nspname = $1`, [schema]);
  return rows.length > 0;
}

/** The version that MIGRATIONS lead to. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the schema of a register to the newest version, making it where there is none. */
export async function openSchema(pool: Pool, place: Place): Promise<void> {
  await migrate(pool, place);
  refuseUnfinishedMove(await moveNote(pool));
}

/** The note of a move into the schema that is not finished. */
export async function moveNote(on: Connection): Promise<string | undefined> {
  const [row] = await rowsOf<[string]>(on, 'select value from settings where name = $1', [MOVE_NOTE]);
  return row?.[0];
}

/** Brings the schema to the newest version, making it where there is none; one process at a time. */
export async function migrate(pool: Pool, { schema, distribute = false }: Place): Promise<void> {
  await pool.begin(async (tx) => {
    await run(tx, `select pg_advisory_xact_lock(${MIGRATION_LOCK}, $1::int)`, [lockOf(schema)]);
    if (!(await hasSchema(tx as unknown as Pool, schema))) await run(tx, `create schema ${quote(schema)}`);
    await run(tx, `create table if not exists settings (name text collate "C" primary key, value text not null)`);
    await run(
      tx,
      `insert into settings (name, value) values ('catalog_version', '1'), ('web_api', 'on'), ('schema_version', '0')
       on conflict do nothing`,
    );
    const [row] = await rowsOf<[string]>(tx, `select value from settings where name = 'schema_version'`);
    const version = Number(row?.[0]);
    if (version > MIGRATIONS.length) {
      throw new Error('this database was written by a newer version of Daicho; start that version, or a newer one');
    }
    if (distribute) await spreadNew(tx, version === 0);
    if (version === MIGRATIONS.length) return;
    for (const migration of MIGRATIONS.slice(version)) await run(tx, migration);
    await run(tx, `update settings set value = $1 where name = 'schema_version'`, [String(MIGRATIONS.length)]);
  });
}

/** Notes that a register that is being made is to be spread; one that was made without cannot be. */
async function spreadNew(tx: Connection, isNew: boolean): Promise<void> {
  if (!isNew) {
    if (await isSpread(tx)) return;
    throw new Error('this register is in one database; for Citus, move it to a new database with: daicho move');
  }
  const [row] = await rowsOf<[string | null]>(tx, `select to_regproc('create_distributed_table')::text`);
  if (row?.[0] == null) throw new Error('this database has no Citus; make it with: create extension citus');
  await run(tx, `insert into settings (name, value) values ('distribute', 'citus')`);
}

/** Whether the records of the register are spread over several databases. */
export async function isSpread(on: Connection): Promise<boolean> {
  return (await rowsOf(on, `select 1 from settings where name = 'distribute'`)).length > 0;
}

/** A number for a name, for locks that are known by numbers. */
export function lockOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash | 0;
}
