// What a killed process left unfinished is finished by the next store on the register, or by one that is open.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engineInUse } from '../harness/fresh-register.ts';
import { appNow } from './asking.ts';
import {
  apply,
  BASE,
  checkIsClean,
  fresh,
  MANY,
  many,
  openForEachTest,
  register,
  start,
  store,
} from './register-bench.ts';

openForEachTest();

describe('a reindex that was killed', { timeout: 300_000 }, () => {
  let before = 0;

  beforeEach(async () => {
    await apply(BASE);
    await many();
    before = (await appNow(store, 'A')).generation;
  });

  /** A store may have to wait until the database has seen that the process is gone. */
  async function finished(): Promise<void> {
    for (const until = Date.now() + 60_000; (await appNow(store, 'A')).generation === before; await wait(50)) {
      assert.ok(Date.now() < until, 'nobody finishes it');
    }
    assert.equal((await appNow(store, 'A')).generation, before + 1);
    assert.equal(await register.countRecords('A'), MANY);
    await checkIsClean();
  }

  test('is finished by a store that is opened afterwards, and nothing is lost', async () => {
    assert.equal(await start('reindex', 'A', (_, send) => send()), 'SIGKILL');
    assert.equal((await appNow(store, 'A')).generation, before, 'it was killed before its end');
    const opened = await fresh.openStore();
    await opened.resume();
    await finished();
    await opened.close();
  });

  test('is finished by a store that was open when it died', async () => {
    let resumed: Promise<void> | undefined;
    const ended = await start('reindex', 'A', (_, send) => {
      if (resumed !== undefined) return;
      // It does not go on, but it is alive when the store looks for the first time.
      send('SIGSTOP');
      resumed = store.resume();
      setTimeout(send, 1_000);
    });
    assert.equal(ended, 'SIGKILL');
    assert.equal((await appNow(store, 'A')).generation, before, 'it was left to the process that had begun it');
    await finished();
    await resumed;
  });
});

// Only SQLite fills an app aside, and knows whose that is by a process's number.
if (engineInUse() === 'sqlite') {
  test('what a bulk left whose process is no more is dropped, if its number was used again too', async () => {
    await apply(BASE);
    const { id, generation } = await appNow(store, 'A');
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await fresh.query(
      `insert into builds select ${id}, ${generation + 1}, definition, 'a bulk', 'bulk', 1, ${other.pid} from apps where id = ${id}`,
    );
    const left = async () => (await fresh.query('select 1 from builds')).length;
    const resumed = store.resume();
    await wait(500);
    assert.equal(await left(), 1, 'it may be at work');
    other.kill('SIGKILL');
    await resumed;
    assert.equal(await left(), 0);
  });
}
