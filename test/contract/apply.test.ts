// Definitions applied: what is created, changed, converted and refused.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DataLoss } from '../../src/store/register.ts';
import { putRecords } from '../harness/running.ts';
import { appNow, recordsFor, update } from './asking.ts';
import {
  apply,
  BASE,
  changed,
  checkIsClean,
  fresh,
  openForEachTest,
  plain,
  RECORDS,
  register,
  store,
  valuesOf,
} from './register-bench.ts';

openForEachTest();

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
    const { generation } = await appNow(store, 'A');
    const { kind, records, change } = await apply(BASE);
    assert.deepEqual([kind, records, change.steps], ['unchanged', 0, []]);
    assert.equal((await appNow(store, 'A')).generation, generation);
  });

  test('names, rights and states are changed without touching records', async () => {
    await apply(BASE);
    await putRecords(register, 'A', RECORDS);
    const { generation, version } = await appNow(store, 'A');
    const { kind, records } = await apply(`${BASE}name: 台帳\nstate: maintenance\neveryone: true\n`);
    assert.deepEqual([kind, records], ['changed', 0]);
    const after = await appNow(store, 'A');
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
    const rows = await fresh.query(
      `select revision, version from app_${(await appNow(store, 'A')).id}_history order by revision`,
    );
    const versions = rows.map(([revision, version]) => ({ revision, t: JSON.parse(String(version)).fields.t }));
    assert.deepEqual(versions, [
      { revision: 1, t: '京都' },
      { revision: 2, t: '大阪' },
    ]);
  });
});
