// Definitions applied, records rebuilt, loaded and rendered again, also while a store serves them and after a crash.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { layoutOf } from '../../src/sql/layout.ts';
import type { Applied, LoadRecord, Register } from '../../src/store/register.ts';
import { DataLoss } from '../../src/store/register.ts';
import { connect } from '../../src/store/sqlite/connection.ts';
import { openSqliteRegister } from '../../src/store/sqlite/sqlite-register.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { appOf, putRecords, type TestRecord } from '../harness/running.ts';
import { appIn, type RecordAnswer, recordsFor, update } from './asking.ts';

const BASE = `code: A
fields:
  - { id: a_primarykey, type: id }
  - { id: t, type: text, search: partial }
  - { id: n, type: text, search: exact }
tables:
  - { code: lines, fields: [{ id: p, type: text, search: partial }, { id: q, type: text, search: exact }] }
`;
const RECORDS: readonly TestRecord[] = [
  {
    a_primarykey: '1',
    t: '京都',
    n: '1,000.50',
    lines: [
      { p: '筆', q: '3' },
      { p: '紙', q: 'many' },
    ],
  },
  { a_primarykey: '2', t: '東京', n: 'abc', lines: [] },
];
const MANY = 20_000;

let dataDir: string;
let register: Register;
let store: Store;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'daicho-apply-'));
  register = openSqliteRegister({ dataDir });
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  store = openSqliteStore({ dataDir, cacheMiB: 16 });
});

afterEach(async () => {
  await store.close();
  await register.close();
  rmSync(dataDir, { recursive: true });
});

function apply(yaml: string, options: { allowDataLoss?: boolean; dryRun?: boolean } = {}): Promise<Applied> {
  const { app, source } = appOf(yaml);
  return register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {}, ...options });
}

const changed = (...replacements: readonly (readonly [string, string])[]) =>
  replacements.reduce((yaml, [from, to]) => {
    assert.ok(yaml.includes(from), from);
    return yaml.replace(from, to);
  }, BASE);

/** Values of every record, rows included. */
async function valuesOf(): Promise<unknown[]> {
  const records = await recordsFor(store, 'A', {}, { tablecode: appIn(store, 'A').app.tables[0]?.code ?? '' });
  return records.map((record) => plain(record));
}

function plain(record: RecordAnswer): Record<string, unknown> {
  const entries = Object.entries(record).filter(([id]) => !id.startsWith('pms_'));
  return Object.fromEntries(entries.map(([id, entry]) => [id, Array.isArray(entry) ? entry.map(plain) : entry.value]));
}

async function checkIsClean(): Promise<void> {
  assert.deepEqual(await register.check([...register.catalog().apps.keys()], () => {}), []);
}

