// The thread that fills an empty app with the edits of one request: in a generation of its tables that nobody reads yet (P07), so
// that all of them are seen at once or none ever, and nobody has to wait for them.
import { parentPort, workerData } from 'node:worker_threads';
import { recordRenderer } from '../../envelope/record.ts';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import type { Build } from '../building.ts';
import type { EditJob, JobResult } from '../changed.ts';
import { now } from '../clock.ts';
import { type RegisteredApp, Unavailable } from '../store.ts';
import { abandonBuild, beginBuild, bulkLayout, dropOldSoon, switchOver } from './build.ts';
import { unpackEdits } from './bulk-pack.ts';
import { catalogReader } from './catalog.ts';
import { beginWriting, type Connection, connect, isUnavailable, pauseWriting, writing } from './connection.ts';
import { countersOfApps } from './counters.ts';
import { recordEditor } from './edit.ts';
import { fileTable } from './files.ts';
import { isEmpty } from './load.ts';
import { tunePairs } from './pair-index.ts';
import { indexDeleted, recordTable } from './record-table.ts';
import { continueRename, pendingRenames } from './rename.ts';
import { createHistory } from './tables.ts';

/** With what the jobs have in common. */
export interface BulkThreadOptions extends Omit<EditJob, 'edit'> {
  readonly dataDir: string;
  /** Name of the bulk in its build. */
  readonly name: string;
}

/** To the thread: edits, or the end of all, which shows what they did or drops it. */
export type BulkRequest =
  /** Edits as bulk-pack.ts has them. */
  { readonly kind: 'edits'; readonly packed: string } | { readonly kind: 'end'; readonly commits: boolean };

/** From the thread: at first whether it can be done this way; then an answer to each request. */
export type BulkReply =
  | { readonly kind: 'begun'; readonly isFit: boolean }
  /** As JSON, which crosses to the other thread at a fraction of the cost of its parts. */
  | { readonly kind: 'results'; readonly results: string }
  | { readonly kind: 'failed'; readonly error: unknown; readonly unavailable: boolean };

/** The pair index is fast when it takes in much at once, so that several batches share a commit: so many edits. */
const COMMIT_EVERY = 16_000;
/** Milliseconds without edits after which what is written is committed, so that nobody waits for an idle bulk. */
const COMMIT_WHEN_IDLE = 50;

const port = parentPort;
if (port === null) throw new Error('bulk-thread.ts runs as a worker thread');
const { dataDir, name, ...job } = workerData as BulkThreadOptions;
const db = connect(dataDir, { cacheMiB: 64 });
const reply = (message: BulkReply) => port.postMessage(message);
const fail = (error: unknown) => {
  reply({ kind: 'failed', error, unavailable: isUnavailable(error) || error instanceof Unavailable });
};
try {
  const filling = begin(db);
  reply({ kind: 'begun', isFit: filling !== null });
  if (filling === null) close();
  else port.on('message', (request: BulkRequest) => answer(filling, request));
} catch (error) {
  fail(error);
  close();
}

function close(): void {
  db.close();
  port?.close();
}

function answer(filling: Filling, request: BulkRequest): void {
  try {
    if (request.kind === 'edits') {
      reply({ kind: 'results', results: JSON.stringify(filling.run(unpackEdits(request.packed, job))) });
      return;
    }
    filling.end(request.commits);
    reply({ kind: 'results', results: '[]' });
  } catch (error) {
    if (db.inTransaction) db.exec('rollback');
    fail(error);
    if (request.kind === 'edits') return;
  }
  tidyUp().finally(close);
}

async function tidyUp(): Promise<void> {
  await dropOldSoon(db);
  // Names that changed meanwhile.
  for (const id of pendingRenames(db)) continueRename(db, id, () => {});
}

interface Filling {
  run(jobs: readonly EditJob[]): readonly JobResult[];
  end(commits: boolean): void;
}

