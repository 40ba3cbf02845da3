// The register on PostgreSQL: what the command line does, on connections of its own, also while servers run.
import { compareApps, type DefinitionChange } from '../../app/definition-change.ts';
import { convert } from '../../fields/field-types.ts';
import { keyColumn, layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { now } from '../clock.ts';
import {
  type Applied,
  type ApplyOptions,
  DataLoss,
  type KeyDescription,
  Mistake,
  NO_CHANGE,
  type Register,
} from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { becomingUnique, uniqueValues } from '../unique.ts';
import { abandonBuild, beginBuild, dropOldTables, finishBuild, pendingBuild } from './build.ts';
import { catalogChanged, readCatalog } from './catalog.ts';
import { check } from './check.ts';
import { arrayText, type Connection, guarded, openPool, type Place, type Pool, rowsOf, run } from './connection.ts';
import { fileReferences, filesAfter, findFiles, forgetFiles, useFiles, whileUnused } from './files.ts';
import { withLease } from './lease.ts';
import { openLoader, type Release } from './load.ts';
import { continueRename, startRename } from './rename.ts';
import { isSpread, openSchema } from './schema.ts';
import { historyStatements, indexStatements, tableStatements } from './tables.ts';

/** Opens the register in a database; makes it where there is none. */
export async function openPostgresRegister(place: Place): Promise<Register> {
  const { schema } = place;
  const pool = openPool(place, { max: 6, timeout: 0 });
  let catalog = await guarded('read', async () => {
    try {
      await openSchema(pool, place);
      await dropOldTables(pool);
      return await readCatalog(pool);
    } catch (error) {
      await pool.end({ timeout: 5 });
      throw error;
    }
  });
  const refresh = async () => {
    catalog = await readCatalog(pool, catalog);
  };
  const appOf = async (code: string): Promise<RegisteredApp> => {
    await refresh();
    const registered = catalog.apps.get(code);
    if (registered === undefined) throw new Mistake(`there is no app ${code}`);
    return registered;
  };
  const userMust = (id: string) => {
    if (!catalog.users.has(id)) throw new Mistake(`there is no user ${id}`);
  };
  /** Changes the catalog in a transaction: one process after the other, since each counts its version on first. */
  const change = async <T>(work: (tx: Connection) => Promise<T>): Promise<T> => {
    const result = await pool.begin(async (tx) => {
      await catalogChanged(tx, schema);
      return work(tx);
    });
    await refresh();
    return result as T;
  };
  /** A number for a new row of a catalog table; the transaction has the catalog for itself. */
  const nextId = async (tx: Connection, table: 'apps' | 'keys'): Promise<number> => {
    const [row] = await rowsOf<[number]>(tx, `select coalesce(max(id), 0) + 1 from ${table}`);
    return row?.[0] as number;
  };

  return {
    catalog: () => catalog,
    setWebApi: (on) =>
      change((tx) => run(tx, `update settings set value = $1 where name = 'web_api'`, [on ? 'on' : 'off'])),
    async addUser({ id, name, lang }) {
      await refresh();
      if (catalog.users.has(id)) {
        throw new Mistake(`there is a user ${id} already; change it with: daicho user set ${id}`);
      }
      await change((tx) =>
        run(tx, 'insert into users (id, name, lang, created_at) values ($1, $2, $3, $4)', [id, name, lang, now()]),
      );
    },
    async changeUser(id, { name, lang }, progress) {
      await refresh();
      userMust(id);
      await change(async (tx) => {
        if (lang !== undefined) await run(tx, 'update users set lang = $1 where id = $2', [lang, id]);
        if (name === undefined) return;
        await run(tx, 'update users set name = $1 where id = $2', [name, id]);
        await startRename(tx, id);
      });
      if (name !== undefined) await continueRename(pool, schema, id, progress);
    },
    async grant(appCode, userId, { update, edit, admin }) {
      const { id } = await appOf(appCode);
      userMust(userId);
      await change((tx) =>
        run(
          tx,
          `insert into rights (app_id, user_id, may_update, may_edit, may_admin)
           values ($1::int, $2, ${update}, ${edit}, ${admin})
           on conflict (app_id, user_id) do update
           set may_update = excluded.may_update, may_edit = excluded.may_edit, may_admin = excluded.may_admin`,
          [id, userId],
        ),
      );
    },
    async withdraw(appCode, userId) {
      const { id } = await appOf(appCode);
      const gone = await change((tx) =>
        rowsOf(tx, 'delete from rights where app_id = $1::int and user_id = $2 returning 1', [id, userId]),
      );
      if (gone.length === 0) throw new Mistake(`user ${userId} has no right in ${appCode}`);
    },
    async addKey(appCode, userId, digest, expiresAt) {
      const { id: appId } = await appOf(appCode);
      userMust(userId);
      return change(async (tx) => {
        const id = await nextId(tx, 'keys');
        await run(
          tx,
          `insert into keys (id, app_id, user_id, digest, issued_at, expires_at)
           values ($1::int, $2::int, $3, $4::bytea, $5, $6::bigint)`,
          [id, appId, userId, Buffer.from(digest), now(), expiresAt],
        );
        return id;
      });
    },
    async keys(appCode) {
      const rows = await rowsOf<[number, string, string, string | null, string | null, string | null]>(
        pool,
        `select id, user_id, issued_at, expires_at, revoked_at, last_used_at from keys where app_id = $1::int order by id`,
        [(await appOf(appCode)).id],
      );
      return rows.map(
        ([id, userId, issuedAt, expiresAt, revokedAt, lastUsedAt]): KeyDescription => ({
          ...{ id, userId, issuedAt, revokedAt, lastUsedAt },
          expiresAt: expiresAt === null ? null : Number(expiresAt),
        }),
      );
    },
    async revokeKey(id) {
      const revoked = await change((tx) =>
        rowsOf(tx, 'update keys set revoked_at = $1 where id = $2::int and revoked_at is null returning 1', [
          now(),
          id,
        ]),
      );
      if (revoked.length === 0) throw new Mistake(`there is no key ${id} that is not revoked`);
    },
    source: async (appCode) => sourceOf(pool, await appOf(appCode)),
    countRecords: async (appCode) => countRecords(pool, await appOf(appCode)),
    async apply(app, source, options) {
      if (await isSpread(pool)) refuseSpreadUnique(app);
      await refresh();
      const registered = catalog.apps.get(app.code);
      if (registered !== undefined) return applyChanged(registered, app, source, options);
      if (!options.dryRun) {
        await change(async (tx) => {
          const id = await nextId(tx, 'apps');
          await createApp(tx, id, app, source);
        });
      }
      return { kind: 'created', change: NO_CHANGE, unreadable: [], records: 0 };
    },
    async reindex(appCode, progress) {
      const { id } = await appOf(appCode);
      await withLease(pool, schema, id, async () => {
        const registered = await appOf(appCode);
        let build = await pendingBuild(pool, id);
        if (build?.kind === 'import') {
          await abandonBuild(pool, schema, registered, build);
          build = null;
        }
        build ??= await beginBuild(
          pool,
          schema,
          registered,
          registered.app,
          await sourceOf(pool, registered),
          'rebuild',
        );
        await finishBuild(pool, schema, registered, build, progress);
      });
      await refresh();
    },
    async load(appCode, userId, fingerprint) {
      const { id } = await appOf(appCode);
      // The lease is held until the loader has finished or stopped.
      let end: Release = async () => {};
      const loader = await new Promise<Awaited<ReturnType<Register['load']>>>((resolve, reject) => {
        const held = withLease(pool, schema, id, async () => {
          const over = Promise.withResolvers<void>();
          end = async () => {
            over.resolve();
            await held;
            await refresh();
          };
          const release = () => end();
          resolve(await openLoader(pool, schema, await appOf(appCode), { userId, fingerprint, release }));
          await over.promise;
        });
        held.catch(reject);
      });
      return loader;
    },
    async countVersions(appCode) {
      const { app, id, generation } = await appOf(appCode);
      const { history } = layoutOf(app, id, generation);
      return Number((await rowsOf<[string]>(pool, `select count(*) from ${quote(history)}`))[0]?.[0]);
    },
    async forgetVersions(appCode, before) {
      const { app, id, generation } = await appOf(appCode);
      return forgetVersions(pool, layoutOf(app, id, generation).history, before);
    },
    async isBuilding(appCode) {
      const { id } = await appOf(appCode);
      return (await rowsOf(pool, 'select 1 from builds where app_id = $1::int', [id])).length > 0;
    },
    files: async (appCode, after, limit) => filesAfter(pool, (await appOf(appCode)).id, after, limit),
    async useFiles(appCode, ids) {
      const { id } = await appOf(appCode);
      const files = await findFiles(pool, id, [...(await useFiles(pool, id, ids))]);
      return new Map(files.map((file) => [file.id, file]));
    },
    async *fileReferences(appCode) {
      yield* fileReferences(pool, await appOf(appCode));
    },
    forgetFiles: async (appCode, ids, unusedSince) => forgetFiles(pool, (await appOf(appCode)).id, ids, unusedSince),
    whileUnused: (digests, remove) => whileUnused(pool, schema, digests, remove),
    async check(appCodes, progress) {
      for (const code of appCodes) await appOf(code);
      return check(pool, catalog, appCodes, progress);
    },
    close: () => pool.end({ timeout: 5 }),
  };

  async function applyChanged(
    { app: { code }, id }: RegisteredApp,
    app: RegisteredApp['app'],
    source: string,
    options: ApplyOptions,
  ): Promise<Applied> {
    const planned = await planChange(await appOf(code), app);
    if (options.dryRun) return planned.report;
    if (planned.loses && !options.allowDataLoss) throw new DataLoss(planned.report);
    const applied = await withLease(pool, schema, id, async () => {
      const registered = await appOf(code);
      const { report, loses } = await planChange(registered, app);
      if (loses && !options.allowDataLoss) throw new DataLoss(report);
      const pending = await pendingBuild(pool, id);
      if (pending?.kind === 'import') {
        throw new Mistake(
          `a load into ${code} was interrupted; run it again first, or give it up with: daicho reindex ${code}`,
        );
      }
      if (pending !== null) await abandonBuild(pool, schema, registered, pending);
      await refuseDuplicates(pool, registered, app);
      if (report.change.rebuild) {
        const build = await beginBuild(pool, schema, registered, app, source, loses ? 'lossy' : 'rebuild');
        await finishBuild(pool, schema, registered, build, options.progress);
      } else {
        await change((tx) =>
          run(tx, 'update apps set definition = $1, source = $2, version = version + 1 where id = $3::int', [
            JSON.stringify(app),
            source,
            id,
          ]),
        );
      }
      return report;
    });
    await refresh();
    return applied;
  }

  async function planChange(
    registered: RegisteredApp,
    app: RegisteredApp['app'],
  ): Promise<{ readonly report: Applied; readonly loses: boolean }> {
    const difference = compareApps(registered.app, app);
    const unreadable = await unreadableValues(pool, registered, app, difference);
    const records = difference.rebuild || difference.losses.length > 0 ? await countRecords(pool, registered) : 0;
    const kind = difference.steps.length === 0 ? 'unchanged' : 'changed';
    return {
      report: { kind, change: difference, unreadable, records: difference.rebuild ? records : 0 },
      loses: (difference.losses.length > 0 && records > 0) || unreadable.length > 0,
    };
  }
}

/** Refuses a definition by which a field becomes unique that is not. */
async function refuseDuplicates(
  pool: Pool,
  { app: before, id, generation, distributed }: RegisteredApp,
  app: RegisteredApp['app'],
): Promise<void> {
  const layout = layoutOf(before, id, generation, distributed);
  for (const { column, field } of becomingUnique(before, layoutOf(app, id, generation, distributed))) {
    const take = uniqueValues(column, field);
    const name = quote(layout.form.columns.find((candidate) => candidate.field.id === field.id)?.name as string);
    await pool.begin(async (tx) => {
      const text = `select ${name}, ${quote(keyColumn(layout))} from ${quote(layout.form.name)} where ${name} is not null`;
      await run(tx, `declare read no scroll cursor for ${text}`);
      for (let left = true; left; ) {
        const rows = await rowsOf<[string, string]>(tx, 'fetch 5000 from read');
        for (const [value, key] of rows) take(value, key);
        left = rows.length > 0;
      }
    });
  }
}

/** Unique fields cannot be seen to where the records are spread over several databases. */
function refuseSpreadUnique({ code, fields }: RegisteredApp['app']): void {
  const field = fields.find(({ unique }) => unique);
  if (field === undefined) return;
  throw new Mistake(`${code}: ${field.id} cannot be unique in a register that is spread over several databases`);
}

/** Versions forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 1_000;

/** Walks through a history once, in its order, some versions in each transaction. */
async function forgetVersions(pool: Pool, history: string, before: string): Promise<number> {
  const next = `select record, revision from ${quote(history)}
    where (record, revision) > ($1::bigint, $2::int) and at < $3 order by record, revision limit ${FORGOTTEN_AT_ONCE}`;
  let forgotten = 0;
  for (let after: readonly [string, number] = ['0', 0]; ; ) {
    const some = await rowsOf<[string, number]>(pool, next, [...after, before]);
    await run(
      pool,
      `delete from ${quote(history)} where (record, revision) in (select * from unnest($1::bigint[], $2::int[]))`,
      [arrayText(some.map(([record]) => record)), arrayText(some.map(([, revision]) => revision))],
    );
    forgotten += some.length;
    if (some.length < FORGOTTEN_AT_ONCE) return forgotten;
    after = some.at(-1) as [string, number];
  }
}

async function createApp(tx: Connection, id: number, app: RegisteredApp['app'], source: string): Promise<void> {
  await run(
    tx,
    'insert into apps (id, code, definition, source, version, generation, created_at) values ($1::int, $2, $3, $4, 1, 1, $5)',
    [id, app.code, JSON.stringify(app), source, now()],
  );
  const layout = layoutOf(app, id, 1, await isSpread(tx));
  const statements = [...tableStatements(layout), ...historyStatements(layout), ...indexStatements(layout)];
  for (const statement of statements) await run(tx, statement);
}

async function sourceOf(pool: Pool, { id }: RegisteredApp): Promise<string> {
  const [row] = await rowsOf<[string]>(pool, 'select source from apps where id = $1::int', [id]);
  return row?.[0] as string;
}

async function countRecords(pool: Pool, { app, id, generation, distributed }: RegisteredApp): Promise<number> {
  const { form } = layoutOf(app, id, generation, distributed);
  return Number((await rowsOf<[string]>(pool, `select count(*) from ${quote(form.name)}`))[0]?.[0]);
}

/** Values that the new types of changed fields cannot hold. */
async function unreadableValues(
  pool: Pool,
  registered: RegisteredApp,
  app: RegisteredApp['app'],
  { conversions }: DefinitionChange,
): Promise<Applied['unreadable']> {
  const layout = layoutOf(registered.app, registered.id, registered.generation, registered.distributed);
  const unreadable: Applied['unreadable'][number][] = [];
  for (const { field: id, table: code } of conversions) {
    const fields = code === undefined ? app.fields : (app.tables.find((table) => table.code === code)?.fields ?? []);
    const field = fields.find((candidate) => candidate.id === id);
    const from = code === undefined ? layout.form : layout.tables.find(({ table }) => table.code === code);
    const column = from?.columns.find((candidate) => candidate.field.id === id);
    if (field === undefined || from === undefined || column === undefined) continue;
    const name = quote(column.name);
    let count = 0;
    let example = '';
    await pool.begin(async (tx) => {
      await run(
        tx,
        `declare read no scroll cursor for select ${name} from ${quote(from.name)} where ${name} is not null`,
      );
      for (let left = true; left; ) {
        const rows = await rowsOf<[string]>(tx, 'fetch 5000 from read');
        for (const [value] of rows) {
          if (convert(value, column.field, field) !== null) continue;
          if (count++ === 0) example = value.slice(0, 60);
        }
        left = rows.length > 0;
      }
    });
    if (count > 0) unreadable.push({ field: id, count, example });
  }
  return unreadable;
}
