// A register that moves from one database to another and back: everything is there, byte by byte; what stops a move; what it finds.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type App, FIELD_TYPES, type FieldTypeName } from '../src/app/app.ts';
import { fieldTypes } from '../src/fields/field-types.ts';
import { openFileStore } from '../src/files/file-stores.ts';
import { authenticate } from '../src/operations/authenticate.ts';
import { type MoveReport, moveRegister } from '../src/operations/move-register.ts';
import { sideBySide } from '../src/operations/side-by-side.ts';
import type { MoveTarget } from '../src/store/move.ts';
import type { Register } from '../src/store/register.ts';
import { connect, databaseFile } from '../src/store/sqlite/connection.ts';
import type { Store } from '../src/store/store.ts';
import { appIn, find, update } from './contract/asking.ts';
import { type FreshDatabase, freshDatabase } from './harness/database.ts';
import { engineAt, flagsFor, opened } from './harness/fresh-register.ts';
import { BIN, daicho, environment, temporaryFolder } from './harness/run-daicho.ts';
import { appOf, NO_S3, putRecords, type TestRecord } from './harness/running.ts';

const QUIET = { allowDataLoss: false, dryRun: false, progress: () => {} };

/** Values that each type is tried with; '' is tried of all. */
const VALUES: Readonly<Record<FieldTypeName, readonly string[]>> = {
  id: [],
  text: ['京都市', `"{NULL}" \\N\t\\\\, 'é' 𠮷 \u0001`, '長い文'.repeat(1_500), 'NULL'],
  text_area: ['赤い車\r\n青い空', '\\', 'ｶﾅ ＡＢＣ'],
  date: ['2024-02-29', '1999-12-31'],
  datetime: ['2024-02-29 23:59:59', '2030-01-01 00:00:00'],
  time: ['00:00:00', '23:59:59'],
  number: ['-0.5', '123456789012345678901234567890', '0', '100'],
  file: [],
  image: [],
  dropdown: ['新規', '完了'],
  checkbox: ['甲,乙', '乙'],
  radio: ['新規'],
  list: ['甲', '乙,甲'],
  concatenation: ['東京-001', '-'],
  calculation: ['12', '十二'],
  auto_number: [],
};
const CHOICES: Partial<Record<FieldTypeName, string>> = {
  ...{ dropdown: '[新規, 完了]', radio: '[新規, 完了]', checkbox: '[甲, 乙]', list: '[甲, 乙]' },
};

/** A field of every type with every search method, in the form or in its table. */
function fieldLines(prefix: string): string {
  const lines = FIELD_TYPES.filter((type) => type !== 'id').flatMap((type) =>
    ['hidden' as const, ...fieldTypes[type].searches].map((search) => {
      const choices = CHOICES[type] === undefined ? '' : `, choices: ${CHOICES[type]}`;
      const format = type === 'auto_number' && search === 'exact' ? ', format: "N-{0000}"' : '';
      return `{ id: ${prefix}${type}_${search}, type: ${type}, search: ${search}${choices}${format} }`;
    }),
  );
  return lines.map((line) => `  - ${line}\n`).join('');
}

const EVERYTHING = `code: EVERYTHING
name: すべて
recordsKey: all
fold: true
fields:
  - { id: e_primarykey, type: id, search: prefix }
${fieldLines('')}tables:
  - code: rows
    fields:
${fieldLines('r_')
  .replaceAll('  - ', '      - ')
  .split('\n')
  .filter((line) => !line.includes('auto_number'))
  .join('\n')}
  - { code: notes, fields: [{ id: note, type: text, search: partial }] }
system:
  pms_i_usr: { search: exact }
  pms_u_ymd: { search: range }
`;
const SIMPLE = `code: SIMPLE
state: maintenance
fields: [{ id: s_primarykey, type: id }, { id: word, type: text, search: partial }]
`;
const RECORDS = 60;
const KEYS = { admin: 'key of admin', sato: 'key of sato' };
const digest = (key: string) => createHash('sha256').update(key).digest();

