// Read replicas: searches go to one that is not behind for its caller; one that lags or stops is no error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres, startReplica } from './harness/postgres.ts';
import { assertRefused, type Client, clientOf, issue, makeWork, recordsOf } from './harness/servers.ts';

const RECORDS = 300;

test('two servers on a PostgreSQL with a read replica', { timeout: 120_000 }, async (t) => {
  const primary = await startPostgres();
  t.after(() => primary.remove());
  const work = await makeWork(primary.url, RECORDS);
  const keys = { sato: work.key, suzuki: await issue(work.register, 'suzuki') };
  const replica = await startReplica(primary);
  t.after(() => replica.remove());
  await replica.caughtUp();
  const servers = await Promise.all([1, 2].map(() => work.serve(t, '--database-read-urls', replica.url)));
  const clients = (key: string) => servers.map((server) => clientOf(server, key)) as [Client, Client];
  const [satoHere, satoThere] = clients(keys.sato);
  const [suzuki] = clients(keys.suzuki);

  /** The word of R1 as a client finds it, by a short search and by a long one. */
  const wordFor = async (client: Client): Promise<string> => {
    const found = await client.search({ k_primarykey: 'R1' });
    assert.equal(found.status, 200, JSON.stringify(found.json));
    const [{ word }] = recordsOf(found);
    const all = await client.search({ n: '0' });
    assert.equal(recordsOf(all).length, RECORDS);
    assert.equal(recordsOf(all).find(({ k_primarykey }) => k_primarykey.value === 'R1').word.value, word.value);
    return word.value;
  };
  const write = async (client: Client, word: string) =>
    assert.equal((await client.update({ k_primarykey: 'R1', word })).status, 200);
  const until = async (condition: () => Promise<boolean>) => {
    for (const started = performance.now(); !(await condition()); await sleep(20)) {
      assert.ok(performance.now() - started < 5_000, 'it does not come about');
    }
  };
  /** Whether a replica answers: held back, it does not show what another has just written. */
  const isAnsweredByReplica = async (word: string): Promise<boolean> => {
    await replica.pause();
    await write(satoHere, word);
    const [{ word: found }] = recordsOf(await suzuki.search({ k_primarykey: 'R1' }));
    await replica.resume();
    await replica.caughtUp();
    return found.value !== word;
  };

  await t.test('searches are answered by the replica', () =>
    until(() => isAnsweredByReplica(`try ${performance.now()}`)),
  );

  await t.test('callers find what they wrote, by whichever server, while the replica is held back', async () => {
    await replica.pause();
    for (let count = 0; count < 20; count++) {
      const word = `own ${count}`;
      await write(satoHere, word);
      assert.deepEqual(await Promise.all([satoThere, satoHere].map(wordFor)), [word, word]);
    }
    await replica.resume();
  });

  await t.test('the replica answers them again when it has caught up', async () => {
    await replica.caughtUp();
    await until(async () => {
      await replica.caughtUp();
      await sleep(600);
      await replica.pause();
      await write(suzuki, `by another ${performance.now()}`);
      const [mine, others] = [await wordFor(satoThere), await wordFor(suzuki)];
      await replica.resume();
      return mine !== others;
    });
  });

  await t.test('a revoked key and a withdrawn right count although the replica has not heard of them', async () => {
    await replica.caughtUp();
    const key = await issue(work.register, 'tanaka');
    await replica.caughtUp();
    const tanaka = clients(key);
    for (const client of tanaka) assert.equal((await client.search({})).status, 200);
    await replica.pause();
    const id = (await work.register.keys('WORK')).at(-1)?.id as number;
    await work.register.revokeKey(id);
    await work.register.withdraw('WORK', 'suzuki');
    await sleep(1_000);
    for (const client of tanaka) assertRefused(await client.search({}), 401);
    for (const client of clients(keys.suzuki)) assertRefused(await client.search({}), 403);
    await write(satoHere, 'others go on');
    assert.equal(await wordFor(satoThere), 'others go on');
    await work.register.grant('WORK', 'suzuki', { update: true, edit: false, admin: false });
    await replica.resume();
    await replica.caughtUp();
    await until(async () => (await suzuki.search({})).status === 200);
  });

  await t.test('a replica that stops, is killed or comes back is no error', async () => {
    let isOver = false;
    let count = 0;
    const asking = [...clients(keys.sato), ...clients(keys.suzuki)].map(async (client) => {
      for (; !isOver; count++) {
        const found = await client.search({ k_primarykey: `R${count % RECORDS}` });
        assert.equal(found.status, 200, JSON.stringify(found.json));
        assert.ok(found.milliseconds < 2_000, `${found.milliseconds} ms`);
      }
    });
    const failed = Promise.race(asking);
    try {
      for (const stop of [() => replica.stop('fast'), () => replica.stop('immediate'), () => replica.kill()]) {
        await Promise.race([sleep(500), failed]);
        await stop();
        await Promise.race([sleep(700), failed]);
        await replica.start();
      }
      await Promise.race([sleep(500), failed]);
    } finally {
      isOver = true;
    }
    await Promise.all(asking);
    assert.ok(count > 100);
    await until(() => isAnsweredByReplica(`back ${performance.now()}`));
  });

  for (const server of servers) {
    assert.equal(await server.end(), 0, server.err());
    assert.doesNotMatch(server.err(), / error /);
  }
  await work.register.close();
});
