// Reads a register in a database to be moved elsewhere, in transactions that cannot write.
import type { Conditions } from '../../search/condition.ts';
import { POSTGRES } from '../../sql/dialect.ts';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { parseDefinition } from '../definition-text.ts';
import {
  type MovedApp,
  type MovedCatalog,
  type MovedKey,
  type MovedUser,
  type MoveReader,
  type MoveSource,
  placesQuery,
  refuseOtherVersion,
  refuseUnfinishedMove,
  unfinishedWork,
} from '../move.ts';
import { type Connection, openPool, type Place, rowsOf, run } from './connection.ts';
import { filesAfter, findFiles } from './files.ts';
import { type RecordTable, recordTable } from './record-table.ts';
import { isSpread, moveNote, SCHEMA_VERSION } from './schema.ts';

/** Opens the register in a database as the source of a move. */
export async function openPostgresSource(place: Place): Promise<MoveSource> {
  const pool = openPool(place, { max: 1, timeout: 0 });
  const close = () => pool.end({ timeout: 0 });
  try {
    const on = await pool.reserve();
    const [row] = await rowsOf<[string]>(on, `select value from settings where name = 'schema_version'`);
    refuseOtherVersion(Number(row?.[0]), SCHEMA_VERSION);
    refuseUnfinishedMove(await moveNote(on));
    let isLooking = false;
    return {
      ...moveReader(on),
      async look() {
        if (isLooking) await run(on, 'commit');
        isLooking = true;
        // The first look at the data in it decides which state is read.
        await run(on, 'begin isolation level repeatable read read only');
        // While the other side makes its indexes nothing is read here.
        await run(on, 'set local idle_in_transaction_session_timeout = 0');
      },
      async unfinished() {
        const builds = await rowsOf<[string, string]>(
          on,
          'select code, kind from builds join apps on id = app_id order by code',
        );
        const renames = await rowsOf<[string]>(on, 'select distinct user_id from renames');
        return [
          ...builds.map(([code, kind]) => unfinishedWork[kind === 'import' ? 'import' : 'rebuild'](code)),
          ...renames.map(([userId]) => unfinishedWork.rename(userId)),
        ];
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reads either side of a move. */
export function moveReader(on: Connection): MoveReader & { table(appId: number): RecordTable } {
  let tables = new Map<number, RecordTable>();
  const table = (appId: number) => tables.get(appId) as RecordTable;
  const meeting = async (from: RecordTable, after: number, limit: number, conditions: Conditions) => {
    const { text, values } = placesQuery(POSTGRES, from.layout, conditions, { after, limit });
    const places = await rowsOf<[string]>(on, POSTGRES.print(text), values);
    return from.at(
      on,
      places.map(([place]) => Number(place)),
    );
  };
  return {
    table,
    async catalog() {
      const { catalog, generations } = await readCatalog(on);
      const distributed = await isSpread(on);
      tables = new Map(
        catalog.apps.map(({ id, definition }) => [
          id,
          recordTable(layoutOf(parseDefinition(definition), id, generations.get(id) as number, distributed)),
        ]),
      );
      return catalog;
    },
    async count(appId) {
      const { form, history } = table(appId).layout;
      const files = rowsOf<[string]>(on, `select count(*) from files where app_id = ${appId}`);
      const counts = [form.name, history].map((name) => rowsOf<[string]>(on, `select count(*) from ${quote(name)}`));
      const [records = 0, versions = 0, ofFiles = 0] = (await Promise.all([...counts, files])).map(([row]) =>
        Number(row?.[0]),
      );
      return { records, versions, files: ofFiles };
    },
    async records(appId, { place: after }, limit, conditions) {
      const from = table(appId);
      const records = await (conditions === undefined
        ? from.after(on, after, limit)
        : meeting(from, after, limit, conditions));
      const places = records.map(({ seq }) => seq);
      const rows = await Promise.all(from.layout.tables.map((_, index) => from.rows(on, index, places)));
      return records.map(({ seq, revision, values }) => ({
        ...{ place: seq, revision, values },
        rows: rows.map((ofTable) => ofTable.get(seq) ?? []),
      }));
    },
    async versions(appId, { place, revision }, limit) {
      const rows = await rowsOf<[string, number, string, string, string]>(
        on,
        `select record, revision, user_id, at, version from ${quote(table(appId).layout.history)}
         where (record, revision) > ($1::bigint, $2::int) order by record, revision limit $3::int`,
        [place, revision, limit],
      );
      return rows.map(([record, number, userId, at, version]) => ({
        ...{ place: Number(record), revision: number, userId, at, version },
      }));
    },
    async filesNamed(appId, ids) {
      return new Map((await findFiles(on, appId, ids)).map((file) => [file.id, file]));
    },
    files: (appId, { id }, limit) => filesAfter(on, appId, id, limit),
  };
}

interface ReadCatalog {
  readonly catalog: MovedCatalog;
  /** Which tables of an app are in use, by its ID. */
  readonly generations: ReadonlyMap<number, number>;
}

async function readCatalog(on: Connection): Promise<ReadCatalog> {
  const [settings, users, apps, rights, keys, counters, imports, webhooks] = await Promise.all([
    rowsOf<[string]>(on, `select value from settings where name = 'web_api'`),
    rowsOf<[string, string, MovedUser['lang'], string]>(on, 'select id, name, lang, created_at from users order by id'),
    rowsOf<[number, string, string, string, number, number, string]>(
      on,
      'select id, code, definition, source, version, generation, created_at from apps order by id',
    ),
    rowsOf<[number, string, boolean, boolean, boolean]>(
      on,
      'select app_id, user_id, may_update, may_edit, may_admin from rights order by user_id',
    ),
    rowsOf<[number, number, string, string, string, string | null, string | null, string | null]>(
      on,
      `select app_id, id, user_id, encode(digest, 'hex'), issued_at, expires_at, revoked_at, last_used_at
       from keys order by id`,
    ),
    // Those of places and rows (counters.ts) are the engine's own.
    rowsOf<[number, string, string]>(
      on,
      `select app_id, name, next from counters where name not like ' %' order by name`,
    ),
    rowsOf<[number, string, string]>(on, 'select app_id, fingerprint, position from imports order by fingerprint'),
    rowsOf<[number, number, string, string, string, string]>(
      on,
      'select app_id, id, url, events, secret, created_at from webhooks order by id',
    ),
  ]);
  const ofApp = <Row extends readonly [number, ...unknown[]]>(rows: readonly Row[], id: number) =>
    rows.filter(([appId]) => appId === id);
  const keyOf = ([
    ,
    id,
    userId,
    digest,
    issuedAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
  ]: (typeof keys)[number]): MovedKey => ({
    ...{ id, userId, digest, issuedAt },
    expiresAt: expiresAt === null ? null : Number(expiresAt),
    ...{ revokedAt, lastUsedAt },
  });
  return {
    catalog: {
      webApi: settings[0]?.[0] as string,
      users: users.map(([id, name, lang, createdAt]) => ({ id, name, lang, createdAt })),
      apps: apps.map(
        ([id, code, definition, source, version, , createdAt]): MovedApp => ({
          ...{ id, code, definition, source, version, createdAt },
          rights: ofApp(rights, id).map(([, userId, update, edit, admin]) => ({ userId, update, edit, admin })),
          keys: ofApp(keys, id).map(keyOf),
          counters: ofApp(counters, id).map(([, name, next]) => [name, Number(next)]),
          imports: ofApp(imports, id).map(([, fingerprint, position]) => [fingerprint, Number(position)]),
          webhooks: ofApp(webhooks, id).map(([, webhook, url, events, secret, addedAt]) => ({
            ...{ id: webhook, url, events, secret, createdAt: addedAt },
          })),
        }),
      ),
    },
    generations: new Map(apps.map(([id, , , , , generation]) => [id, generation])),
  };
}
