// A server that is killed while clients update: every answered update is there after the next start (D31, P09).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { flagsFor, freshRegister } from '../harness/fresh-register.ts';
import { startServer, temporaryFolder } from '../harness/run-daicho.ts';
import { appOf, putRecords } from '../harness/running.ts';

const APP = `code: A
fields:
  - { id: a_primarykey, type: id }
  - { id: t, type: text, search: partial, fold: true }
  - { id: n, type: number, search: range }
`;
const RECORDS = 500;
const CLIENTS = 16;
const KEY = { appcode: 'A', appkey: 'the key' };

/** Sends one request; rejects where the connection ends without an answer. */
async function post(address: string, operation: string, parameters: Record<string, string>) {
  const response = await fetch(`${address}/webapi/v1/${operation}`, {
    method: 'POST',
    body: new URLSearchParams({ ...KEY, ...parameters }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of either operation
  return (await response.json()) as any;
}

test('a server killed again and again loses no update that it answered', { timeout: 120_000 }, async (t) => {
  const { place, openRegister, remove } = await freshRegister();
  const register = await openRegister();
  t.after(() => register.close().finally(remove));
  // Of a flag that is given twice the last counts.
  const serve = () => startServer(t, temporaryFolder(t), ...flagsFor(place));
  const { app, source } = appOf(APP);
  await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await register.grant('A', 'sato', { update: true, edit: false, admin: false });
  await register.addKey('A', 'sato', createHash('sha256').update(KEY.appkey).digest(), null);
  await putRecords(
    register,
    'A',
    Array.from({ length: RECORDS }, (_, n) => ({ t: 'at first', n: String(n) })),
    'sato',
  );

  /** By primary key: how often an update was sent, and the last turn that was answered. */
  const sent = new Map<string, number>();
  const answered = new Map<string, number>();
  const client = async (address: string, lane: number) => {
    for (let turn = 0; ; turn++) {
      // Every client has records of its own, so that the last answer tells what must be there.
      const key = String(1 + lane + CLIENTS * (turn % Math.floor(RECORDS / CLIENTS)));
      const n = (sent.get(key) ?? 0) + 1;
      sent.set(key, n);
      const param = JSON.stringify({
        a_primarykey: { value: key },
        t: { value: `Ｔurn ${n}` },
        n: { value: String(n) },
      });
      const answer = await post(address, 'data/update', { param });
      assert.equal(answer.rkwa_status, 'OK', JSON.stringify(answer));
      answered.set(key, n);
    }
  };

  for (let round = 1; round <= 3; round++) {
    const { address, process: server } = await serve();
    const enough = answered.size === 0 ? 0 : [...answered.values()].reduce((sum, n) => sum + n, 0);
    const clients = Array.from({ length: CLIENTS }, (_, lane) => client(address, lane));
    const ended = Promise.allSettled(clients);
    const done = () => [...answered.values()].reduce((sum, n) => sum + n, 0) - enough;
    while (done() < 400 * round) await Promise.race([new Promise(setImmediate), ...clients]);
    server.kill('SIGKILL');
    for (const result of await ended) {
      assert.ok(
        result.status === 'rejected' && !(result.reason instanceof assert.AssertionError),
        String((result as PromiseRejectedResult).reason),
      );
    }

    const next = await serve();
    const { A: records } = await post(next.address, 'dataset/search', {});
    for (const { a_primarykey: key, t: text, n } of records) {
      const stored = text.value === 'at first' ? 0 : Number(n.value);
      // One that was sent and not answered may be there or not; none is there in part.
      const [least, most] = [answered.get(key.value) ?? 0, sent.get(key.value) ?? 0];
      assert.ok(stored >= least && stored <= most, `${key.value}: ${stored}, answered ${least}, sent ${most}`);
      if (stored > 0) assert.equal(text.value, `Ｔurn ${stored}`);
      answered.set(key.value, stored);
      sent.set(key.value, stored);
    }
    assert.equal(records.length, RECORDS);
    assert.deepEqual(await register.check(['A'], () => {}), []);
    assert.equal(await next.end('SIGTERM'), 0);
  }
});
