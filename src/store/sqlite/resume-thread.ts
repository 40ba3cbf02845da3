// The thread that takes up, when a server starts, what another process left unfinished: builds, renamings, old tables.
import { workerData } from 'node:worker_threads';
import { isFill } from '../building.ts';
import { Mistake } from '../register.ts';
import { AtWork, dropLeftBulks, dropOldTables, finishBuild, pendingBuild, takeOver } from './build.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, connect } from './connection.ts';
import { continueRename, pendingRenames } from './rename.ts';

/** Milliseconds until a build that another process is at work on is looked at again. */
const LOOK_AGAIN = 2_000;

/** `owner` is what the bulks of this process are named by. */
export interface ResumeOptions {
  readonly dataDir: string;
  readonly owner: string;
}

const { dataDir, owner } = workerData as ResumeOptions;
const db = connect(dataDir, { cacheMiB: 16 });
try {
  dropOldTables(db);
  // A process that is at work may be stopped before it has finished.
  for (;;) {
    dropLeftBulks(db, owner);
    if (await resumeBuilds(db)) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
  }
  for (const userId of pendingRenames(db)) continueRename(db, userId, () => {});
} finally {
  db.close();
}

/** Whether every build is finished, or nobody's but a person's. */
async function resumeBuilds(db: Connection): Promise<boolean> {
  let isFinished = true;
  for (const registered of [...catalogReader(db).current().apps.values()]) {
    try {
      const build = pendingBuild(db, registered.id);
      // A load goes on only where its source is at hand; what is left of the bulks is this process's.
      if (build === null || isFill(build.kind)) continue;
      takeOver(db, registered.id);
      await finishBuild(db, registered, build, () => {});
    } catch (error) {
      // What needs a person's decision waits for it.
      if (error instanceof AtWork) isFinished = false;
      else if (!(error instanceof Mistake)) throw error;
    }
  }
  return isFinished;
}
