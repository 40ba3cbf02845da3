// The numbers of primary keys and auto numbers that a transaction gives out (D42).
import { type Counters, countersFrom } from '../source-records.ts';
import type { Connection } from './connection.ts';

export interface CountersOfApps {
  of(appId: number): Counters;
  /** Before the commit; not more often, since its savepoint makes the pair index write to disk. */
  save(): void;
}

/** Counters as of a transaction. */
export function countersOfApps(db: Connection): CountersOfApps {
  const apps = new Map<number, Counters>();
  return {
    of(appId) {
      let counters = apps.get(appId);
      if (counters === undefined) {
        const read = db.prepare('select next from counters where app_id = ? and name = ?').pluck();
        counters = countersFrom((name) => read.get(appId, name) as number | undefined);
        apps.set(appId, counters);
      }
      return counters;
    },
    save() {
      for (const [appId, counters] of apps) saveCounters(db, appId, counters.changed());
    },
  };
}

/** Writes counters, in the transaction of the records that they were counted for. */
export function saveCounters(db: Connection, appId: number, counters: ReadonlyMap<string, number>): void {
  if (counters.size === 0) return;
  const write = db.prepare('insert or replace into counters (app_id, name, next) values (?, ?, ?)');
  for (const [name, count] of counters) write.run(appId, name, count);
}
