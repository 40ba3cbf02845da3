// What every store must do, whichever database holds it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Register } from '../../src/store/register.ts';
import { type Store, Unavailable } from '../../src/store/store.ts';
import { appOf, putRecords, type TestRecord } from '../harness/running.ts';
import { appIn, appNow, changeFor, find, parse, recordsFor, recordsOf, searchFor, update } from './asking.ts';

/** A fresh, empty register and stores on it. */
export interface Bench {
  readonly register: Register;
  /** Opens one more store on the same data; whoever opens it closes it. */
  openStore(): Store | Promise<Store>;
  /** Whether nothing reads an earlier state of the data any more. */
  isAtRest(): boolean | Promise<boolean>;
  /** Closes the register and removes the data. */
  remove(): Promise<void>;
}

const SMALL = `
code: SMALL
fields:
  - { id: s_primarykey, type: id, search: prefix }
  - { id: partial, type: text, search: partial }
  - { id: folded, type: text, search: partial, fold: true }
  - { id: exact, type: text, search: exact }
  - { id: suffix, type: text, search: suffix }
  - { id: words, type: text_area, search: any_of }
  - { id: choices, type: checkbox, search: any_of }
  - { id: amount, type: number, search: range }
  - { id: day, type: date, search: range }
tables:
  - { code: lines, fields: [{ id: product, type: text, search: exact }, { id: quantity, type: number, search: range }] }
`;
const LARGE = `
code: LARGE
fields:
  - { id: l_primarykey, type: id }
  - { id: word, type: text, search: partial }
  - { id: n, type: number, search: range }
tables:
  - { code: parts, fields: [{ id: part, type: text, search: partial }] }
`;
const MANY = 25_000;

const RECORDS: readonly TestRecord[] = [
  {
    s_primarykey: 'A1',
    partial: '東京都港区',
    folded: 'ｶﾌﾞｼｷ ＡＢＣ',
    exact: '100%',
    suffix: '山田太郎',
    words: '赤い車',
    choices: '完了',
    amount: '-0.5',
    day: '2024-01-31',
    lines: [
      { product: 'A', quantity: '1' },
      { product: 'B', quantity: '3' },
    ],
  },
  {
    s_primarykey: 'A2',
    partial: '京都市',
    folded: 'かぶしき abc',
    exact: '100',
    suffix: '川田花子',
    words: '青い空\r\n赤い花',
    choices: '未完了,保留',
    amount: '9007199254740993',
    day: '2024-02-29',
    lines: [{ product: 'A', quantity: '3' }],
  },
  {
    s_primarykey: 'B1',
    partial: '',
    folded: '',
    exact: '',
    suffix: '',
    words: '',
    choices: '',
    amount: '',
    day: '',
    lines: [],
  },
];

