// The thread that takes up, when a server starts, what another process left unfinished: builds, renamings, old tables.
import { workerData } from 'node:worker_threads';
import { Mistake } from '../register.ts';
import { AtWork, dropOldTables, finishBuild, pendingBuild, takeOver } from './build.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, connect } from './connection.ts';
import { continueRename, pendingRenames } from './rename.ts';

/** Milliseconds until a build that another process is at work on is looked at again. */
const LOOK_AGAIN = 2_000;

const db = connect((workerData as { readonly dataDir: string }).dataDir, { cacheMiB: 16 });
try {
  dropOldTables(db);
  // A process that is at work may be stopped before it has finished.
  while (!(await resumeBuilds(db))) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
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
      // A load goes on only where its source is at hand; a bulk is of this process, or was dropped when the store was opened.
      if (build === null || build.kind === 'import' || build.kind === 'bulk') continue;
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
