// The files of the register: which there are, in which app, under which digest the file store has them (D28, P18).
import { fileIdsIn } from '../../fields/file.ts';
import { layoutOf } from '../../sql/layout.ts';
import { type FileReference, referenceQueries } from '../files.ts';
import type { RegisteredApp, StoredFile } from '../store.ts';
import { arrayText, type Connection, type Pool, rowsOf, run } from './connection.ts';
import { lockOf } from './schema.ts';

const COLUMNS = 'id, name, size, type, digest, width, height';
/** References read at a time. */
const PAGE = 5_000;

type FileRow = readonly [string, string, string, string, string, number | null, number | null];

function storedFile([id, name, size, type, digest, width, height]: FileRow): StoredFile {
  return { id, name, size: Number(size), type, digest, width, height };
}

/** Those of the files that an app has. */
export async function findFiles(on: Connection, appId: number, ids: readonly string[]): Promise<readonly StoredFile[]> {
  const rows = await rowsOf<FileRow>(
    on,
    `select ${COLUMNS} from files where app_id = $1::int and id = any($2::text[])`,
    [appId, arrayText(ids)],
  );
  return rows.map(storedFile);
}

/** Files of an app after an ID, in the order of their IDs. */
export async function filesAfter(
  on: Connection,
  appId: number,
  after: string,
  limit: number,
): Promise<readonly StoredFile[]> {
  const text = `select ${COLUMNS} from files where app_id = $1::int and id > $2 order by id limit $3::int`;
  return (await rowsOf<FileRow>(on, text, [appId, after, limit])).map(storedFile);
}

/** Adopts files; in the transaction of the records that hold them. Until its end no sweep looks for contents without files. */
export async function addFiles(
  tx: Connection,
  schema: string,
  appId: number,
  files: readonly StoredFile[],
): Promise<void> {
  if (files.length === 0) return;
  await run(tx, 'select pg_advisory_xact_lock_shared($1::int, 0)', [sweepLock(schema)]);
  const lists = ['id', 'name', 'size', 'type', 'digest', 'width', 'height'] as const;
  await run(
    tx,
    `insert into files (app_id, ${COLUMNS}, used_at) select $1::int, v.*, $2::bigint
     from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::int[], $9::int[]) v`,
    [appId, Date.now(), ...lists.map((member) => arrayText(files.map((file) => file[member])))],
  );
}

/** Those of the files that the app has; noted as used now, so that no sweep forgets them. */
export async function useFiles(tx: Connection, appId: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await rowsOf<[string]>(
    tx,
    'update files set used_at = $1::bigint where app_id = $2::int and id = any($3::text[]) returning id',
    [Date.now(), appId, arrayText(ids)],
  );
  return new Set(rows.map(([id]) => id));
}

/** Everywhere that files are named in an app: its records, its rows, its history. */
export async function* fileReferences(
  pool: Pool,
  { app, id, generation, distributed }: RegisteredApp,
): AsyncGenerator<readonly FileReference[]> {
  const on = await pool.reserve();
  try {
    for (const { text, inHistory } of referenceQueries(layoutOf(app, id, generation, distributed))) {
      await run(on, 'begin');
      await run(on, `declare read no scroll cursor for ${text}`);
      for (let left = true; left; ) {
        const rows = await rowsOf<[string, string]>(on, `fetch ${PAGE} from read`);
        left = rows.length > 0;
        yield rows.flatMap(([place, value]) =>
          fileIdsIn(value).map((fileId) => ({ fileId, place: Number(place), inHistory })),
        );
      }
      await run(on, 'commit');
    }
  } finally {
    await run(on, 'rollback').catch(() => {});
    on.release();
  }
}

/** Forgets those of the files that were not used since a time, in milliseconds since 1970; gives how many. */
export async function forgetFiles(
  pool: Pool,
  appId: number,
  ids: readonly string[],
  unusedSince: number,
): Promise<number> {
  const gone = await rowsOf(
    pool,
    'delete from files where app_id = $1::int and id = any($2::text[]) and used_at < $3::bigint returning 1',
    [appId, arrayText(ids), unusedSince],
  );
  return gone.length;
}

/** Hands those of the digests that no file has to `remove`, while no file can be added. */
export async function whileUnused(
  pool: Pool,
  schema: string,
  digests: readonly string[],
  remove: (digests: readonly string[]) => Promise<void>,
): Promise<void> {
  await pool.begin(async (tx) => {
    await run(tx, 'select pg_advisory_xact_lock($1::int, 0)', [sweepLock(schema)]);
    const used = await rowsOf<[string]>(tx, 'select distinct digest from files where digest = any($1::text[])', [
      arrayText(digests),
    ]);
    const isUsed = new Set(used.map(([digest]) => digest));
    const unused = digests.filter((digest) => !isUsed.has(digest));
    if (unused.length > 0) await remove(unused);
  });
}

function sweepLock(schema: string): number {
  return lockOf(`${schema} sweep`);
}