describe('apply', () => {
  test('creates an app, and with dryRun nothing', async () => {
    assert.equal((await apply(BASE, { dryRun: true })).kind, 'created');
    assert.equal(store.catalog().apps.size, 0);
    assert.equal((await apply(BASE)).kind, 'created');
    assert.equal(await register.source('A'), BASE);
    assert.deepEqual(await valuesOf(), []);
    await checkIsClean();
  });

  test('the same definition again changes nothing', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const { generation } = appIn(store, 'A');
    const { kind, records, change } = await apply(BASE);
    assert.deepEqual([kind, records, change.steps], ['unchanged', 0, []]);
    assert.equal(appIn(store, 'A').generation, generation);
  });

  test('names, rights and states are changed without touching records', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const { generation, version } = appIn(store, 'A');
    const { kind, records } = await apply(`${BASE}name: 台帳\nstate: maintenance\neveryone: true\n`);
    assert.deepEqual([kind, records], ['changed', 0]);
    const after = appIn(store, 'A');
    assert.deepEqual([after.generation, after.version], [generation, version + 1]);
    assert.deepEqual([after.app.name, after.app.state, after.access.everyone], [{ ja: '台帳' }, 'maintenance', true]);
  });

  test('a field is added, one is searched another way, and all values are kept', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const before = await valuesOf();
    const { records } = await apply(
      changed(['search: partial }\n  - { id: n', 'search: suffix }\n  - { id: added, type: date }\n  - { id: n']),
    );
    assert.equal(records, 2);
    assert.deepEqual(
      (await valuesOf()).map((record) => ({ ...(record as object), added: '' })),
      before.map((record) => ({ ...(record as object), added: '' })),
    );
    assert.equal((await recordsFor(store, 'A', { t: '都' })).length, 1);
    await checkIsClean();
  });

  test('P07: values are converted; those that cannot be kept refuse the definition, and nothing is changed', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const before = await valuesOf();
    const yaml = changed(
      ['{ id: n, type: text, search: exact }', '{ id: n, type: number, search: range }'],
      ['{ id: q, type: text, search: exact }', '{ id: q, type: number, search: range }'],
    );
    const unreadable = [
      { field: 'n', count: 1, example: 'abc' },
      { field: 'q', count: 1, example: 'many' },
    ];
    await assert.rejects(
      apply(yaml),
      (error) => error instanceof DataLoss && assert.deepEqual(error.applied.unreadable, unreadable) === undefined,
    );
    assert.deepEqual((await apply(yaml, { dryRun: true })).unreadable, unreadable);
    assert.deepEqual(await valuesOf(), before);
    assert.equal(await register.source('A'), BASE);

    await apply(yaml, { allowDataLoss: true });
    assert.deepEqual(await valuesOf(), [
      {
        a_primarykey: '1',
        t: '京都',
        n: '1000.50',
        lines: [
          { p: '筆', q: '3' },
          { p: '紙', q: '' },
        ],
      },
      { a_primarykey: '2', t: '東京', n: '', lines: [] },
    ]);
    assert.equal((await recordsFor(store, 'A', { n: '1000', lines: { q_to: '3' } })).length, 1);
    await checkIsClean();
  });

  test('a field or a table is removed only where losing its values is allowed', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const withoutField = changed(['  - { id: n, type: text, search: exact }\n', '']);
    const withoutTable = BASE.slice(0, BASE.indexOf('tables:'));
    await assert.rejects(apply(withoutField), DataLoss);
    await assert.rejects(apply(withoutTable), DataLoss);
    assert.equal((await valuesOf()).length, 2);
    await apply(withoutField, { allowDataLoss: true });
    assert.deepEqual(Object.keys((await valuesOf())[0] as object), ['a_primarykey', 't', 'lines']);
    await apply(withoutTable, { allowDataLoss: true });
    assert.deepEqual(await valuesOf(), [
      { a_primarykey: '1', t: '京都', n: '' },
      { a_primarykey: '2', t: '東京', n: '' },
    ]);
    await checkIsClean();
  });

  test('an app without records loses nothing', async () => {
    await apply(BASE);
    await apply(BASE.slice(0, BASE.indexOf('tables:')));
    await checkIsClean();
  });

  test('tables are added, reordered and searched another way; rows stay with their records', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const table = (code: string, fields: string) => `  - { code: ${code}, fields: [${fields}] }\n`;
    const start = BASE.slice(0, BASE.indexOf('  - { code: lines'));
    await apply(
      start +
        table('more', '{ id: m, type: text }') +
        table('lines', '{ id: q, type: text, search: prefix }, { id: p, type: text, search: suffix, fold: true }'),
    );
    const records = await recordsFor(store, 'A', { lines: { p: '筆', q: '3' } }, { tablecode: 'lines' });
    assert.deepEqual(
      records.map((record) => plain(record).lines),
      [
        [
          { q: '3', p: '筆' },
          { q: 'many', p: '紙' },
        ],
      ],
    );
    assert.deepEqual(
      (await recordsFor(store, 'A', {}, { tablecode: 'more' })).map((record) => record.more),
      [[], []],
    );
    await checkIsClean();
  });

  test('D29: the history outlives a rebuild', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    await update(store, 'A', { a_primarykey: '1', t: '大阪' });
    await register.reindex('A', () => {});
    await update(store, 'A', { a_primarykey: '1', t: '神戸' });
    const db = connect(dataDir, { readonly: true });
    const { id } = appIn(store, 'A');
    const versions = db
      .prepare(`select revision, json_extract(version, '$.fields.t') as t from "app_${id}_history" order by revision`)
      .all();
    db.close();
    assert.deepEqual(versions, [
      { revision: 1, t: '京都' },
      { revision: 2, t: '大阪' },
    ]);
  });
});

/** A child process on the register; `line` is called for each that it writes. */
function start(
  command: string,
  argument: string,
  line: (text: string, kill: () => void) => void = () => {},
): Promise<string> {
  const script = join(import.meta.dirname, 'register-process.ts');
  const child = spawn(process.execPath, [script, dataDir, command, argument], { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (text) => line(text, () => child.kill('SIGKILL')));
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? String(code))));
}

/** Updates one record after another until told to stop; each answered value must be there in the end. */
function updating(): { stop(): Promise<void> } {
  const answered = new Map<string, string>();
  let stopped = false;
  const one = async (lane: number) => {
    for (let n = 0; !stopped; n++) {
      // Records from every part of the app, some of them again and again.
      const key = String(1 + ((lane * 5_003 + n * 7_919) % MANY));
      const value = `lane ${lane} turn ${n}`;
      const { kind } = await update(store, 'A', { a_primarykey: key, t: value });
      if (kind === 'stale') continue;
      assert.equal(kind, 'updated');
      answered.set(key, value);
    }
  };
  const lanes = Promise.all([0, 1, 2, 3].map(one));
  return {
    async stop() {
      stopped = true;
      await lanes;
      assert.ok(answered.size > 0);
      const stored = new Map(
        (await recordsFor(store, 'A', {})).map((record) => [record.a_primarykey.value, record.t.value]),
      );
      assert.equal(stored.size, MANY);
      // Lanes meet on records; whoever came last has its value there.
      for (const [key, value] of answered) assert.equal(stored.get(key), value);
    },
  };
}

