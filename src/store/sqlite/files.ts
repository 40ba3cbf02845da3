// The files of the register: which there are, in which app, under which digest the file store has them (D28, P18).
import { fileIdsIn } from '../../fields/file.ts';
import { layoutOf } from '../../sql/layout.ts';
import { type FileReference, referenceQueries } from '../files.ts';
import type { RegisteredApp, StoredFile } from '../store.ts';
import { beginWriting, type Connection, pauseWriting, type Statement, writing } from './connection.ts';

const COLUMNS = 'id, name, size, type, digest, width, height';
/** References looked at between two breaths of the event loop. */
const PAGE = 5_000;

export interface FileTable {
  find(appId: number, ids: readonly string[]): ReadonlyMap<string, StoredFile>;
  /** Adopts files; in the transaction of the records that hold them. */
  add(appId: number, files: readonly StoredFile[]): void;
  /** Those of the files that the app has; noted as used now, so that no sweep forgets them. */
  use(appId: number, ids: readonly string[]): ReadonlySet<string>;
}

/** The files on a connection; statements are prepared when first used. */
export function fileTable(db: Connection): FileTable {
  let find: Statement | null = null;
  let add: Statement | null = null;
  let use: Statement | null = null;
  return {
    find(appId, ids) {
      if (ids.length === 0) return new Map();
      find ??= db.prepare(`select ${COLUMNS} from files where app_id = ? and id = ?`);
      const found = ids.map((id) => find?.get(appId, id) as StoredFile | undefined);
      return new Map(found.flatMap((file) => (file === undefined ? [] : [[file.id, file]])));
    },
    add(appId, files) {
      if (files.length === 0) return;
      add ??= db.prepare(`insert into files (app_id, ${COLUMNS}, used_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
      for (const { id, name, size, type, digest, width, height } of files) {
        add.run(appId, id, name, size, type, digest, width, height, Date.now());
      }
    },
    use(appId, ids) {
      if (ids.length === 0) return new Set();
      use ??= db.prepare('update files set used_at = ? where app_id = ? and id = ?');
      return new Set(ids.filter((id) => use?.run(Date.now(), appId, id).changes === 1));
    },
  };
}

/** Files of an app after an ID, in the order of their IDs. */
export function filesAfter(db: Connection, appId: number, after: string, limit: number): readonly StoredFile[] {
  const text = `select ${COLUMNS} from files where app_id = ? and id > ? order by id limit ?`;
  return db.prepare(text).all(appId, after, limit) as StoredFile[];
}

/** Everywhere that files are named in an app: its records, its rows, its history. */
export function* fileReferences(
  db: Connection,
  { app, id, generation }: RegisteredApp,
): Generator<readonly FileReference[]> {
  let page: FileReference[] = [];
  for (const { text, inHistory } of referenceQueries(layoutOf(app, id, generation))) {
    const rows = db.prepare(text).raw().iterate() as Iterable<[number, string]>;
    for (const [place, value] of rows) {
      for (const fileId of fileIdsIn(value)) page.push({ fileId, place, inHistory });
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
  }
  yield page;
}

/** Forgets those of the files that were not used since a time, in milliseconds since 1970; gives how many. */
export function forgetFiles(db: Connection, appId: number, ids: readonly string[], unusedSince: number): number {
  const forget = db.prepare('delete from files where app_id = ? and id = ? and used_at < ?');
  return writing(db, () => ids.reduce((sum, id) => sum + forget.run(appId, id, unusedSince).changes, 0));
}

/** Hands those of the digests that no file has to `remove`, while no file can be added. */
export async function whileUnused(
  db: Connection,
  digests: readonly string[],
  remove: (digests: readonly string[]) => Promise<void>,
): Promise<void> {
  const isUsed = db.prepare('select 1 from files where digest = ? limit 1');
  beginWriting(db);
  try {
    const unused = digests.filter((digest) => isUsed.get(digest) === undefined);
    if (unused.length === 0) return;
    await remove(unused);
  } finally {
    db.exec('rollback');
  }
  pauseWriting();
}
