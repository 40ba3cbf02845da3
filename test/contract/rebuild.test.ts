// Records rebuilt and rendered again, also while a store serves them and after a crash.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { layoutOf } from '../../src/sql/layout.ts';
import { engineInUse } from '../harness/fresh-register.ts';
import { appNow, recordsFor, update } from './asking.ts';
import {
  apply,
  BASE,
  changed,
  checkIsClean,
  fresh,
  MANY,
  many,
  OTHER,
  openForEachTest,
  register,
  start,
  store,
  updating,
} from './register-bench.ts';

openForEachTest();

describe('rebuilding', { timeout: 300_000 }, () => {
  beforeEach(async () => {
    await apply(BASE);
    await many();
  });

  for (const [command, argument] of [
    ['apply', OTHER],
    ['reindex', 'A'],
  ] as const) {
    test(`${command}: no update is lost that a running store answers meanwhile`, async () => {
      const { version } = await appNow(store, 'A');
      const updates = updating();
      assert.equal(await start(command, argument), '0');
      assert.equal((await appNow(store, 'A')).version, version + 1);
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
      assert.equal((await appNow(store, 'A')).app.fields.find(({ id }) => id === 'n')?.type, 'number');
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
    assert.equal((await recordsFor(store, 'A', { n: '99' })).length, MANY / 100);
    await checkIsClean();
  });

  test('a rebuild that a living process is at work on is left to it', async () => {
    let refused: Promise<unknown> | undefined;
    let seen: Promise<boolean> | undefined;
    const ended = await start('apply', OTHER, (text) => {
      if (text === 'done') return;
      refused ??= assert.rejects(
        register.reindex('A', () => {}),
        /at work/,
      );
      seen ??= register.isBuilding('A');
    });
    assert.equal(ended, '0');
    await refused;
    assert.equal(await seen, true, 'whoever passes such an app over can see it');
    await checkIsClean();
  });

  test('what disagrees with the values is found by check and made again by reindex', async () => {
    const { app, id, generation } = await appNow(store, 'A');
    const { form, tables } = layoutOf(app, id, generation);
    const key = engineInUse() === 'sqlite' ? 'rowid' : 'pms_id';
    await fresh.query(`update "${form.name}" set pms_answer = '{"x":1' where pms_seq = 7`);
    await fresh.query(`delete from "${form.pairs}" where ${key} = 8`);
    await fresh.query(`update "${tables[0]?.name}" set pms_answer = '{' where pms_id = 1`);
    await fresh.query(`drop index "${form.columns.find(({ index }) => index !== null)?.index}"`);
    const problems = await register.check(['A'], () => {});
    assert.ok(problems.length >= 4, JSON.stringify(problems));
    await register.reindex('A', () => {});
    await checkIsClean();
  });
});

describe('renaming a user', { timeout: 300_000 }, () => {
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
    await appNow(store, 'A');
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