/** The nth of an app's records, each value of each type now and then. */
function recordOf(app: App, n: number): TestRecord {
  const sampleOf = (type: FieldTypeName, position: number) => {
    const values = ['', ...VALUES[type]];
    return values[(n + position) % values.length] as string;
  };
  const valuesOf = (fields: App['fields'], prefix: string) =>
    fields.flatMap(({ id, type }, position): [string, string][] =>
      id.startsWith(prefix) && type in VALUES && type !== 'id' && type !== 'auto_number'
        ? [[id, sampleOf(type as FieldTypeName, position)]]
        : [],
    );
  const [rows] = app.tables;
  const row = (shift: number) => Object.fromEntries(valuesOf(rows?.fields ?? [], 'r_').slice(shift));
  return {
    ...Object.fromEntries(valuesOf(app.fields, '')),
    ...(n % 7 === 0 ? { e_primarykey: `K-${n}` } : {}),
    ...(n % 3 === 0 ? {} : { rows: Array.from({ length: n % 4 }, (_, shift) => row(shift)) }),
    ...(n % 5 === 0 ? { notes: [{ note: `覚書 ${n}` }] } : {}),
  };
}

/** Fills a register with all that there is to move. */
async function fill(register: Register, store: Store): Promise<void> {
  for (const [id, name] of Object.entries({ admin: '管理者', sato: '佐藤', 'u@x-1': 'O\'Hara "x"' })) {
    await register.addUser({ id, name, lang: id === 'sato' ? 'ja' : 'en' });
  }
  for (const yaml of [EVERYTHING, SIMPLE]) {
    const { app, source } = appOf(yaml);
    await register.apply(app, source, QUIET);
    await register.grant(app.code, 'admin', { update: true, edit: true, admin: true });
  }
  await register.grant('EVERYTHING', 'sato', { update: true, edit: false, admin: false });
  for (const [user, key] of Object.entries(KEYS)) await register.addKey('EVERYTHING', user, digest(key), null);
  await register.addKey('SIMPLE', 'admin', digest('simple'), Date.now() + 1e9);
  const revoked = await register.addKey('SIMPLE', 'admin', digest('revoked'), null);
  await register.revokeKey(revoked);
  await register.setWebApi(true);

  const { app } = appOf(EVERYTHING);
  const records = Array.from({ length: RECORDS }, (_, n) => recordOf(app, n));
  await putRecords(register, 'EVERYTHING', records, 'sato');
  await putRecords(register, 'SIMPLE', [{ word: '一' }, { word: '二' }, { s_primarykey: '41', word: '三' }], 'admin');
  // Rows that are replaced, and values that are updated more than once, make history.
  await putRecords(register, 'EVERYTHING', [{ e_primarykey: 'K-7', notes: [{ note: '別' }], rows: [] }], 'u@x-1');
  for (const turn of ['一', '二', '三']) {
    for (const key of ['K-0', 'K-14', '3']) {
      const updated = await update(store, 'EVERYTHING', { e_primarykey: key, text_partial: `第${turn}版` }, 'admin');
      assert.equal(updated.kind, 'updated', key);
    }
  }
}

/** Every search that the values of the app's records suggest: what was asked, and the bytes that were found. */
async function searches(store: Store): Promise<Map<string, string>> {
  const { app } = appIn(store, 'EVERYTHING');
  const asked: [string, object, object][] = [['SIMPLE', {}, { revision: true }]];
  for (const tablecode of ['', 'rows', 'notes']) {
    asked.push(['EVERYTHING', {}, { tablecode, revision: true }], ['EVERYTHING', {}, { tablecode, limit: 7 }]);
  }
  const suggested = ({ id, type, search }: App['fields'][number]) => {
    if (search === 'hidden' || !(type in VALUES)) return [];
    const values = type === 'auto_number' || type === 'id' ? ['1', 'N-0003', 'K-'] : VALUES[type as FieldTypeName];
    return values.flatMap((value) => {
      const part = search === 'partial' ? value.slice(0, 4) : value.slice(0, 900);
      return search === 'range' ? [{ [id]: part }, { [`${id}_to`]: part }] : [{ [id]: part }];
    });
  };
  for (const field of app.fields) for (const param of suggested(field)) asked.push(['EVERYTHING', param, {}]);
  for (const { code, fields } of app.tables) {
    for (const field of fields)
      for (const param of suggested(field)) asked.push(['EVERYTHING', { [code]: param }, { tablecode: code }]);
  }
  asked.push(['EVERYTHING', { pms_i_usr: 'sato' }, {}], ['EVERYTHING', { pms_u_ymd: '2020-01-01' }, {}]);
  asked.push(['EVERYTHING', { text_partial: '版', number_range: '0', date_range: '2000-01-01' }, {}]);
  const found = new Map<string, string>();
  for (const [code, param, options] of asked) {
    const answer = await find(store, code, param, options);
    const pages: Uint8Array[] = answer.kind === 'page' ? [answer.records] : [];
    if (answer.kind === 'stream') for await (const page of answer.pages) pages.push(page);
    const next = answer.kind === 'page' ? answer.next : null;
    found.set(JSON.stringify([code, param, options]), `${next} ${Buffer.concat(pages).toString('latin1')}`);
  }
  return found;
}

