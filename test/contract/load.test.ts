// Records loaded: seen when they should be, gone on with after a stop or a crash, given up.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LoadRecord } from '../../src/store/register.ts';
import { putRecords } from '../harness/running.ts';
import { recordsFor } from './asking.ts';
import { apply, BASE, checkIsClean, MANY, openForEachTest, RECORDS, register, start, store } from './register-bench.ts';

openForEachTest();

describe('loading', { timeout: 300_000 }, () => {
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
    const first = await loader.put([record(1, { t: '大阪' }, '1'), record(2, { t: '新規' })], 2);
    // It is in when the next was put, if not before.
    const second = await loader.put([record(3, { t: '後' })], 3);
    const [one, , three] = await recordsFor(store, 'A', {}, { tablecode: 'lines', revision: true });
    assert.deepEqual(
      [one?.t.value, one?.n.value, one?.lines.length, one?.pms_revision.value],
      ['大阪', '1,000.50', 1, '2'],
    );
    assert.deepEqual([three?.a_primarykey.value, three?.t.value], ['3', '新規']);
    const loaded = [first, second, await loader.finish(() => {})];
    const total = (key: 'inserted' | 'updated') => loaded.reduce((sum, part) => sum + part[key], 0);
    assert.deepEqual([total('inserted'), total('updated')], [2, 1]);
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
    const anew = await register.load('A', 'sato', 'f');
    assert.equal(anew.position, 0);
    await anew.stop();
  });

  for (const [title, before] of [
    ['an empty app', 0],
    ['an app with records', 2],
  ] as const) {
    test(`killed in ${title}, it goes on from where it was, and every record is there once`, async () => {
      await apply(BASE);
      if (before > 0) await putRecords(register, 'A', RECORDS);
      const total = 2 * MANY;
      const ended = await start('load', `${total}`, (text, kill) => {
        if (Number(text.split('/')[0]) >= total * 0.6) kill();
      });
      assert.equal(ended, 'SIGKILL');
      let first = '';
      assert.equal(await start('load', `${total}`, (text) => (first ||= text)), '0');
      assert.ok(Number(first.split('/')[0]) > 1_000, `it began at ${first}`);
      const keys = (await recordsFor(store, 'A', {})).map((one) => one.a_primarykey.value);
      assert.deepEqual(
        keys.slice(before),
        Array.from({ length: total }, (_, n) => `S${n + 1}`),
      );
      await checkIsClean();
    });
  }

  for (const [title, before] of [
    ['an empty app', []],
    ['an app with records', RECORDS],
  ] as const) {
    test(`D40: who is renamed during a load into ${title} has the new name in every record`, async () => {
      await apply(BASE);
      if (before.length > 0) await putRecords(register, 'A', before, 'sato');
      const loader = await register.load('A', 'sato', 'f');
      await loader.put([record(1, { t: '一' })], 1);
      await loader.put([record(2, { t: '二' })], 2);
      await register.changeUser('sato', { name: '佐藤 改' }, () => {});
      await loader.put([record(3, { t: '三' })], 3);
      await loader.finish(() => {});
      const records = await recordsFor(store, 'A', {});
      assert.deepEqual(
        records.map((one) => one.pms_i_usr.value.name),
        Array.from({ length: before.length + 3 }, () => '佐藤 改'),
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
