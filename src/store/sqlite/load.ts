// Loads records in batches: into an empty app through a new generation whose indexes are made last, else record by record.
import { dirname } from 'node:path';
import type { Field } from '../../app/app.ts';
import { autoNumberCount, formatAutoNumber } from '../../fields/auto-number.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { typeOf } from '../../fields/field-types.ts';
import { type Layout, layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Loaded, type Loader, type LoadRecord, Mistake } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { beginBuild, currentNames, finishBuild, pendingBuild, takeOver } from './build.ts';
import { catalogReader } from './catalog.ts';
import { now } from './clock.ts';
import type { Connection } from './connection.ts';
import { startLoadThread } from './load-client.ts';
import { type DerivedRecord, packRecords, putDerived, saveCounters } from './put.ts';
import { deriver, type RecordTable, recordTable } from './record-table.ts';

const NOTHING: Loaded = { inserted: 0, updated: 0 };

/** A loader for an app; takes up an interrupted load of the same source. */
export function openLoader(db: Connection, appCode: string, userId: string, fingerprint: string): Loader {
  const registered = registeredApp(db, appCode);
  const pending = pendingBuild(db, registered.id);
  if (pending !== null && (pending.kind !== 'import' || pending.source !== fingerprint)) {
    throw new Mistake(
      pending.kind === 'import'
        ? `another load of ${appCode} was interrupted; run it again first, or give it up with: daicho reindex ${appCode}`
        : `${appCode} is being rebuilt and was interrupted; finish that first with: daicho reindex ${appCode}`,
    );
  }
  if (pending !== null || isEmpty(db, registered)) return freshLoader(db, registered, userId, fingerprint);
  return steadyLoader(db, appCode, userId, fingerprint);
}

function registeredApp(db: Connection, appCode: string): RegisteredApp {
  const registered = catalogReader(db).current().apps.get(appCode);
  if (registered === undefined) throw new Mistake(`there is no app ${appCode}`);
  return registered;
}

function isEmpty(db: Connection, { app, id, generation }: RegisteredApp): boolean {
  const { form } = layoutOf(app, id, generation);
  return db.prepare(`select 1 from ${quote(form.name)} limit 1`).get() === undefined;
}