/** The moments at which records were put in and updated differ. */
const withoutTimes = (found: ReadonlyMap<string, string>) =>
  [...found].map(([asked, bytes]) => [asked, bytes.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'then')]);

/** A file store of which nothing is asked. */
const NO_FILES = await openFileStore({ ...NO_S3, filesDir: '/dev/null' });

async function move(from: string, to: string, onTarget: (target: MoveTarget) => MoveTarget = (target) => target) {
  const [source, engine] = [await (await engineAt(from)).openSource(), await engineAt(to)];
  try {
    return await moveRegister(source, async (of) => onTarget(await engine.openTarget(of)), {
      ...{ from, begin: () => {}, progress: () => {}, files: { from: NO_FILES, to: NO_FILES } },
    });
  } finally {
    await source.close();
  }
}

const runMove = (from: string, to: string, ...more: string[]) =>
  daicho(['move', '--to', to, ...flagsFor(from), ...more]);

/** A folder with a register of one app. */
async function smallRegister(t: TestContext, records = 3_000): Promise<string> {
  const folder = join(temporaryFolder(t), 'data');
  await opened(folder, async (register, store) => {
    const { app, source } = appOf(
      'code: A\nfields: [{ id: a_primarykey, type: id }, { id: t, type: text, search: partial }, { id: n, type: text, search: exact }]\n' +
        'tables: [{ code: lines, fields: [{ id: p, type: text, search: partial }] }]\n',
    );
    await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
    await register.apply(app, source, QUIET);
    const some = Array.from({ length: records }, (_, n) => ({ t: `言葉 ${n}`, lines: n % 3 ? [] : [{ p: `行${n}` }] }));
    await putRecords(register, 'A', some, 'sato');
    for (const key of ['1', '2', '3']) await update(store, 'A', { a_primarykey: key, t: '新しい' });
  });
  return folder;
}

/** What a register answers to everything, and that nothing is wrong with it. */
async function contentOf(place: string): Promise<unknown> {
  const source = await (await engineAt(place)).openSource();
  await source.look();
  const catalog = await source.catalog();
  const versions = await source.versions(1, { place: 0, revision: 0 }, 1e6);
  const records = await source.records(1, { place: 0 }, 1e6);
  await source.close();
  await opened(place, async (register) => assert.deepEqual(await register.check(['A'], () => {}), []));
  return { catalog, versions, records };
}

