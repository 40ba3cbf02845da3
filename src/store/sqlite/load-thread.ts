// The thread that writes a load into a generation that nobody reads yet.
import { parentPort, workerData } from 'node:worker_threads';
import { layoutOf } from '../../sql/layout.ts';
import type { Loaded } from '../register.ts';
import { notePosition, pendingBuild } from './build.ts';
import { catalogReader } from './catalog.ts';
import { beginWriting, connect, pauseWriting } from './connection.ts';
import { unpackRecords } from './load-batch.ts';
import { tunePairs } from './pair-index.ts';
import { recordPutter } from './put.ts';
import { recordTable } from './record-table.ts';

export interface LoadOptions {
  readonly dataDir: string;
  readonly appCode: string;
  readonly userId: string;
}

/** To the thread: records to write; null commits what is written and ends it. */
export interface LoadBatch {
  /** As load-batch.ts packs them. */
  readonly batch: Uint8Array<ArrayBuffer>;
  readonly position: number;
}

export type LoadReply =
  | { readonly kind: 'written'; readonly loaded: Loaded }
  | { readonly kind: 'failed'; readonly error: unknown };

const port = parentPort;
if (port === null) throw new Error('load-thread.ts runs as a worker thread');
const { dataDir, appCode, userId } = workerData as LoadOptions;
const db = connect(dataDir, { cacheMiB: 64 });
// Nothing of this is seen before the load is finished, so a commit may reach the disk later.
db.pragma('synchronous = NORMAL');
db.pragma('wal_autocheckpoint = 8000');
const registered = catalogReader(db).current().apps.get(appCode);
const build = registered === undefined ? null : pendingBuild(db, registered.id);
if (registered === undefined || build === null) throw new Error(`no load into ${appCode} has begun`);
const table = recordTable(db, layoutOf(build.app, registered.id, build.generation));
// The pair index takes in more at once than between small updates.
tunePairs(db, table.layout, 'load');
const putter = recordPutter(db, registered, table, userId);
const { id: appId } = registered;

/** The pair index is fast when it takes in much at once, so that several batches share a commit: so many records. */
const COMMIT_EVERY = 16_000;
/** Milliseconds without a batch after which what is written is committed, so that nobody waits for an idle load. */
const COMMIT_WHEN_IDLE = 50;
let uncommitted = 0;
let idle: NodeJS.Timeout | undefined;

function commit(): void {
  clearTimeout(idle);
  if (db.inTransaction) {
    putter.saveCounters();
    db.exec('commit');
    pauseWriting();
  }
  uncommitted = 0;
}

port.on('message', (batch: LoadBatch | null) => {
  if (batch === null) {
    commit();
    tunePairs(db, table.layout, 'updates');
    db.close();
    port.close();
    return;
  }
  try {
    if (!db.inTransaction) beginWriting(db);
    clearTimeout(idle);
    idle = setTimeout(commit, COMMIT_WHEN_IDLE);
    const loaded = putter.put(unpackRecords(batch.batch));
    notePosition(db, appId, batch.position);
    uncommitted += loaded.inserted + loaded.updated;
    if (uncommitted >= COMMIT_EVERY) commit();
    port.postMessage({ kind: 'written', loaded } satisfies LoadReply);
  } catch (error) {
    // Back to the last commit, whose position is noted with it.
    if (db.inTransaction) db.exec('rollback');
    port.postMessage({ kind: 'failed', error } satisfies LoadReply);
  }
});
