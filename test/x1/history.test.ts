// The history's length, and restoring on the command line (D29, D39), on the engine in use.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sweep } from '../../src/operations/sweep-files.ts';
import { flagsFor } from '../harness/fresh-register.ts';
import { daicho } from '../harness/run-daicho.ts';
import { entries, type Opened, openApp } from '../spec/opened.ts';

let opened: Opened;
before(async () => {
  const definition = 'code: H\nfields: [{ id: h_primarykey, type: id, search: exact }, { id: h_text, type: text }]\n';
  opened = await openApp(definition, [{ h_primarykey: '1', h_text: '初め' }, { h_primarykey: '2' }]);
});
after(() => opened.running.close());

const restore = (...args: readonly string[]) =>
  daicho(['record', 'restore', 'H', ...args, ...flagsFor(opened.running.place)]);

test('record restore: a version, and a deleted record', async () => {
  await opened.update(entries({ h_primarykey: '1', h_text: '次' }));
  const { code, out, err } = await restore('1', '--revision', '1');
  assert.equal(code, 0, err);
  assert.match(out, /H: record 1 is as it was at revision 1/);
  assert.equal((await opened.record('1')).h_text.value, '初め');
  const param = JSON.stringify(entries({ h_primarykey: '2' }));
  await opened.running.post('/webapi/x1/data/delete', { ...opened.credentials, param });
  assert.equal((await restore('2')).code, 0);
  assert.equal(await opened.find({ h_primarykey: '2' }), '2');
});

for (const [what, args, message] of [
  ['a record that never was', ['無い'], /no record with the primary key/],
  ['a version that never was', ['1', '--revision', '99'], /no such version/],
  ['a record that is there', ['1'], /already/],
] as const) {
  test(`record restore: ${what} is told in a line`, async () => {
    const { code, err } = await restore(...args);
    assert.equal(code, 1);
    assert.match(err, message);
    assert.equal(err.trim().split('\n').length, 1);
  });
}

test('D29: versions older than the history is kept are forgotten by the sweep, and counted', async () => {
  const { register, files, query } = opened.running;
  const before = await register.countVersions('H');
  assert.ok(before >= 3);
  assert.equal((await sweep(register, files, { historyDays: 1 })).versions, 0);
  const [[id] = []] = await query(`select id from apps where code = 'H'`);
  await query(`update app_${id}_history set at = '2001-01-01 00:00:00' where record = 1`);
  const { versions } = await sweep(register, files, { historyDays: 1 });
  assert.ok(versions >= 2);
  assert.equal(await register.countVersions('H'), before - versions);
  assert.equal((await sweep(register, files, { historyDays: 0 })).versions, 0);
});