describe('to PostgreSQL and back', { timeout: 300_000 }, () => {
  let database: FreshDatabase;
  let parent: string;
  let folder: string;
  let back: string;
  const reports: MoveReport[] = [];
  before(async () => {
    database = await freshDatabase();
    parent = mkdtempSync(join(tmpdir(), 'daicho-test-'));
    [folder, back] = [join(parent, 'first'), join(parent, 'second')];
    await opened(folder, fill);
    reports.push(await move(folder, database.url), await move(database.url, back));
  });
  after(async () => {
    await database.drop();
    rmSync(parent, { recursive: true });
  });
  const places = () => [folder, database.url, back];
  const everywhere = <T>(work: (register: Register, store: Store) => Promise<T>) =>
    Promise.all(places().map((place) => opened(place, work)));

  test('both are verified, with the number of everything', () => {
    for (const report of reports) {
      assert.deepEqual(
        { ...report, seconds: 0 },
        {
          ...{
            apps: 2,
            records: RECORDS + 3,
            versions: 10,
            files: 0,
            seconds: 0,
            verified: true,
            different: 0,
            differences: [],
          },
        },
      );
    }
  });

  test('every search finds the same bytes', async () => {
    const [first, ...others] = await everywhere((_, store) => searches(store));
    assert.ok((first?.size ?? 0) > 150);
    for (const other of others) assert.deepEqual(other, first);
  });

  test('the catalog is the same: option, users, rights, keys, sources, versions', async () => {
    const [first, ...others] = await everywhere(async (register) => {
      const { users, webApi, apps } = register.catalog();
      const seen = [...apps.values()].map(({ id, version, app, access }) => [id, version, app, access]);
      const keys = [await register.keys('EVERYTHING'), await register.keys('SIMPLE')];
      const sources = [await register.source('EVERYTHING'), await register.source('SIMPLE')];
      return { users: [...users].sort(), webApi, seen, keys, sources };
    });
    assert.equal(first?.keys.flat().length, 4);
    for (const other of others) assert.deepEqual(other, first);
  });

  test('the history is the same', async () => {
    const text = 'select record, revision, user_id, at, version from daicho.app_1_history order by 1, 2';
    const inDatabase = (await database.query(text)).map(([place, ...rest]) => [Number(place), ...rest]);
    assert.equal(inDatabase.length, 10);
    for (const place of [folder, back]) {
      const db = connect(place, { readonly: true });
      assert.deepEqual(db.prepare(text.replace('daicho.', '')).raw().all(), inDatabase);
      db.close();
    }
  });

  test('keys open their apps, those that are revoked do not', async () => {
    await everywhere(async (_, store) => {
      const open = (appcode: string, appkey: string) =>
        authenticate(store, new Map(Object.entries({ appcode, appkey })), 'use', {
          lang: 'ja',
          problems: [],
          uploads: [],
        }).caller.id;
      for (const [user, key] of Object.entries(KEYS)) assert.equal(open('EVERYTHING', key), user);
      assert.equal(open('SIMPLE', 'simple'), 'admin');
      assert.throws(() => open('SIMPLE', 'revoked'));
    });
  });

  test('check finds nothing', async () => {
    for (const problems of await everywhere((register) => register.check(['EVERYTHING', 'SIMPLE'], () => {}))) {
      assert.deepEqual(problems, []);
    }
  });

  test('the next primary key, auto number, place and revision go on where they were', async () => {
    const { app } = appOf(EVERYTHING);
    const [first, ...others] = await everywhere(async (register, store) => {
      await putRecords(register, 'EVERYTHING', [recordOf(app, 1), recordOf(app, 2)], 'sato');
      await putRecords(register, 'SIMPLE', [{ word: '次' }], 'admin');
      await update(store, 'EVERYTHING', { e_primarykey: 'K-14', text_partial: '第四版' }, 'sato');
      assert.deepEqual(await register.check(['EVERYTHING', 'SIMPLE'], () => {}), []);
      return withoutTimes(await searches(store));
    });
    assert.match(first?.[0]?.[1] ?? '', /"s_primarykey":\{"type":"id","value":"42"\}/);
    for (const other of others) assert.deepEqual(other, first);
  });
});