const many = () =>
  putRecords(
    register,
    'A',
    Array.from({ length: MANY }, (_, n) => ({
      a_primarykey: String(n + 1),
      t: `京都 ${n}`,
      n: String(n),
      lines: n % 50 === 0 ? [{ p: '筆', q: '1' }] : [],
    })),
    'sato',
  );
const OTHER = changed(['{ id: n, type: text, search: exact }', '{ id: n, type: number, search: range }']);

describe('rebuilding', { timeout: 120_000 }, () => {
  beforeEach(async () => {
    await apply(BASE);
    await many();
  });

  for (const [command, argument] of [
    ['apply', OTHER],
    ['reindex', 'A'],
  ] as const) {
    test(`${command}: no update is lost that a running store answers meanwhile`, async () => {
      const { version } = appIn(store, 'A');
      const updates = updating();
      assert.equal(await start(command, argument), '0');
      assert.equal(appIn(store, 'A').version, version + 1);
      await updates.stop();
      await checkIsClean();
    });
  }

  for (const [title, part] of [
    ['at its start', 0.01],
    ['in the middle', 0.5],
    ['when all is copied', 1],
  ] as const) {
    test(`killed ${title}, it is gone on with by reindex, and no update between is lost`, async () => {
      const ended = await start('apply', OTHER, (text, kill) => {
        const [done = 0, total = 0] = text.split('/').map(Number);
        if (done >= total * part) kill();
      });
      assert.equal(ended, 'SIGKILL');
      const updates = updating();
      assert.equal(await start('reindex', 'A'), '0');
      await updates.stop();
      assert.equal(appIn(store, 'A').app.fields.find(({ id }) => id === 'n')?.type, 'number');
      assert.equal((await recordsFor(store, 'A', { n: '100', n_to: '199' })).length, 100);
      await checkIsClean();
    });
  }

  test('killed in the middle, another definition starts over', async () => {
    const ended = await start('apply', OTHER, (_, kill) => kill());
    assert.equal(ended, 'SIGKILL');
    assert.equal((await update(store, 'A', { a_primarykey: '1', n: 'no number' })).kind, 'updated');
    await apply(changed(['{ id: n, type: text, search: exact }', '{ id: n, type: text, search: suffix }']));
    assert.equal((await recordsFor(store, 'A', { n: 'number' })).length, 1);
    assert.equal((await recordsFor(store, 'A', { n: '99' })).length, 200);
    await checkIsClean();
  });

  test('a rebuild that a living process is at work on is left to it', async () => {
    let refused: Promise<unknown> | undefined;
    const ended = await start('apply', OTHER, (text) => {
      if (text !== 'done')
        refused ??= assert.rejects(
          register.reindex('A', () => {}),
          /at work/,
        );
    });
    assert.equal(ended, '0');
    await refused;
    await checkIsClean();
  });

  test('what disagrees with the values is found by check and made again by reindex', async () => {
    const { app, id, generation } = appIn(store, 'A');
    const { form, tables } = layoutOf(app, id, generation);
    const db = connect(dataDir);
    db.exec(`update "${form.name}" set pms_answer = '{"x":1' where pms_seq = 7`);
    db.exec(`delete from "${form.pairs}" where rowid = 8`);
    db.exec(`update "${tables[0]?.name}" set pms_answer = '{' where pms_id = 1`);
    db.exec(`drop index "${form.columns.find(({ index }) => index !== null)?.index}"`);
    db.close();
    const problems = await register.check(['A'], () => {});
    assert.ok(problems.length >= 4, JSON.stringify(problems));
    await register.reindex('A', () => {});
    await checkIsClean();
  });
});

describe('renaming a user', { timeout: 120_000 }, () => {
  const names = async () => {
    const records = await recordsFor(store, 'A', {});
    return new Set(records.map((record) => record.pms_u_usr.value.name));
  };

  test('D40: renders the records that show the name again, those updated meanwhile too', async () => {
    await apply(BASE);
    await many();
    const updates = updating();
    assert.equal(await start('rename', '佐藤 改'), '0');
    await updates.stop();
    assert.deepEqual(await names(), new Set(['佐藤 改']));
    assert.equal(store.catalog().users.get('sato')?.name, '佐藤 改');
    await checkIsClean();
  });

  test('interrupted, it is finished by resume', async () => {
    await apply(BASE);
    await many();
    assert.equal(await start('rename', '佐藤 改', (_, kill) => kill()), 'SIGKILL');
    await store.resume();
    assert.deepEqual(await names(), new Set(['佐藤 改']));
    await checkIsClean();
  });
});

