// Loads records in batches: into an empty app through a new generation whose indexes are made last, else record by record.
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { refuseOtherBuild, refuseOtherFields } from '../building.ts';
import type { Loaded, Loader, LoadRecord } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { beginBuild, finishBuild, notePosition, pendingBuild } from './build.ts';
import { readCatalog, type VersionedCatalog } from './catalog.ts';
import { passGate } from './changes.ts';
import { type Pool, rowsOf, run } from './connection.ts';
import { putRecords } from './put.ts';
import { recordTable } from './record-table.ts';
import { continueRename, pendingRenames } from './rename.ts';

const NOTHING: Loaded = { inserted: 0, updated: 0 };

/** Ends the lease that a loader has on its app. */
export type Release = () => Promise<void>;

/** A loader for an app; takes up an interrupted load of the same source. It is called with the lease on the app, and ends it. */
export async function openLoader(
  pool: Pool,
  schema: string,
  registered: RegisteredApp,
  { userId, fingerprint, release }: { userId: string; fingerprint: string; release: Release },
): Promise<Loader> {
  const { code } = registered.app;
  const pending = await pendingBuild(pool, registered.id);
  if (pending !== null) refuseOtherBuild(pending, fingerprint, code);
  const isFresh = pending !== null || (await isEmpty(pool, registered));
  const options = { pool, schema, registered, userId, fingerprint };
  const loader = isFresh ? await freshLoader(options) : await steadyLoader(options);
  return {
    position: loader.position,
    put: loader.put,
    finish: (progress) => loader.finish(progress).finally(release),
    stop: () => loader.stop().finally(release),
  };
}

interface Options {
  readonly pool: Pool;
  readonly schema: string;
  readonly registered: RegisteredApp;
  readonly userId: string;
  readonly fingerprint: string;
}

async function isEmpty(pool: Pool, { app, id, generation, distributed }: RegisteredApp): Promise<boolean> {
  const { form } = layoutOf(app, id, generation, distributed);
  return (await rowsOf(pool, `select 1 from ${quote(form.name)} limit 1`)).length === 0;
}

/** Writes one batch while the next is made: `put` gives what the batch before did. */
function oneBehind(
  write: (records: readonly LoadRecord[], position: number) => Promise<Loaded>,
): Pick<Loader, 'put' | 'stop'> {
  let writing: Promise<Loaded> = Promise.resolve(NOTHING);
  return {
    async put(records, position) {
      const before = await writing;
      writing = write(records.map(copied), position);
      // Whoever waits for it next gets the error.
      writing.catch(() => {});
      return before;
    },
    async stop() {
      const last = await writing;
      writing = Promise.resolve(NOTHING);
      return last;
    },
  };
}

/** The caller uses its records again for the next batch. */
function copied(record: LoadRecord): LoadRecord {
  const tables = Array.from(record.tables, ([code, rows]) => [code, rows.map((row) => [...row])] as const);
  return { ...record, values: new Map(record.values), tables: new Map(tables) };
}

/** Into an empty app: nothing is visible before finish. */
async function freshLoader({ pool, schema, registered, userId, fingerprint }: Options): Promise<Loader> {
  const pending = await pendingBuild(pool, registered.id);
  const [row] = await rowsOf<[string]>(pool, 'select source from apps where id = $1::int', [registered.id]);
  const source = row?.[0] as string;
  const build = pending ?? (await beginBuild(pool, schema, registered, registered.app, fingerprint, 'import'));
  const table = recordTable(layoutOf(build.app, registered.id, build.generation, registered.distributed));
  const writer = oneBehind((records, position) =>
    pool.begin(async (tx) => {
      // Nothing of this is seen before the load is finished, so a commit may reach the disk later.
      await run(tx, 'set local synchronous_commit = off');
      const loaded = await putRecords(tx, schema, registered, table, userId, records);
      await notePosition(tx, registered.id, position);
      return loaded;
    }),
  );
  return {
    position: build.position,
    ...writer,
    async finish(progress) {
      const last = await writer.stop();
      await finishBuild(pool, schema, registered, { ...build, source }, progress);
      // Names that changed meanwhile.
      for (const id of await pendingRenames(pool)) await continueRename(pool, schema, id, () => {});
      return last;
    },
  };
}

/** Into an app with records: each batch is visible when it is committed. */
async function steadyLoader({ pool, schema, registered, userId, fingerprint }: Options): Promise<Loader> {
  const { code } = registered.app;
  let current = registered;
  let catalog: VersionedCatalog | null = null;
  let table = recordTable(layoutOf(current.app, current.id, current.generation, current.distributed));
  const [row] = await rowsOf<[string]>(
    pool,
    'select position from imports where app_id = $1::int and fingerprint = $2',
    [registered.id, fingerprint],
  );
  const writer = oneBehind((records, position) =>
    pool.begin(async (tx) => {
      // Tables are switched before this commit or after it.
      await passGate(tx, schema, registered.id);
      catalog = await readCatalog(pool, catalog);
      const newest = catalog.apps.get(code);
      if (newest?.version !== current.version) {
        refuseOtherFields(current.app, newest?.app);
        current = newest as RegisteredApp;
        table = recordTable(layoutOf(current.app, current.id, current.generation, current.distributed));
      }
      const loaded = await putRecords(tx, schema, current, table, userId, records);
      await run(
        tx,
        `insert into imports (app_id, fingerprint, position) values ($1::int, $2, $3::bigint)
         on conflict (app_id, fingerprint) do update set position = excluded.position`,
        [registered.id, fingerprint, position],
      );
      return loaded;
    }),
  );
  return {
    position: Number(row?.[0] ?? 0),
    ...writer,
    async finish() {
      const last = await writer.stop();
      await run(pool, 'delete from imports where app_id = $1::int and fingerprint = $2', [registered.id, fingerprint]);
      return last;
    },
  };
}