describe('a move that is killed', { timeout: 300_000 }, () => {
  /** What a target has at the moments when it is killed: a note, some records, an index. */
  type State = { readonly note: boolean; readonly records: number; readonly indexes: number };
  const RECORDS_MOVED = 18_000;
  const MOMENTS: readonly ((state: State) => boolean)[] = [
    ({ note }) => note,
    ({ records }) => records > 0,
    ({ records }) => records === RECORDS_MOVED,
    ({ indexes }) => indexes > 0,
  ];

  /** Kills a move at each moment, then runs it to its end; gives how many were killed. */
  async function killAndFinish(from: string, to: string, look: () => Promise<State | null>): Promise<number> {
    let killed = 0;
    for (const isMoment of MOMENTS) {
      const child = spawn(process.execPath, [BIN, 'move', '--to', to, ...flagsFor(from)], {
        env: environment(),
        stdio: 'ignore',
      });
      const closed = once(child, 'close');
      for (let isOver = false; !isOver && child.exitCode === null; await sleep(3)) {
        const state = await look();
        isOver = state !== null && isMoment(state);
      }
      child.kill('SIGKILL');
      await closed;
      // The last moments are short: it may have come to its end before.
      if (child.signalCode === null) {
        assert.equal(child.exitCode, 0);
        return killed;
      }
      killed++;
      const engine = await engineAt(to);
      for (const open of [engine.openRegister, engine.openStore]) {
        await assert.rejects(
          async () => open(),
          /^Mistake: it is not finished: it is being filled from .+; finish it by running the same command again$/,
        );
      }
    }
    const { code, out, err } = await runMove(from, to);
    assert.deepEqual([code, out.slice(0, 5)], [0, 'Moved'], err);
    return killed;
  }

  test('goes on and ends right, into PostgreSQL', async (t) => {
    const folder = await smallRegister(t, RECORDS_MOVED);
    const database = await freshDatabase();
    t.after(() => database.drop());
    const numbers = async (text: string) =>
      (await database.query(text).catch(() => [[0]])).map(([value]) => Number(value));
    const killed = await killAndFinish(folder, database.url, async () => ({
      note: (await numbers(`select count(*) from settings where name = 'move'`))[0] === 1,
      records: (await numbers('select count(*) from app_1_1'))[0] ?? 0,
      indexes: (await numbers(`select count(*) from pg_indexes where indexname like 'app_1_1_i%'`))[0] ?? 0,
    }));
    assert.ok(killed >= 2, String(killed));
    assert.deepEqual(await contentOf(database.url), await contentOf(folder));
  });

  test('goes on and ends right, into a folder', async (t) => {
    const folder = await smallRegister(t, RECORDS_MOVED);
    const to = join(temporaryFolder(t), 'to');
    const killed = await killAndFinish(folder, to, async () => {
      if (!existsSync(databaseFile(to))) return null;
      const db = connect(to, { readonly: true });
      try {
        const count = (text: string) => db.prepare(text).pluck().get() as number;
        return {
          note: count(`select count(*) from settings where name = 'move'`) === 1,
          records: count('select count(*) from app_1_1'),
          indexes: count(`select count(*) from sqlite_schema where name like 'app\\_1\\_1\\_i%' escape '\\'`),
        };
      } catch {
        return null;
      } finally {
        db.close();
      }
    });
    assert.ok(killed >= 2, String(killed));
    assert.deepEqual(await contentOf(to), await contentOf(folder));
  });

  test('two at once: the second is refused', async (t) => {
    const folder = await smallRegister(t, 10);
    const database = await freshDatabase();
    t.after(() => database.drop());
    await move(folder, database.url, (target) => ({
      ...target,
      async complete(progress) {
        await assert.rejects(move(folder, database.url), /another process is moving a register there/);
        await target.complete(progress);
      },
    }));
  });
});

describe('what is changed meanwhile', { timeout: 120_000 }, () => {
  for (const name of ['into PostgreSQL', 'into a folder', 'from PostgreSQL']) {
    test(`is found, said by primary key, and put right by the next run, ${name}`, async (t) => {
      let from = await smallRegister(t);
      let to = join(temporaryFolder(t), 'to');
      const database = await freshDatabase();
      t.after(() => database.drop());
      if (name === 'into PostgreSQL') to = database.url;
      if (name === 'from PostgreSQL') {
        await move(from, database.url);
        from = database.url;
      }
      const report = await move(from, to, (target) => ({
        ...target,
        async complete(progress) {
          await target.complete(progress);
          await opened(from, async (register, store) => {
            await update(store, 'A', { a_primarykey: '2000', t: '変わった' });
            await putRecords(register, 'A', [{ t: '後から' }], 'sato');
            await register.changeUser('sato', { name: '佐藤花子' }, () => {});
          });
        },
      }));
      assert.equal(report.verified, false);
      assert.deepEqual(
        report.differences.map(({ app, primaryKey, message }) => [app, primaryKey, message]),
        [
          ['', null, 'the users have changed'],
          ['A', null, 'numbers have been given out'],
          ['A', '2000', 'record 2000 is another in the copy'],
          ['A', '3001', 'record 3001 is missing in the copy'],
          ['A', '2000', 'version 1 of record 2000 is missing in the copy'],
        ],
      );
      // Also what should not be there, or is another definition by now.
      await opened(from, async (register, store) => {
        await update(store, 'A', { a_primarykey: '1', t: 'もう一度' });
        const added = appOf('code: B\nfields: [{ id: b_primarykey, type: id }]\n');
        await register.apply(added.app, added.source, QUIET);
      });
      const ran = await runMove(from, to, '--json');
      assert.equal(ran.code, 0, ran.err);
      assert.deepEqual(JSON.parse(ran.out).verified, true);
      assert.deepEqual(await contentOf(to), await contentOf(from));
    });
  }

  test('on the command line: the differences, what to do, exit code 1, and no register yet', async (t) => {
    const folder = await smallRegister(t, 10);
    const to = join(temporaryFolder(t), 'to');
    await move(folder, to, (target) => ({ ...target, finish: async () => {} }));
    const db = connect(to);
    t.after(() => db.close());
    // What is written comes out as something else.
    db.exec(`delete from app_1_1 where pms_seq in (5, 6); delete from app_1_history where record = 2`);
    db.exec(`create trigger another after insert on app_1_1 begin
      update app_1_1 set t = 'another' where pms_seq = new.pms_seq; end`);
    const differs = await runMove(folder, to);
    assert.deepEqual([differs.code, differs.err], [1, '']);
    assert.match(
      differs.out,
      /^A: record 5 is another in the copy\nA: record 6 is another in the copy\nCopied 1 apps, 10 records, 3 versions .*: 2 differences\.\n.* run the same command again\.\n$/,
    );
    assert.match((await daicho(['check', ...flagsFor(to)])).err, /is not finished/);
    db.exec('drop trigger another');
    const ran = await runMove(folder, to);
    assert.deepEqual([ran.code, ran.err], [0, '']);
    assert.match(ran.out, /^Moved to the data folder .*to and verified: 1 apps, 10 records, 3 versions in the history/);
    assert.deepEqual(await contentOf(to), await contentOf(folder));
  });

  test('a definition that was changed between two runs is copied anew', async (t) => {
    const folder = await smallRegister(t, 200);
    const database = await freshDatabase();
    t.after(() => database.drop());
    for (const to of [database.url, join(temporaryFolder(t), 'to')]) {
      await move(folder, to, (target) => ({ ...target, finish: async () => {} }));
      await opened(folder, async (register) => {
        const changed = (await register.source('A')).replace('search: partial }]\n', 'search: exact }]\n');
        const { app, source } = appOf(changed.includes('exact') ? changed : changed.replace('partial', 'suffix'));
        await register.apply(app, source, QUIET);
      });
      assert.equal((await move(folder, to)).verified, true);
      assert.deepEqual(await contentOf(to), await contentOf(folder));
    }
  });
});

