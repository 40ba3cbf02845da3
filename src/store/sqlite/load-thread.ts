// The thread that writes a load into a generation that nobody reads yet.
import { parentPort, workerData } from 'node:worker_threads';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import type { Loaded } from '../register.ts';
import { currentNames, notePosition } from './build.ts';
import { parseDefinition } from './catalog.ts';
import { beginWriting, connect, pauseWriting } from './connection.ts';
import { putDerived, saveCounters, unpackRecords } from './put.ts';
import { recordTable } from './record-table.ts';

export interface LoadOptions {
  readonly dataDir: string;
  readonly appId: number;
  readonly generation: number;
}

/** To the thread: records to write; null commits what is written and ends it. */
export interface LoadBatch {
  /** As put.ts packs them. */
  readonly batch: Uint8Array<ArrayBuffer>;
  readonly position: number;
  readonly counters: ReadonlyMap<string, number>;
}

export type LoadReply =
  | { readonly kind: 'written'; readonly loaded: Loaded }
  | { readonly kind: 'failed'; readonly error: unknown };

const port = parentPort;
if (port === null) throw new Error('load-thread.ts runs as a worker thread');
const { dataDir, appId, generation } = workerData as LoadOptions;
const db = connect(dataDir, { cacheMiB: 64 });
// Nothing of this is seen before the load is finished, so a commit may reach the disk later.
db.pragma('synchronous = NORMAL');
db.pragma('wal_autocheckpoint = 8000');
const definition = db.prepare('select definition from builds where app_id = ?').pluck().get(appId) as string;
const table = recordTable(db, layoutOf(parseDefinition(definition), appId, generation));
// The pair index takes in more at once than between small updates.
tunePairs({ hashsize: 16_777_216, automerge: 8 });
const context = currentNames(db);

const write = ({ batch, position, counters }: LoadBatch): Loaded => {
  let inserted = 0;
  let updated = 0;
  for (const derived of unpackRecords(batch)) {
    if (putDerived(table, derived, context)) inserted++;
    else updated++;
  }
  table.settle();
  saveCounters(db, appId, counters);
  notePosition(db, appId, position);
  return { inserted, updated };
};

/** The pair index is fast when it takes in much at once, so that several batches share a commit: so many records. */
const COMMIT_EVERY = 16_000;
/** Milliseconds without a batch after which what is written is committed, so that nobody waits for an idle load. */
const COMMIT_WHEN_IDLE = 50;
let uncommitted = 0;
let idle: NodeJS.Timeout | undefined;

function commit(): void {
  clearTimeout(idle);
  if (db.inTransaction) {
    db.exec('commit');
    pauseWriting();
  }
  uncommitted = 0;
}

port.on('message', (batch: LoadBatch | null) => {
  if (batch === null) {
    commit();
    tunePairs({ hashsize: 1_048_576, automerge: 4 });
    db.close();
    port.close();
    return;
  }
  try {
    if (!db.inTransaction) beginWriting(db);
    clearTimeout(idle);
    idle = setTimeout(commit, COMMIT_WHEN_IDLE);
    const loaded = write(batch);
    uncommitted += loaded.inserted + loaded.updated;
    if (uncommitted >= COMMIT_EVERY) commit();
    port.postMessage({ kind: 'written', loaded } satisfies LoadReply);
  } catch (error) {
    port.postMessage({ kind: 'failed', error } satisfies LoadReply);
  }
});

function tunePairs(settings: Readonly<Record<string, number>>): void {
  for (const { pairs } of [table.layout.form, ...table.layout.tables]) {
    if (pairs === null) continue;
    for (const [name, value] of Object.entries(settings)) {
      db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('${name}', ${value})`);
    }
  }
}