describe('loading', { timeout: 120_000 }, () => {
  const record = (line: number, values: Record<string, string>, primaryKey: string | null = null): LoadRecord => ({
    ...{ line, primaryKey, values: new Map(Object.entries(values)) },
    tables: new Map([['lines', [[`row of ${line}`, '']]]]),
  });

  test('into an empty app: nothing is seen before the end, then everything', async () => {
    await apply(BASE);
    const loader = await register.load('A', 'sato', 'f');
    assert.equal(loader.position, 0);
    await loader.put([record(1, { t: '一' }), record(2, { t: '二' }, 'K2')], 2);
    await loader.put([record(3, { t: '二 again' }, 'K2')], 3);
    assert.equal((await recordsFor(store, 'A', {})).length, 0);
    await loader.finish(() => {});
    const records = await recordsFor(store, 'A', {}, { tablecode: 'lines', revision: true });
    assert.deepEqual(
      records.map((one) => [
        one.a_primarykey.value,
        one.t.value,
        one.lines[0].p.value,
        one.pms_revision.value,
        one.pms_i_usr.value.id,
      ]),
      [
        ['1', '一', 'row of 1', '1', 'sato'],
        ['K2', '二 again', 'row of 3', '2', 'sato'],
      ],
    );
    await checkIsClean();
  });

  test('into an app with records: each batch is seen when it is in; the others keep their values', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const loader = await register.load('A', 'sato', 'f');
    assert.deepEqual(await loader.put([record(1, { t: '大阪' }, '1'), record(2, { t: '新規' })], 2), {
      inserted: 1,
      updated: 1,
    });
    const [first, , third] = await recordsFor(store, 'A', {}, { tablecode: 'lines', revision: true });
    assert.deepEqual(
      [first?.t.value, first?.n.value, first?.lines.length, first?.pms_revision.value],
      ['大阪', '1,000.50', 1, '2'],
    );
    assert.deepEqual([third?.a_primarykey.value, third?.t.value], ['3', '新規']);
    await loader.finish(() => {});
    await checkIsClean();
  });

  test('stopped, a load of the same source goes on from there, and another source is refused until then', async () => {
    await apply(BASE);
    const loader = await register.load('A', 'sato', 'f');
    await loader.put([record(1, { t: '一' })], 1);
    await loader.stop();
    await assert.rejects(register.load('A', 'sato', 'g'), /interrupted/);
    const again = await register.load('A', 'sato', 'f');
    assert.equal(again.position, 1);
    await again.put([record(2, { t: '二' })], 2);
    await again.finish(() => {});
    assert.deepEqual(
      (await recordsFor(store, 'A', {})).map((one) => [one.a_primarykey.value, one.t.value]),
      [
        ['1', '一'],
        ['2', '二'],
      ],
    );
    await checkIsClean();
  });

  test('stopped in an app with records, it goes on from there too', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const loader = await register.load('A', 'sato', 'f');
    await loader.put([record(1, { t: '一' })], 1);
    await loader.stop();
    const again = await register.load('A', 'sato', 'f');
    assert.equal(again.position, 1);
    await again.finish(() => {});
    assert.equal((await register.load('A', 'sato', 'f')).position, 0);
  });

  for (const [title, before] of [
    ['an empty app', 0],
    ['an app with records', 2],
  ] as const) {
    test(`killed in ${title}, it goes on from where it was, and every record is there once`, async () => {
      await apply(BASE);
      if (before > 0) await putRecords(register, 'A', RECORDS);
      const ended = await start('load', '', (text, kill) => {
        if (text.startsWith('25000/')) kill();
      });
      assert.equal(ended, 'SIGKILL');
      let first = '';
      assert.equal(await start('load', '', (text) => (first ||= text)), '0');
      assert.ok(Number(first.split('/')[0]) > 1_000, `it began at ${first}`);
      const keys = (await recordsFor(store, 'A', {})).map((one) => one.a_primarykey.value);
      assert.deepEqual(
        keys.slice(before),
        Array.from({ length: 40_000 }, (_, n) => `S${n + 1}`),
      );
      await checkIsClean();
    });
  }

  test('given up by reindex, the app is empty again and can be loaded from another source', async () => {
    await apply(BASE);
    const loader = await register.load('A', 'sato', 'f');
    await loader.put([record(1, { t: '一' })], 1);
    await loader.stop();
    await register.reindex('A', () => {});
    assert.equal(await register.countRecords('A'), 0);
    await putRecords(register, 'A', RECORDS);
    assert.equal(await register.countRecords('A'), 2);
    await checkIsClean();
  });
});