/** Runs the contract against a kind of store. */
export function storeContract(name: string, makeBench: () => Bench | Promise<Bench>): void {
  describe(`the store contract: ${name}`, { timeout: 120_000 }, () => {
    let bench: Bench;
    let store: Store;

    before(async () => {
      bench = await makeBench();
      await bench.register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
      await define(bench.register, SMALL);
      await define(bench.register, LARGE);
      await putRecords(bench.register, 'SMALL', RECORDS, 'sato');
      const large = Array.from({ length: MANY }, (_, n) => ({
        ...{ l_primarykey: `L${n}`, word: n % 2 === 0 ? '東京都' : '京都府', n: String(n) },
        parts: n % 100 === 0 ? [{ part: '部品' }] : [],
      }));
      await putRecords(bench.register, 'LARGE', large, 'sato');
      store = await bench.openStore();
    });

    after(async () => {
      await store.close();
      await bench.remove();
    });

    const keys = async (param: object) =>
      (await recordsFor(store, 'SMALL', param)).map((record) => record.s_primarykey.value);

    for (const [param, expected] of SEARCHES) {
      test(`finds by ${JSON.stringify(param)}`, async () => assert.deepEqual(await keys(param), expected));
    }

    test('D12, D23: records carry their rows and their revision where they are asked for', async () => {
      const [plain] = await recordsFor(store, 'SMALL', { exact: '100' });
      assert.equal(plain?.lines, undefined);
      assert.equal(plain?.pms_revision, undefined);
      const [full] = await recordsFor(store, 'SMALL', { exact: '100' }, { tablecode: 'lines', revision: true });
      assert.equal(full?.lines.length, 1);
      assert.equal(full?.lines[0].quantity.value, '3');
      assert.deepEqual(full?.pms_revision, { type: 'pms_revision', value: '1' });
    });

    test('conditions that are all common, few, or none, find the same by every way', async () => {
      const rows: readonly [object, number][] = [
        [{ n: '0' }, MANY],
        [{ word: '京' }, MANY],
        [{ word: '京都' }, MANY],
        [{ word: '東京' }, MANY / 2],
        [{ word: '京都', n: '1' }, MANY - 1],
        [{ word: '京都', n: '100', n_to: '199' }, 100],
        [{ word: '京都府', n: '100', n_to: '199' }, 50],
        [{ parts: { part: '部品' } }, MANY / 100],
        [{ parts: { part: '部品' }, n: '1', word: '都' }, MANY / 100 - 1],
        [{ parts: { part: '部品' }, word: '京都府' }, 0],
        [{ word: '名古屋' }, 0],
        [{ word: '東京', n: '10000', n_to: '14999' }, 2_500],
        [{ word: '都', n: '999', n_to: '1300' }, 302],
        [{ word: '都', n: '9.5', n_to: '1000' }, 991],
        [{ word: '都', n: '-5', n_to: '0999.0' }, 1_000],
        [{}, MANY],
      ];
      for (const [param, count] of rows) {
        assert.equal((await recordsFor(store, 'LARGE', param)).length, count, JSON.stringify(param));
        const limited = await find(store, 'LARGE', param, { limit: 250 });
        assert.equal((await recordsOf(limited)).length, Math.min(250, count), JSON.stringify(param));
      }
    });

    test('D22: a long answer comes in pages, in order, and shows one state of the data while updates go on', async () => {
      const found = await find(store, 'LARGE', {}, { tablecode: 'parts' });
      assert.equal(found.kind, 'stream');
      assert.ok(found.kind === 'stream');
      const pages: Uint8Array[] = [];
      for await (const page of found.pages) {
        pages.push(page);
        if (pages.length !== 1) continue;
        const last = { l_primarykey: `L${MANY - 1}`, word: 'changed meanwhile' };
        assert.equal((await update(store, 'LARGE', last)).kind, 'updated');
        assert.equal((await recordsFor(store, 'LARGE', { word: 'changed meanwhile' })).length, 1);
      }
      assert.ok(pages.length > 10);
      const records = parse(pages);
      assert.deepEqual(
        records.map((record) => record.l_primarykey.value),
        Array.from({ length: MANY }, (_, n) => `L${n}`),
      );
      assert.equal(records.at(-1)?.word.value, '京都府');
      assert.equal(found.next(), null);
    });

    test('D23: a long page says what comes after it', async () => {
      const found = await find(store, 'LARGE', { word: '京' }, { limit: 1_000, after: 'L499' });
      assert.ok(found.kind === 'stream');
      const records = await recordsOf(found);
      assert.deepEqual([records.length, records[0]?.l_primarykey.value, found.next()], [1_000, 'L500', 'L1499']);
      const rest = await find(store, 'LARGE', {}, { limit: 10_000, after: `L${MANY - 301}` });
      assert.equal((await recordsOf(rest)).length, 300);
      assert.ok(rest.kind === 'stream');
      assert.equal(rest.next(), null);
    });

    test('several long answers at once, each whole', async () => {
      const answers = await Promise.all(
        [{}, { word: '東京' }, { n_to: '999' }, { word: '京都府' }].map((param) => recordsFor(store, 'LARGE', param)),
      );
      assert.deepEqual(
        answers.map(({ length }) => length),
        [MANY, MANY / 2, 1_000, MANY / 2 - 1],
      );
    });

    test('a long answer that is dropped frees what it held', async () => {
      await update(store, 'SMALL', { s_primarykey: 'B1', exact: 'before the first' });
      const found = await find(store, 'LARGE', {});
      assert.ok(found.kind === 'stream');
      for await (const page of found.pages) {
        assert.ok(page.length > 0);
        break;
      }
      await isAtRest(store, bench);
    });

    test('a long answer of which nothing is read frees what it held', async () => {
      await update(store, 'SMALL', { s_primarykey: 'B1', exact: 'before the second' });
      const found = await find(store, 'LARGE', {});
      assert.ok(found.kind === 'stream');
      await found.pages[Symbol.asyncIterator]().return?.();
      await isAtRest(store, bench);
    });

    test('P10: an `after` that no record has, for a short answer and a long one', async () => {
      assert.deepEqual(await find(store, 'SMALL', {}, { after: 'nobody', limit: 5 }), { kind: 'unknown_after' });
      assert.deepEqual(await find(store, 'LARGE', {}, { after: 'nobody', limit: 5_000 }), { kind: 'unknown_after' });
    });

    test("D22: the operator's cap is for searches without a limit", async () => {
      const kind = async (param: object, cap: number, options = {}) =>
        (await find(store, 'LARGE', param, options, cap)).kind;
      assert.equal(await kind({ n_to: '10' }, 10), 'too_many');
      assert.equal(await kind({ n_to: '10' }, 11), 'page');
      assert.equal(await kind({}, 10), 'too_many');
      assert.equal(await kind({}, 1_000), 'too_many');
      assert.equal(await kind({ word: '京', n_to: '999' }, 999), 'too_many');
      const whole = await find(store, 'LARGE', { n_to: '999' }, {}, 1_000);
      assert.equal((await recordsOf(whole)).length, 1_000);
      assert.equal(await kind({}, 10, { limit: 20 }), 'page');
      assert.equal((await recordsOf(await find(store, 'LARGE', {}, { limit: 600 }, 500))).length, 600);
    });

    test('an update is there for every store and search as soon as it is answered', async () => {
      const other = await bench.openStore();
      for (const name of ['one', 'two', 'three']) {
        const updated = await update(store, 'SMALL', { s_primarykey: 'B1', exact: name, folded: `ＮＡＭＥ ${name}` });
        assert.ok(updated.kind === 'updated');
        const entries = JSON.parse(`{${updated.entries}}`);
        assert.equal(entries.exact.value, name);
        for (const reader of [store, other]) {
          const found = await recordsFor(reader, 'SMALL', { exact: name, folded: 'name' });
          assert.deepEqual(
            found.map((record) => record.s_primarykey.value),
            ['B1'],
          );
        }
      }
      assert.equal((await recordsFor(other, 'SMALL', { exact: 'two' })).length, 0);
      await other.close();
    });

    test('D31: updates of one record at once, one after the other, each whole', async () => {
      const revision = async () =>
        Number((await recordsFor(store, 'SMALL', { s_primarykey: 'B1' }, { revision: true }))[0]?.pms_revision.value);
      const start = await revision();
      const names = Array.from({ length: 300 }, (_, n) => `name ${n}`);
      const results = await Promise.all(
        names.map((value) => update(store, 'SMALL', { s_primarykey: 'B1', exact: value, suffix: value })),
      );
      for (const [index, result] of results.entries()) {
        assert.ok(result.kind === 'updated');
        const { exact, suffix } = JSON.parse(`{${result.entries}}`);
        assert.deepEqual([exact.value, suffix.value], [names[index], names[index]]);
      }
      assert.equal(await revision(), start + 300);
    });

    test('D24: of updates that name the same revision one is made, the others are told the new revision', async () => {
      const [record] = await recordsFor(store, 'SMALL', { s_primarykey: 'B1' }, { revision: true });
      const sent = record?.pms_revision.value as string;
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          update(store, 'SMALL', { s_primarykey: 'B1', exact: `try ${n}`, pms_revision: sent }),
        ),
      );
      assert.equal(results.filter(({ kind }) => kind === 'updated').length, 1);
      const conflict = { kind: 'revision_conflict', revision: String(Number(sent) + 1) };
      assert.deepEqual(
        results.filter(({ kind }) => kind !== 'updated'),
        Array(19).fill(conflict),
      );
    });

    test('an update of a record that is not there', async () => {
      assert.deepEqual(await update(store, 'SMALL', { s_primarykey: 'nobody', exact: 'x' }), {
        kind: 'unknown_record',
      });
    });

    test('a definition that is another by now: updates and searches parsed with the old one are stale', async () => {
      const yaml = 'code: MOVED\nfields: [{ id: m_primarykey, type: id }, { id: a, type: text, search: partial }]';
      await define(bench.register, yaml);
      await putRecords(
        bench.register,
        'MOVED',
        Array.from({ length: 300 }, () => ({ a: '京都' })),
      );
      const old = await appNow(store, 'MOVED');
      const change = changeFor(old.app, { m_primarykey: '1', a: 'new' });
      await define(bench.register, yaml.replace('partial', 'exact'));
      assert.deepEqual(await store.update(old, change, 'sato'), { kind: 'stale' });
      const long = await store.search(old, searchFor(old.app, {}, { limit: 250 }), 0, 'sato');
      assert.deepEqual(long, { kind: 'stale' });
      const short = await store.search(old, searchFor(old.app, { a: '都' }, { limit: 5 }), 0, 'sato');
      assert.deepEqual(short, { kind: 'stale' });
      assert.equal((await recordsFor(store, 'MOVED', { a: '京都' })).length, 300);
      assert.equal((await update(store, 'MOVED', { m_primarykey: '1', a: 'new' })).kind, 'updated');
    });

    test('what the register changes is in the catalog of every store that looks', async () => {
      const { register } = bench;
      const other = await bench.openStore();
      const both = <T>(look: (store: Store) => T) =>
        Promise.all(
          [store, other].map(async (one) => {
            await one.renewed(one.catalog());
            return look(one);
          }),
        );
      await register.setWebApi(false);
      assert.deepEqual(await both((one) => one.catalog().webApi), [false, false]);
      await register.setWebApi(true);
      assert.deepEqual(await both((one) => one.catalog().webApi), [true, true]);
      await register.addUser({ id: 'suzuki', name: '鈴木', lang: 'en' });
      assert.deepEqual(await both((one) => one.catalog().users.get('suzuki')?.name), ['鈴木', '鈴木']);
      await register.grant('SMALL', 'suzuki', { update: true, edit: false, admin: false });
      assert.deepEqual(await both((one) => appIn(one, 'SMALL').access.rights.get('suzuki')?.update), [true, true]);
      const digest = new Uint8Array(32).fill(7);
      const id = await register.addKey('SMALL', 'suzuki', digest, null);
      assert.deepEqual(await both((one) => appIn(one, 'SMALL').keys.get('07'.repeat(32))?.id), [id, id]);
      await register.revokeKey(id);
      assert.deepEqual(await both((one) => appIn(one, 'SMALL').keys.size), [0, 0]);
      await define(register, 'code: NEWCOMER\nfields: [{ id: n_primarykey, type: id }]');
      assert.deepEqual(await both((one) => one.catalog().apps.has('NEWCOMER')), [true, true]);
      await other.close();
    });

    test('a catalog is a snapshot, and the same one while nothing changes', async () => {
      const catalog = store.catalog();
      await update(store, 'SMALL', { s_primarykey: 'B1', exact: 'same catalog' });
      assert.equal(store.catalog(), catalog);
      await bench.register.setWebApi(false);
      assert.equal(catalog.webApi, true);
      await bench.register.setWebApi(true);
    });

    test('the use of a key is written by the time the store is closed', async () => {
      const other = await bench.openStore();
      await bench.register.addKey('SMALL', 'sato', new Uint8Array(32).fill(9), null);
      const key = (await appNow(other, 'SMALL')).keys.get('09'.repeat(32));
      assert.ok(key);
      other.keyUsed(key);
      await other.close();
      const described = (await bench.register.keys('SMALL')).find(({ id }) => id === key.id);
      assert.match(described?.lastUsedAt ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    });

    test('a load that is under way does not hold up updates', { timeout: 30_000 }, async () => {
      await define(bench.register, 'code: LOADED\nfields: [{ id: o_primarykey, type: id }]');
      const loader = await bench.register.load('LOADED', 'sato', 'slow source');
      for (let line = 1; line <= 3; line++) {
        await loader.put([{ line, primaryKey: null, values: new Map(), tables: new Map() }], line);
      }
      try {
        const started = performance.now();
        const updated = await update(store, 'SMALL', { s_primarykey: 'B1', exact: 'while loading' });
        assert.equal(updated.kind, 'updated');
        assert.ok(performance.now() - started < 5_000, `it took ${Math.round(performance.now() - started)} ms`);
      } finally {
        await loader.finish(() => {});
      }
      assert.equal(await bench.register.countRecords('LOADED'), 3);
    });

    test('closing answers the updates that wait, and those it answers are kept', async () => {
      const other = await bench.openStore();
      const waiting = Array.from({ length: 600 }, (_, n) =>
        update(other, 'LARGE', { l_primarykey: `L${n}`, word: `closing ${n}` }),
      );
      const settled = Promise.allSettled(waiting);
      await other.close();
      for (const [n, result] of (await settled).entries()) {
        if (result.status === 'rejected') assert.ok(result.reason instanceof Unavailable, String(result.reason));
        else {
          assert.equal(result.value.kind, 'updated');
          assert.equal(
            (await recordsFor(store, 'LARGE', { n: String(n), n_to: String(n) }))[0]?.word.value,
            `closing ${n}`,
          );
        }
      }
    });

    test('a closed store is unavailable, for updates, searches and the rest of a long answer', {
      timeout: 10_000,
    }, async () => {
      const other = await bench.openStore();
      const registered = appIn(other, 'LARGE');
      const found = await find(other, 'LARGE', {});
      assert.ok(found.kind === 'stream');
      const pages = found.pages[Symbol.asyncIterator]();
      await pages.next();
      await other.close();
      const readOn = async () => {
        while (!(await pages.next()).done);
      };
      await assert.rejects(readOn(), Unavailable);
      await assert.rejects(
        other.update(registered, changeFor(registered.app, { l_primarykey: 'L1', word: 'x' }), 'sato'),
        Unavailable,
      );
      await assert.rejects(
        async () => other.search(registered, searchFor(registered.app, {}, { limit: 5 }), 0, 'sato'),
        Unavailable,
      );
      await assert.rejects(async () => other.search(registered, searchFor(registered.app, {}), 0, 'sato'), Unavailable);
    });

    test('in the end everything derived agrees with the values', async () => {
      assert.deepEqual(await bench.register.check(['SMALL', 'LARGE', 'MOVED', 'LOADED'], () => {}), []);
    });
  });
}