describe('refusals: one line, nothing changed', { timeout: 120_000 }, () => {
  test('the target has a register', async (t) => {
    const folder = await smallRegister(t, 5);
    const other = await smallRegister(t, 7);
    const database = await freshDatabase();
    t.after(() => database.drop());
    await move(other, database.url);
    for (const to of [other, database.url, folder]) {
      const before = await contentOf(to);
      const { code, out, err } = await runMove(folder, to);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /^daicho: cannot open the (?:data folder|database) \S+: there is a register already; .*\n$/);
      assert.deepEqual(await contentOf(to), before);
    }
  });

  test('the target has an unfinished move of another register', async (t) => {
    const [folder, other] = [await smallRegister(t, 5), join(temporaryFolder(t), 'other')];
    await opened(other, async (register) => {
      const { app, source } = appOf('code: OTHER\nfields: [{ id: o_primarykey, type: id }]\n');
      await register.apply(app, source, QUIET);
    });
    const database = await freshDatabase();
    t.after(() => database.drop());
    for (const to of [database.url, join(temporaryFolder(t), 'to')]) {
      await move(folder, to, (target) => ({ ...target, finish: async () => {} }));
      const { code, err } = await runMove(other, to);
      assert.equal(code, 1);
      assert.match(err, /^daicho: cannot open .+: an unfinished move of another register is there, from .+\n$/);
      // Nor is it a register, or a source.
      for (const args of [['app', 'list'], ['check'], ['move', '--to', join(to, 'x')]]) {
        const refused = await daicho([...args, ...flagsFor(to)]);
        assert.deepEqual([refused.code, refused.out], [1, ''], args.join(' '));
        assert.match(refused.err, /^daicho: cannot open .+ it is not finished: it is being filled from .*\n$/);
      }
      assert.equal((await move(folder, to)).verified, true);
    }
  });

  test('the source has work that is not finished', async (t) => {
    const folder = await smallRegister(t, 0);
    await opened(folder, async (register) => {
      const loader = await register.load('A', 'sato', 'half');
      await loader.put([{ line: 1, primaryKey: null, values: new Map(), tables: new Map() }], 1);
      await loader.stop();
    });
    const to = join(temporaryFolder(t), 'to');
    const load = await runMove(folder, to);
    assert.deepEqual([load.code, load.out], [1, '']);
    assert.match(load.err, /^daicho: an import into A was interrupted.*: daicho reindex A\n$/);
    const db = connect(folder);
    db.exec(`update builds set kind = 'rebuild'`);
    db.exec(`insert into renames values ('sato', 1, 0)`);
    const both = await runMove(folder, to);
    assert.match(
      both.err,
      /^daicho: A is being rebuilt.*daicho reindex A\ndaicho: .*daicho user set sato --name NAME\n$/,
    );
    db.exec(`update builds set kind = 'import', pid = 999999999`);
    db.close();
    assert.ok(!existsSync(to));
    assert.equal((await daicho(['reindex', 'A', ...flagsFor(folder)])).code, 0);
    assert.equal((await daicho(['user', 'set', 'sato', '--name', '佐藤', ...flagsFor(folder)])).code, 0);
    assert.equal((await runMove(folder, to)).code, 0);
  });

  test('there is no source, nothing in it, no place like that; a password is never said', async (t) => {
    const parent = temporaryFolder(t);
    const none = join(parent, 'none');
    const nowhere = 'postgres://me:s3cr@t@127.0.0.1:1/none';
    const to = join(parent, 'to');
    const cases: readonly (readonly [from: string, to: string, code: number, message: RegExp])[] = [
      [none, to, 1, /^daicho: there is no register in the data folder .*none\n$/],
      [nowhere, to, 1, /^daicho: cannot open the database postgres:\/\/me@127.*ECONNREFUSED.*\n$/],
      [
        await smallRegister(t, 0),
        nowhere,
        1,
        /^daicho: cannot open the database postgres:\/\/me@127.*ECONNREFUSED.*\n$/,
      ],
      [none, 'mysql://x/y', 2, /begins with postgres:\/\//],
      [none, '', 2, /Name a folder/],
    ];
    for (const [from, place, code, message] of cases) {
      const ran = await runMove(from, place);
      assert.deepEqual([ran.code, ran.out], [code, ''], ran.err);
      assert.match(ran.err, message);
      assert.ok(!/s3cr|@t@/.test(ran.err), ran.err);
    }
    mkdirSync(none);
    await opened(none, async () => {});
    assert.match((await runMove(none, to)).err, /^daicho: there is nothing to move: .* has no app\n$/);
    assert.deepEqual(
      readdirSync(parent).filter((name) => name !== 'none'),
      [],
    );
  });

  test('an empty register counts as none', async (t) => {
    const folder = await smallRegister(t, 5);
    const to = join(temporaryFolder(t), 'to');
    await opened(to, async () => {});
    assert.equal((await move(folder, to)).verified, true);
  });
});