/** Into an empty app: a thread writes while the next batch is derived, and nothing is visible before finish. */
function freshLoader(db: Connection, registered: RegisteredApp, userId: string, fingerprint: string): Loader {
  const pending = pendingBuild(db, registered.id);
  if (pending !== null) takeOver(db, registered.id);
  const source = db.prepare('select source from apps where id = ?').pluck().get(registered.id) as string;
  const build = pending ?? beginBuild(db, registered, registered.app, fingerprint, 'import');
  const layout = layoutOf(registered.app, registered.id, build.generation);
  const deriving = recordDeriver(db, registered, layout, userId);
  const writer = startLoadThread({ dataDir: dirname(db.name), appId: registered.id, generation: build.generation });
  let writing: Promise<Loaded> = Promise.resolve(NOTHING);
  function* derivedOf(records: readonly LoadRecord[], at: string) {
    for (const record of records) yield deriving.derive(record, at);
  }

  return {
    position: build.position,
    async put(records, position) {
      const at = now();
      const batch = packRecords(derivedOf(records, at));
      const before = await writing;
      writing = writer.write({ batch, position, counters: deriving.changedCounters() });
      // Whoever waits for it next gets the error.
      writing.catch(() => {});
      return before;
    },
    async finish(progress) {
      const last = await writing;
      await writer.close();
      await finishBuild(db, registered, { ...build, source }, progress);
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
  const note = db.prepare('insert or replace into imports (app_id, fingerprint, position) values (?, ?, ?)');

  function putterOf(app: RegisteredApp) {
    return recordPutter(db, app, recordTable(db, layoutOf(app.app, app.id, app.generation)), userId);
  }

  return {
    position: position ?? 0,
    async put(records, done) {
      return db
        .transaction(() => {
          const current = registeredApp(db, appCode);
          if (current.version !== registered.version) {
            const same =
              JSON.stringify([current.app.fields, current.app.tables]) ===
              JSON.stringify([registered.app.fields, registered.app.tables]);
            if (!same)
              throw new Mistake(`the definition of ${appCode} was changed meanwhile; run the same command again`);
            registered = current;
            putter = putterOf(current);
          }
          const loaded = putter.put(records);
          putter.saveCounters();
          note.run(registered.id, fingerprint, done);
          return loaded;
        })
        .immediate();
    },
    async finish() {
      db.prepare('delete from imports where app_id = ? and fingerprint = ?').run(registered.id, fingerprint);
      return NOTHING;
    },
    stop: async () => NOTHING,
  };
}

interface RecordPutter {
  put(records: readonly LoadRecord[]): Loaded;
  saveCounters(): void;
}

function recordPutter(db: Connection, registered: RegisteredApp, table: RecordTable, userId: string): RecordPutter {
  const deriving = recordDeriver(db, registered, table.layout, userId);
  return {
    put(records) {
      const at = now();
      let inserted = 0;
      for (const record of records) if (putDerived(table, deriving.derive(record, at), deriving.context)) inserted++;
      table.settle();
      return { inserted, updated: records.length - inserted };
    },
    saveCounters: () => saveCounters(db, registered.id, deriving.changedCounters()),
  };
}

interface RecordDeriver {
  readonly context: RenderContext;
  derive(record: LoadRecord, at: string): DerivedRecord;
  /** Counters that changed since they were last asked for: name → next number. */
  changedCounters(): ReadonlyMap<string, number>;
}

/** From records of a source to what is written for them: defaults, numbers and system fields filled in. */
function recordDeriver(db: Connection, registered: RegisteredApp, layout: Layout, userId: string): RecordDeriver {
  const { app, id: appId } = registered;
  const fields = layout.form.columns.map(({ field }) => field);
  const positions = new Map(fields.map((field, position) => [field.id, position]));
  const keyPosition = positions.get(app.primaryKey.id) as number;
  const defaults = fields.map((field) => field.default);
  const numbered = app.fields.flatMap((field, position) => (isNumbered(field) ? [{ field, position }] : []));
  const counters = counterTable(db, appId);
  const context = currentNames(db);
  const derive = deriver(layout, null);
  const tables = layout.tables.map((rows, index) => ({ code: rows.table.code, derive: deriver(layout, index) }));
  const system = app.fields.length;

  return {
    context,
    derive(record, at) {
      const values = [...defaults];
      const given: number[] = [];
      for (const [id, value] of record.values) {
        const position = positions.get(id) as number;
        values[position] = value;
        if (position !== keyPosition) given.push(position);
      }
      values[keyPosition] = record.primaryKey ?? String(counters.take(PRIMARY_KEY));
      if (record.primaryKey !== null && WHOLE.test(record.primaryKey)) {
        counters.passed(PRIMARY_KEY, Number(record.primaryKey));
      }
      for (const { field, position } of numbered) number(field, position, values, at, counters);
      values[system] = userId;
      values[system + 1] = at;
      values[system + 2] = userId;
      values[system + 3] = at;
      const rows = tables.map(({ code, derive: deriveRow }) => {
        return record.tables.get(code)?.map((row) => deriveRow(row, context)) ?? null;
      });
      return { record: derive(values, context), rows, primaryKey: values[keyPosition], given };
    },
    changedCounters: () => counters.changed(),
  };
}

/** Primary keys that the counter of primary keys has to pass. */
const WHOLE = /^[1-9]\d{0,14}$/;

function isNumbered(field: Field): boolean {
  return typeOf(field).filledBy === 'server';
}

/** Gives an auto number where the record brings none; counts on behind one that it brings. */
function number(field: Field, position: number, values: string[], at: string, counters: Counters): void {
  const value = values[position];
  if (!value) values[position] = formatAutoNumber(field, counters.take(field.id), at.slice(0, 10));
  else {
    const count = autoNumberCount(field, value);
    if (count !== null) counters.passed(field.id, count);
  }
}

/** Name of the counter of primary keys (D42); no field ID is empty. */
const PRIMARY_KEY = '';

interface Counters {
  take(name: string): number;
  passed(name: string, count: number): void;
  /** What changed since the last call; it is for the caller to save. */
  changed(): ReadonlyMap<string, number>;
}

/** The next numbers of an app: read when first asked for, then counted here. */
function counterTable(db: Connection, appId: number): Counters {
  const read = db.prepare('select next from counters where app_id = ? and name = ?').pluck();
  const known = new Map<string, number>();
  let changed = new Map<string, number>();
  const next = (name: string) => {
    let count = known.get(name);
    if (count === undefined) {
      count = (read.get(appId, name) as number | undefined) ?? 1;
      known.set(name, count);
    }
    return count;
  };
  const set = (name: string, count: number) => {
    known.set(name, count);
    changed.set(name, count);
  };
  return {
    take(name) {
      const count = next(name);
      set(name, count + 1);
      return count;
    },
    passed(name, count) {
      if (count >= next(name)) set(name, count + 1);
    },
    changed() {
      const result = changed;
      changed = new Map();
      return result;
    },
  };
}
