// Reads a register in a data folder to be moved elsewhere, on a connection that cannot write.
import type { Conditions } from '../../search/condition.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { parseDefinition } from '../definition-text.ts';
import {
  type MovedApp,
  type MovedKey,
  type MovedRights,
  type MovedUser,
  type MovedVersion,
  type MovedWebhook,
  type MoveReader,
  type MoveSource,
  placesQuery,
  refuseOtherVersion,
  refuseUnfinishedMove,
  unfinishedWork,
} from '../move.ts';
import { type Connection, connect } from './connection.ts';
import { filesAfter, fileTable } from './files.ts';
import { type RecordTable, recordTable } from './record-table.ts';
import { moveNote, SCHEMA_VERSION, schemaVersion } from './schema.ts';

/** Opens the register in a data folder as the source of a move. */
export function openSqliteSource(dataDir: string): MoveSource {
  const db = connect(dataDir, { readonly: true, cacheMiB: 16 });
  try {
    refuseOtherVersion(schemaVersion(db), SCHEMA_VERSION);
    refuseUnfinishedMove(moveNote(db));
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    ...moveReader(db),
    async look() {
      if (db.inTransaction) db.exec('commit');
      // The first look at the data in it decides which state is read.
      db.exec('begin');
    },
    async unfinished() {
      const builds = db.prepare('select code, kind from builds join apps on id = app_id order by code').all() as {
        code: string;
        kind: string;
      }[];
      const renames = db.prepare('select distinct user_id from renames').pluck().all() as string[];
      return [
        ...builds.map(({ code, kind }) => unfinishedWork[kind === 'import' ? 'import' : 'rebuild'](code)),
        ...renames.map(unfinishedWork.rename),
      ];
    },
    async close() {
      db.close();
    },
  };
}

interface AppRow {
  readonly id: number;
  readonly code: string;
  readonly definition: string;
  readonly source: string;
  readonly version: number;
  readonly generation: number;
  readonly createdAt: string;
}

/** Reads either side of a move. */
export function moveReader(db: Connection): MoveReader & { table(appId: number): RecordTable } {
  let tables = new Map<number, RecordTable>();
  const table = (appId: number) => tables.get(appId) as RecordTable;
  const listOf = <Row>(text: string, ...values: readonly unknown[]) => db.prepare(text).all(...values) as Row[];
  const pairsOf = <Value>(text: string, appId: number) =>
    db.prepare(text).raw().all(appId) as (readonly [string, Value])[];
  const appOf = ({ generation: _, ...app }: AppRow): MovedApp => ({
    ...app,
    rights: listOf<{ userId: string; update: number; edit: number; admin: number }>(
      `select user_id as userId, may_update as "update", may_edit as edit, may_admin as admin
       from rights where app_id = ? order by user_id`,
      app.id,
    ).map(
      ({ userId, update, edit, admin }): MovedRights => ({
        userId,
        update: update === 1,
        edit: edit === 1,
        admin: admin === 1,
      }),
    ),
    keys: listOf<MovedKey>(
      `select id, user_id as userId, lower(hex(digest)) as digest, issued_at as issuedAt, expires_at as expiresAt,
       revoked_at as revokedAt, last_used_at as lastUsedAt from keys where app_id = ? order by id`,
      app.id,
    ),
    counters: pairsOf('select name, next from counters where app_id = ? order by name', app.id),
    imports: pairsOf('select fingerprint, position from imports where app_id = ? order by fingerprint', app.id),
    webhooks: listOf<MovedWebhook>(
      'select id, url, events, secret, created_at as createdAt from webhooks where app_id = ? order by id',
      app.id,
    ),
  });
  const meeting = (from: RecordTable, after: number, limit: number, conditions: Conditions) => {
    const { text, values } = placesQuery(SQLITE, from.layout, conditions, { after, limit });
    const places = db
      .prepare(SQLITE.print(text))
      .pluck()
      .all(...values) as number[];
    return places.flatMap((place) => from.after(place - 1, 1));
  };
  return {
    table,
    async catalog() {
      const apps = listOf<AppRow>(
        'select id, code, definition, source, version, generation, created_at as createdAt from apps order by id',
      );
      tables = new Map(
        apps.map(({ id, definition, generation }) => [
          id,
          recordTable(db, layoutOf(parseDefinition(definition), id, generation)),
        ]),
      );
      return {
        webApi: db.prepare(`select value from settings where name = 'web_api'`).pluck().get() as string,
        users: listOf<MovedUser>('select id, name, lang, created_at as createdAt from users order by id'),
        apps: apps.map(appOf),
      };
    },
    async count(appId) {
      const { form, history } = table(appId).layout;
      const count = (name: string) =>
        db
          .prepare(`select count(*) from ${quote(name)}`)
          .pluck()
          .get() as number;
      const files = db.prepare('select count(*) from files where app_id = ?').pluck().get(appId) as number;
      return { records: count(form.name), versions: count(history), files };
    },
    async records(appId, { place: after }, limit, conditions) {
      const from = table(appId);
      const found = conditions === undefined ? from.after(after, limit) : meeting(from, after, limit, conditions);
      return found.map(({ seq, revision, values }) => ({
        ...{ place: seq, revision, values },
        rows: from.layout.tables.map((_, index) => from.rows(index, seq)),
      }));
    },
    async versions(appId, { place, revision }, limit) {
      return listOf<MovedVersion>(
        `select record as place, revision, user_id as userId, at, version from ${quote(table(appId).layout.history)}
         where (record, revision) > (?, ?) order by record, revision limit ?`,
        ...[place, revision, limit],
      );
    },
    filesNamed: async (appId, ids) => fileTable(db).find(appId, ids),
    files: async (appId, { id }, limit) => filesAfter(db, appId, id, limit),
  };
}
