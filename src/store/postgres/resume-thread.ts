// The thread that takes up, while a server runs, what another process left unfinished: builds, renamings, old tables.
import { workerData } from 'node:worker_threads';
import { Mistake } from '../register.ts';
import { dropOldTables, finishBuild, pendingBuild } from './build.ts';
import { readCatalog } from './catalog.ts';
import { openPool, type Place, type Pool } from './connection.ts';
import { withLease } from './lease.ts';
import { continueRename, pendingRenames } from './rename.ts';

const place = workerData as Place;
const pool = openPool(place, { max: 4, timeout: 0 });
try {
  await dropOldTables(pool);
  await resumeBuilds(pool);
  for (const userId of await pendingRenames(pool)) {
    await ifNobodyElse(() =>
      withLease(pool, place.schema, 'renames', () => continueRename(pool, place.schema, userId, () => {})),
    );
  }
} finally {
  await pool.end({ timeout: 5 });
}

async function resumeBuilds(on: Pool): Promise<void> {
  for (const { id, app } of (await readCatalog(on)).apps.values()) {
    await ifNobodyElse(() =>
      withLease(on, place.schema, id, async () => {
        const build = await pendingBuild(on, id);
        const registered = (await readCatalog(on)).apps.get(app.code);
        // A load goes on only where its source is at hand.
        if (build === null || build.kind === 'import' || registered === undefined) return;
        await finishBuild(on, place.schema, registered, build, () => {});
      }),
    );
  }
}

/** Who holds the lease does the work; what needs a person's decision waits for it. */
async function ifNobodyElse(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
  }
}
