// The thread that takes up, when a server starts, what another process left unfinished: builds, renamings, old tables.
import { workerData } from 'node:worker_threads';
import { Mistake } from '../register.ts';
import { dropOldTables, finishBuild, pendingBuild, takeOver } from './build.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, connect } from './connection.ts';
import { continueRename, pendingRenames } from './rename.ts';

const db = connect((workerData as { readonly dataDir: string }).dataDir, { cacheMiB: 16 });
try {
  dropOldTables(db);
  await resumeBuilds(db);
  for (const userId of pendingRenames(db)) continueRename(db, userId, () => {});
} finally {
  db.close();
}

async function resumeBuilds(db: Connection): Promise<void> {
  for (const registered of [...catalogReader(db).current().apps.values()]) {
    try {
      const build = pendingBuild(db, registered.id);
      // A load goes on only where its source is at hand.
      if (build === null || build.kind === 'import') continue;
      takeOver(db, registered.id);
      await finishBuild(db, registered, build, () => {});
    } catch (error) {
      // A living process is at work on it, or its values need a person's decision.
      if (!(error instanceof Mistake)) throw error;
    }
  }
}