/** Begins the build; null where the app has records or webhooks, or something else is made of it. */
function begin(on: Connection): Filling | null {
  const begun = writing(on, () => {
    const registered = catalogReader(on).current().apps.get(job.appCode);
    if (registered === undefined || registered.version !== job.version || registered.webhooks.length > 0) return null;
    const isBuilding = on.prepare('select 1 from builds where app_id = ?').get(registered.id) !== undefined;
    if (isBuilding || !isEmpty(on, registered)) return null;
    const first = recordTable(on, layoutOf(registered.app, registered.id, registered.generation)).nextPlace();
    const build = beginBuild(on, registered, registered.app, name, 'bulk');
    createHistory(on, bulkLayout(build).history);
    return { registered, build, first };
  });
  return begun === null ? null : fill(on, begun);
}

/** A build that was begun, and the place of its first record. */
interface Begun {
  readonly registered: RegisteredApp;
  readonly build: Build;
  readonly first: number;
}

function fill(on: Connection, { registered, build, first }: Begun): Filling {
  const source = on.prepare('select source from apps where id = ?').pluck().get(registered.id) as string;
  const layout = bulkLayout(build);
  const { history } = layoutOf(build.app, registered.id, build.generation);
  const table = recordTable(on, layout);
  // Nobody else puts records in.
  let place = first;
  // Nothing of it is seen before the end, so that a commit may reach the disk later.
  on.pragma('synchronous = NORMAL');
  on.pragma('wal_autocheckpoint = 8000');
  tunePairs(on, layout, 'load');
  const editor = recordEditor({
    id: registered.id,
    files: fileTable(on),
    table: { ...table, nextPlace: () => place++ },
    render: recordRenderer(build.app),
    tell: null,
    isBeingFilled: () => false,
  });
  // Nobody else counts meanwhile: new records are refused.
  const counters = countersOfApps(on);
  const ofApp = counters.of(registered.id);
  const catalog = catalogReader(on);
  let { users } = catalog.current();
  const names = { userName: (id: string) => users.get(id)?.name ?? '' };
  const run = (each: EditJob, at: string): JobResult => {
    const undoCounting = ofApp.mark();
    const result = editor.run(each, { userId: each.userId, at, counters: ofApp }, names);
    if (result.kind !== 'updated') undoCounting();
    return result;
  };
  let uncommitted = 0;
  let idle: NodeJS.Timeout | undefined;
  const commit = () => {
    clearTimeout(idle);
    if (!on.inTransaction) return;
    on.exec('commit');
    uncommitted = 0;
    pauseWriting();
  };
  /** What goes with the tables when they begin to serve. */
  const show = () => {
    // Whoever is told of what is written since was not told of this.
    if ((catalog.current().apps.get(job.appCode)?.webhooks ?? []).length > 0)
      throw new Unavailable('a webhook was added');
    counters.save();
    on.exec(`insert into ${quote(history)} select * from ${quote(layout.history)}`);
    on.exec(`drop table ${quote(layout.history)}`);
    indexDeleted(on, history);
  };
  return {
    run(jobs) {
      clearTimeout(idle);
      if (!on.inTransaction) beginWriting(on);
      // Names may have changed since the batch before.
      users = catalog.current().users;
      const at = now();
      const results = jobs.map((each) => run(each, at));
      table.settle();
      uncommitted += jobs.length;
      if (uncommitted >= COMMIT_EVERY) commit();
      else idle = setTimeout(commit, COMMIT_WHEN_IDLE);
      return results;
    },
    end(commits) {
      if (!commits) {
        clearTimeout(idle);
        if (on.inTransaction) on.exec('rollback');
        abandonBuild(on, registered, build);
        return;
      }
      commit();
      tunePairs(on, layout, 'updates');
      // The commit that shows it is on the disk with all before it.
      on.pragma('synchronous = FULL');
      switchOver(on, registered, { ...build, source }, () => {}, show);
    },
  };
}