test('side by side: what is missing, different and extra, however many are read at a time', async () => {
  const side = fc.uniqueArray(fc.record({ key: fc.integer({ min: 1, max: 40 }), value: fc.boolean() }), {
    selector: ({ key }) => key,
  });
  type Item = { readonly key: number; readonly value: boolean };
  const sequence = (items: readonly Item[]) => ({
    read: async (behind: Item, limit: number) =>
      items
        .filter(({ key }) => key > behind.key)
        .sort((a, b) => a.key - b.key)
        .slice(0, limit),
  });
  const order = {
    start: { key: 0, value: false },
    compare: (a: Item, b: Item) => a.key - b.key,
    isSame: (a: Item, b: Item) => a.value === b.value,
  };
  const property = fc.asyncProperty(side, side, fc.integer({ min: 1, max: 6 }), async (ours, theirs, limit) => {
    const found = { length: 0, missing: [] as Item[], different: [] as Item[], extra: [] as Item[] };
    for await (const stretch of sideBySide(sequence(ours), sequence(theirs), order, limit)) {
      found.length += stretch.length;
      for (const name of ['missing', 'different', 'extra'] as const) found[name].push(...stretch[name]);
    }
    const sorted = (items: Item[]) => items.sort(order.compare);
    const other = (items: readonly Item[], { key }: Item) => items.find((item) => item.key === key);
    assert.deepEqual(found, {
      length: ours.length,
      missing: sorted(ours.filter((item) => other(theirs, item) === undefined)),
      different: sorted(ours.filter((item) => other(theirs, item)?.value === !item.value)),
      extra: sorted(theirs.filter((item) => other(ours, item) === undefined)),
    });
  });
  await fc.assert(property, { numRuns: 300 });
});
