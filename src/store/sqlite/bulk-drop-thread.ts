// The thread that drops what a bulk put in which could not be ended: as soon as the database can be written again.
import { workerData } from 'node:worker_threads';
import { dropBulks } from './build.ts';
import { connect, isUnavailable } from './connection.ts';

export interface BulkDropOptions {
  readonly dataDir: string;
  /** Name of the bulk in its build. */
  readonly name: string;
}

/** Milliseconds between two attempts. */
const TRY_AGAIN = 1_000;

const { dataDir, name } = workerData as BulkDropOptions;
for (let isDropped = false; !isDropped; ) {
  try {
    const db = connect(dataDir, { cacheMiB: 16 });
    try {
      dropBulks(db, (source) => source === name);
    } finally {
      db.close();
    }
    isDropped = true;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN));
  }
}
