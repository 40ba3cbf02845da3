// Loads records in batches: into an empty app through a new generation whose indexes are made last, else record by record.
import { dirname } from 'node:path';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Build, refuseBeside, refuseOtherBuild, refuseOtherFields } from '../building.ts';
import { type Loaded, type Loader, Mistake } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { BEING_FILLED, beginBuild, finishBuild, pendingBuild, takeOver } from './build.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, writing } from './connection.ts';
import { packRecords } from './load-batch.ts';
import { startLoadThread } from './load-client.ts';
import { recordPutter } from './put.ts';
import { recordTable } from './record-table.ts';
import { continueRename, pendingRenames } from './rename.ts';

const NOTHING: Loaded = { inserted: 0, updated: 0 };

/** A loader for an app; takes up an interrupted load of the same source. */
export function openLoader(db: Connection, appCode: string, userId: string, fingerprint: string): Loader {
  const registered = registeredApp(db, appCode);
  const pending = pendingBuild(db, registered.id);
  if (pending !== null) refuseOtherBuild(pending, fingerprint, appCode);
  if (pending !== null) return freshLoader(db, registered, pending, userId);
  if (!isEmpty(db, registered)) return steadyLoader(db, appCode, userId, fingerprint);
  // Nobody puts a record in between the look and the beginning.
  const begun = writing(db, () =>
    isEmpty(db, registered) ? beginBuild(db, registered, registered.app, fingerprint, 'import') : null,
  );
  if (begun !== null) return freshLoader(db, registered, begun, userId);
  return steadyLoader(db, appCode, userId, fingerprint);
}

function registeredApp(db: Connection, appCode: string): RegisteredApp {
  const registered = catalogReader(db).current().apps.get(appCode);
  if (registered === undefined) throw new Mistake(`there is no app ${appCode}`);
  return registered;
}

/** Whether the app has no records. */
export function isEmpty(db: Connection, { app, id, generation }: RegisteredApp): boolean {
  const { form } = layoutOf(app, id, generation);
  return db.prepare(`select 1 from ${quote(form.name)} limit 1`).get() === undefined;
}

/** Into an empty app: a thread writes while the next batch is read, and nothing is visible before finish. */
function freshLoader(db: Connection, registered: RegisteredApp, build: Build, userId: string): Loader {
  takeOver(db, registered.id);
  const source = db.prepare('select source from apps where id = ?').pluck().get(registered.id) as string;
  const writer = startLoadThread({ dataDir: dirname(db.name), appCode: registered.app.code, userId });
  let writing: Promise<Loaded> = Promise.resolve(NOTHING);
  return {
    position: build.position,
    async put(records, position) {
      const batch = packRecords(records);
      const before = await writing;
      writing = writer.write({ batch, position });
      // Whoever waits for it next gets the error.
      writing.catch(() => {});
      return before;
    },
    async finish(progress) {
      const last = await writing;
      await writer.close();
      await finishBuild(db, registered, { ...build, source }, progress);
      // Names that changed meanwhile.
      for (const id of pendingRenames(db)) continueRename(db, id, () => {});
      return last;
    },
    async stop() {
      const last = await writing;
      await writer.close();
      return last;
    },
  };
}

/** Into an app with records: each batch is visible when it is committed. */
function steadyLoader(db: Connection, appCode: string, userId: string, fingerprint: string): Loader {
  let registered = registeredApp(db, appCode);
  let putter = putterOf(registered);
  const position = db
    .prepare('select position from imports where app_id = ? and fingerprint = ?')
    .pluck()
    .get(registered.id, fingerprint) as number | undefined;
  const beingFilled = db.prepare(BEING_FILLED);
  const note = db.prepare('insert or replace into imports (app_id, fingerprint, position) values (?, ?, ?)');

  function putterOf(app: RegisteredApp) {
    return recordPutter(db, app, recordTable(db, layoutOf(app.app, app.id, app.generation)), userId);
  }

  return {
    position: position ?? 0,
    async put(records, done) {
      return writing(db, () => {
        const current = registeredApp(db, appCode);
        if (current.version !== registered.version) {
          refuseOtherFields(registered.app, current.app);
          registered = current;
          putter = putterOf(current);
        }
        if (beingFilled.get(registered.id) !== undefined) refuseBeside(appCode);
        const loaded = putter.put(records);
        putter.saveCounters();
        note.run(registered.id, fingerprint, done);
        return loaded;
      });
    },
    async finish() {
      db.prepare('delete from imports where app_id = ? and fingerprint = ?').run(registered.id, fingerprint);
      return NOTHING;
    },
    stop: async () => NOTHING,
  };
}