const SEARCHES: readonly [param: object, keys: readonly string[]][] = [
  [{}, ['A1', 'A2', 'B1']],
  [{ partial: '京都' }, ['A1', 'A2']],
  [{ partial: '東' }, ['A1']],
  [{ partial: '京都大阪' }, []],
  [{ folded: 'カブシキ abc' }, ['A1', 'A2']],
  [{ exact: '100' }, ['A2']],
  [{ exact: '100%' }, ['A1']],
  [{ s_primarykey: 'A' }, ['A1', 'A2']],
  [{ suffix: '太郎' }, ['A1']],
  [{ words: '青, 車' }, ['A1', 'A2']],
  [{ words: '花' }, ['A2']],
  [{ choices: '完了' }, ['A1']],
  [{ choices: '保留,完了' }, ['A1', 'A2']],
  [{ amount: '-0.50', amount_to: '0' }, ['A1']],
  [{ amount: '9007199254740992.9' }, ['A2']],
  [{ day_to: '2024/02/28' }, ['A1']],
  [{ day: '2024-02-29' }, ['A2']],
  [{ lines: { product: 'A' } }, ['A1', 'A2']],
  [{ lines: { product: 'A', quantity: '3' } }, ['A2']],
  [{ partial: '京都', lines: { quantity: '2' }, exact: '100%' }, ['A1']],
];

async function define(register: Register, yaml: string): Promise<void> {
  const { app, source } = appOf(yaml);
  await register.apply(app, source, { allowDataLoss: true, dryRun: false, progress: () => {} });
}

/** Waits for what the store was told before, then looks whether anything is still read. */
async function isAtRest(store: Store, bench: Bench): Promise<void> {
  assert.equal((await recordsFor(store, 'LARGE', { n_to: '999' })).length, 1_000);
  assert.ok(await bench.isAtRest());
}
