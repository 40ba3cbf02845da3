// Loads records in batches: into an empty app through a new generation whose indexes are made last, else record by record.
import type { Field } from '../../app/app.ts';
import type { Values } from '../../envelope/record.ts';
import { autoNumberCount, formatAutoNumber } from '../../fields/auto-number.ts';
import { layoutOf } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Loaded, type Loader, type LoadRecord, Mistake } from '../register.ts';
import type { RegisteredApp } from '../store.ts';
import { beginBuild, currentNames, finishBuild, notePosition, pendingBuild, takeOver } from './build.ts';
import { catalogReader } from './catalog.ts';
import { now } from './clock.ts';
import type { Connection } from './connection.ts';
import { deriver, type RecordTable, recordTable } from './record-table.ts';

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

/** Into an empty app: nothing is visible before finish, and no index slows the loading down. */
function freshLoader(db: Connection, registered: RegisteredApp, userId: string, fingerprint: string): Loader {
  const pending = pendingBuild(db, registered.id);
  if (pending !== null) takeOver(db, registered.id);
  const source = db.prepare('select source from apps where id = ?').pluck().get(registered.id) as string;
  const build = pending ?? beginBuild(db, registered, registered.app, fingerprint, 'import');
  const table = recordTable(db, layoutOf(registered.app, registered.id, build.generation));
  // The pair index takes more at once than it does between small updates, and merges at the end.
  for (const { pairs } of [table.layout.form, ...table.layout.tables]) {
    if (pairs === null) continue;
    db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('hashsize', 16777216)`);
    db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('automerge', 8)`);
  }
  const putter = recordPutter(db, registered, table, userId);
  return {
    position: build.position,
    async put(records, position) {
      return db
        .transaction(() => {
          const loaded = putter.put(records);
          putter.saveCounters();
          notePosition(db, registered.id, position);
          return loaded;
        })
        .immediate();
    },
    async finish(progress) {
      for (const { pairs } of [table.layout.form, ...table.layout.tables]) {
        if (pairs === null) continue;
        db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('hashsize', 1048576)`);
        db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('automerge', 4)`);
      }
      await finishBuild(db, registered, { ...build, source }, progress);
    },
    async stop() {},
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
            const same = JSON.stringify(current.app.fields) === JSON.stringify(registered.app.fields);
            if (!same) throw new Mistake(`the definition of ${appCode} was changed meanwhile; run the same command again`);
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
    },
    async stop() {},
  };
}

interface RecordPutter {
  put(records: readonly LoadRecord[]): Loaded;
  saveCounters(): void;
}

function recordPutter(db: Connection, registered: RegisteredApp, table: RecordTable, userId: string): RecordPutter {
  const { app, id: appId } = registered;
  const fields = table.layout.form.columns.map(({ field }) => field);
  const positions = new Map(fields.map((field, position) => [field.id, position]));
  const keyPosition = positions.get(app.primaryKey.id) as number;
  const defaults = fields.map((field) => field.default);
  const numbered = app.fields.flatMap((field, position) => (field.type === 'auto_number' ? [{ field, position }] : []));
  const counters = counterTable(db, appId);
  const context = currentNames(db);
  const derive = deriver(table.layout, null);
  const tables = table.layout.tables.map((rows, index) => ({ code: rows.table.code, derive: deriver(table.layout, index) }));
  const system = app.fields.length;

  const putRows = (record: LoadRecord, seq: number) => {
    for (let index = 0; index < tables.length; index++) {
      const { code, derive: deriveRow } = tables[index] as (typeof tables)[number];
      const rows = record.tables.get(code);
      if (rows !== undefined) {
        table.putRows(
          index,
          seq,
          rows.map((values) => deriveRow(values, context)),
        );
      }
    }
  };

  const insert = (record: LoadRecord, at: string): boolean => {
    const values = [...defaults];
    for (const [id, value] of record.values) values[positions.get(id) as number] = value;
    values[keyPosition] = record.primaryKey ?? String(counters.take(PRIMARY_KEY));
    if (record.primaryKey !== null && /^[1-9]\d{0,14}$/.test(record.primaryKey)) {
      counters.passed(PRIMARY_KEY, Number(record.primaryKey));
    }
    for (const { field, position } of numbered) number(field, position, values, at, counters);
    values[system] = userId;
    values[system + 1] = at;
    values[system + 2] = userId;
    values[system + 3] = at;
    try {
      const seq = table.insert(derive(values, context), 1);
      if (tables.length > 0) putRows(record, seq);
      return true;
    } catch (error) {
      // The primary key is there already.
      if ((error as { code?: string }).code === 'SQLITE_CONSTRAINT_UNIQUE') return false;
      throw error;
    }
  };

  const update = (record: LoadRecord, at: string) => {
    const stored = table.find(record.primaryKey as string);
    if (stored === null) throw new Error(`record ${record.primaryKey} cannot be put in`);
    const values = [...stored.values];
    for (const [id, value] of record.values) values[positions.get(id) as number] = value;
    values[keyPosition] = stored.values[keyPosition] as string;
    values[system + 2] = userId;
    values[system + 3] = at;
    const before = new Map<string, readonly Values[]>();
    for (let index = 0; index < tables.length; index++) {
      const { code } = tables[index] as (typeof tables)[number];
      if (record.tables.has(code)) before.set(code, table.rows(index, stored.seq));
    }
    table.keepVersion(stored, userId, at, before);
    table.update(stored, values, stored.revision + 1, context);
    putRows(record, stored.seq);
  };

  return {
    put(records) {
      const at = now();
      let inserted = 0;
      for (const record of records) {
        if (insert(record, at)) inserted++;
        else update(record, at);
      }
      return { inserted, updated: records.length - inserted };
    },
    saveCounters: () => counters.save(),
  };
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
  save(): void;
}

/** The next numbers of an app: read when first asked for, kept until saved in the same transaction. */
function counterTable(db: Connection, appId: number): Counters {
  const read = db.prepare('select next from counters where app_id = ? and name = ?').pluck();
  const write = db.prepare('insert or replace into counters (app_id, name, next) values (?, ?, ?)');
  const changed = new Map<string, number>();
  const next = (name: string) => changed.get(name) ?? (read.get(appId, name) as number | undefined) ?? 1;
  return {
    take(name) {
      const count = next(name);
      changed.set(name, count + 1);
      return count;
    },
    passed(name, count) {
      if (count >= next(name)) changed.set(name, count + 1);
    },
    save() {
      for (const [name, count] of changed) write.run(appId, name, count);
      changed.clear();
    },
  };
}
