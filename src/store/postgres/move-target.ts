// Puts a register that moves into a database together: the catalog, the records, the history, the indexes last.
import type { RenderContext } from '../../fields/field-type.ts';
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
  type MovedRecord,
  type MoveTarget,
} from '../move.ts';
import { Mistake } from '../register.ts';
import { currentNames, makeIndexes } from './build.ts';
import { catalogChanged } from './catalog.ts';
import { arrayText, type Connection, openPool, type Place, type Pool, rowsOf, run } from './connection.ts';
import { placesPassed, takeNumbers } from './counters.ts';
import { addFiles } from './files.ts';
import { moveReader } from './move-source.ts';
import type { RecordTable } from './record-table.ts';
import { continueRename, pendingRenames, startRename } from './rename.ts';
import { hasSchema, isSpread, lockOf, migrate, moveNote } from './schema.ts';
import { historyStatements, tableNames, tableStatements } from './tables.ts';

/** Opens a database as the target of a move, a new one or one that was begun; nothing is changed where it is refused. */
export async function openPostgresTarget(place: Place, move: Move): Promise<MoveTarget> {
  const { schema } = place;
  const pool = openPool(place, { max: 4, timeout: 0 });
  try {
    // Held to the end of this connection: one process at a time moves something there.
    const on = await pool.reserve();
    const [row] = await rowsOf<[boolean]>(on, 'select pg_try_advisory_lock($1::int, $2::int)', [
      lockOf(schema),
      lockOf(MOVE_NOTE),
    ]);
    if (row?.[0] !== true) {
      throw new Mistake('another process is moving a register there; wait for it to finish, or stop it');
    }
    const hasTables = (await hasSchema(pool, schema)) && (await hasApps(pool));
    judgeTarget(hasTables ? await moveNote(pool) : undefined, !hasTables || (await isEmpty(pool)), move);
    await migrate(pool, place);
    await run(
      pool,
      `insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
      [MOVE_NOTE, JSON.stringify(move)],
    );
    return moveTarget(pool, schema);
  } catch (error) {
    await pool.end({ timeout: 0 });
    throw error;
  }
}

async function hasApps(pool: Pool): Promise<boolean> {
  return (await rowsOf<[string | null]>(pool, `select to_regclass('apps')::text`))[0]?.[0] !== null;
}

async function isEmpty(pool: Pool): Promise<boolean> {
  return (await rowsOf(pool, '(select 1 from apps limit 1) union all (select 1 from users limit 1)')).length === 0;
}

function moveTarget(pool: Pool, schema: string): MoveTarget {
  const reader = moveReader(pool);
  let names: RenderContext = { userName: () => '' };
  let appIds: readonly number[] = [];
  const write = async (work: (tx: Connection) => Promise<void>): Promise<void> => {
    await pool.begin(async (tx) => {
      // It is of no use before it is finished, so a commit may reach the disk later.
      await run(tx, 'set local synchronous_commit = off');
      await work(tx);
    });
  };
  return {
    ...reader,
    async putCatalog(catalog) {
      const before = await reader.catalog();
      await pool.begin((tx) => putCatalog(tx, before, catalog));
      await reader.catalog();
      names = await currentNames(pool);
      appIds = catalog.apps.map(({ id }) => id);
    },
    putRecords: (appId, { remove, put }) =>
      write(async (tx) => {
        const table = reader.table(appId);
        if (remove.length > 0) {
          await table.remove(
            tx,
            remove.map(({ place }) => place),
          );
        }
        await insertRecords(tx, appId, table, names, put);
      }),
    putVersions: (appId, { remove, put }) =>
      write(async (tx) => {
        const table = reader.table(appId);
        if (remove.length > 0) {
          await run(
            tx,
            `delete from ${quote(table.layout.history)}
             where (record, revision) in (select * from unnest($1::bigint[], $2::int[]))`,
            [arrayText(remove.map(({ place }) => place)), arrayText(remove.map(({ revision }) => revision))],
          );
        }
        await table.keepVersions(
          tx,
          put.map(({ place, ...version }) => ({ seq: place, ...version })),
        );
      }),
    putFiles: (appId, { remove, put }) =>
      pool.begin(async (tx) => {
        await run(tx, 'delete from files where app_id = $1::int and id = any($2::text[])', [
          appId,
          arrayText(remove.map(({ id }) => id)),
        ]);
        await addFiles(tx, schema, appId, put);
      }),
    async complete(progress) {
      for (const userId of await pendingRenames(pool)) await continueRename(pool, schema, userId, () => {});
      for (const [done, id] of appIds.entries()) {
        progress(done, appIds.length);
        const { layout } = reader.table(id);
        await makeIndexes(pool, layout);
        await run(pool, `analyze ${quote(layout.history)}`);
      }
    },
    async finish() {
      await pool.begin(async (tx) => {
        for (const id of appIds) await placesPassed(tx, id, reader.table(id).layout);
        await run(tx, 'delete from settings where name = $1', [MOVE_NOTE]);
        await catalogChanged(tx, schema);
      });
    },
    close: () => pool.end({ timeout: 0 }),
  };
}

async function insertRecords(
  tx: Connection,
  appId: number,
  table: RecordTable,
  names: RenderContext,
  records: readonly MovedRecord[],
): Promise<void> {
  const derive = deriver(table.layout, null);
  await table.insert(
    tx,
    records.map(({ place, revision, values }) => ({ seq: place, revision, derived: derive(values, names) })),
  );
  for (let index = 0; index < table.layout.tables.length; index++) {
    const deriveRow = deriver(table.layout, index);
    const some = records.flatMap(({ place, rows }) => {
      const ofTable = rows[index] ?? [];
      return ofTable.length === 0 ? [] : [{ seq: place, values: ofTable }];
    });
    const count = some.reduce((sum, { values }) => sum + values.length, 0);
    if (count === 0) continue;
    let id = await takeNumbers(tx, appId, 'row', count);
    const written = some.map(({ seq, values }) => ({
      seq,
      rows: values.map((row) => ({ id: id++, derived: deriveRow(row, names) })),
    }));
    await table.insertRows(tx, index, written);
  }
}

async function putCatalog(tx: Connection, before: MovedCatalog, { webApi, users, apps }: MovedCatalog): Promise<void> {
  await run(tx, `update settings set value = $1 where name = 'web_api'`, [webApi]);
  await run(tx, `delete from rights; delete from keys; delete from imports; delete from webhooks`);
  // Those of places and rows go on with what was copied.
  await run(tx, `delete from counters where name not like ' %'`);
  const isKept = (app: MovedApp) => apps.some((other) => hasSameRecords(app, other));
  for (const app of before.apps) if (!isKept(app)) await dropApp(tx, app);
  const old = new Map(before.users.map((user) => [user.id, user]));
  for (const id of old.keys()) {
    if (users.some((user) => user.id === id)) continue;
    await run(tx, 'delete from renames where user_id = $1', [id]);
    await run(tx, 'delete from users where id = $1', [id]);
  }
  for (const { id, name, lang, createdAt } of users) {
    await run(
      tx,
      `insert into users (id, name, lang, created_at) values ($1, $2, $3, $4)
       on conflict (id) do update set name = excluded.name, lang = excluded.lang, created_at = excluded.created_at`,
      [id, name, lang, createdAt],
    );
  }
  for (const app of apps) await putApp(tx, app, before);
  await run(tx, `select setval(pg_get_serial_sequence('webhooks', 'id'), max(id)) from webhooks having max(id) > 0`);
  // Receivers know the numbers of the register that this was: its deliveries go on behind all of them.
  await run(tx, `select setval(pg_get_serial_sequence('deliveries', 'id'), $1::bigint)`, [Date.now()]);
  // Answers that were copied show the name as it was.
  for (const { id, name } of users) {
    if (before.apps.length > 0 && old.get(id)?.name !== name) await startRename(tx, id);
  }
}

async function putApp(tx: Connection, app: MovedApp, before: MovedCatalog): Promise<void> {
  const { id, code, definition, source, version, createdAt } = app;
  await run(
    tx,
    `insert into apps (id, code, definition, source, version, generation, created_at)
     values ($1::int, $2, $3, $4, $5::int, 1, $6)
     on conflict (id) do update set definition = excluded.definition, source = excluded.source, version = excluded.version,
     created_at = excluded.created_at`,
    [id, code, definition, source, version, createdAt],
  );
  if (!before.apps.some((other) => hasSameRecords(other, app))) {
    const layout = layoutOfApp(app, await isSpread(tx));
    for (const statement of [...tableStatements(layout), ...historyStatements(layout)]) await run(tx, statement);
  }
  for (const { userId, update, edit, admin } of app.rights) {
    await run(
      tx,
      `insert into rights (app_id, user_id, may_update, may_edit, may_admin)
       values ($1::int, $2, ${update}, ${edit}, ${admin})`,
      [id, userId],
    );
  }
  for (const { id: key, userId, digest, issuedAt, expiresAt, revokedAt, lastUsedAt } of app.keys) {
    await run(
      tx,
      `insert into keys (id, app_id, user_id, digest, issued_at, expires_at, revoked_at, last_used_at)
       values ($1::int, $2::int, $3, decode($4, 'hex'), $5, $6::bigint, $7, $8)`,
      [key, id, userId, digest, issuedAt, expiresAt, revokedAt, lastUsedAt],
    );
  }
  for (const [name, next] of app.counters) {
    await run(tx, 'insert into counters (app_id, name, next) values ($1::int, $2, $3::bigint)', [id, name, next]);
  }
  for (const [fingerprint, position] of app.imports) {
    await run(tx, 'insert into imports (app_id, fingerprint, position) values ($1::int, $2, $3::bigint)', [
      ...[id, fingerprint, position],
    ]);
  }
  for (const { id: webhook, url, events, secret, createdAt: addedAt } of app.webhooks) {
    await run(
      tx,
      `insert into webhooks (id, app_id, url, events, secret, created_at) overriding system value
       values ($1::int, $2::int, $3, $4, $5, $6)`,
      [webhook, id, url, events, secret, addedAt],
    );
  }
}

async function dropApp(tx: Connection, app: MovedApp): Promise<void> {
  const layout = layoutOfApp(app, await isSpread(tx));
  for (const name of [...tableNames(layout), layout.history]) await run(tx, `drop table ${quote(name)}`);
  await run(tx, 'delete from counters where app_id = $1::int', [app.id]);
  await run(tx, 'delete from renames where app_id = $1::int', [app.id]);
  await run(tx, 'delete from files where app_id = $1::int', [app.id]);
  await run(tx, 'delete from apps where id = $1::int', [app.id]);
}

/** Its tables in the target are the first generation. */
function layoutOfApp({ id, definition }: MovedApp, distributed: boolean): Layout {
  return layoutOf(parseDefinition(definition), id, 1, distributed);
}
