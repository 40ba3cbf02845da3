// What becomes of deliveries when the database fails under them (P24); all else about webhooks is in webhooks.test.ts.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDelivery } from '../src/operations/webhook-delivery.ts';
import type { Attempt, Delivery, Outbox } from '../src/store/webhooks.ts';

const delivery = (id: number): Delivery => ({
  ...{ id, appId: 1, attempts: 0, event: 'update', seq: id, revision: 1 },
  ...{ primaryKey: String(id), userId: 'u', at: '2026-04-01 00:00:00' },
});

/** Delivers to a receiver from an outbox in memory; gives the numbers that came and the attempts that were noted. */
async function deliver(t: TestContext, waiting: Delivery[], body: Outbox['body'], broken = () => {}) {
  const came: string[] = [];
  const noted: Attempt[] = [];
  const errors: unknown[] = [];
  const server = createServer((request, response) => {
    came.push(String(request.headers['daicho-delivery']));
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const settle = async (attempts: readonly Attempt[]) => {
    broken();
    noted.push(...attempts);
    const over = new Set(attempts.map(({ delivery: { id } }) => id));
    waiting.splice(0, waiting.length, ...waiting.filter(({ id }) => !over.has(id)));
  };
  const outbox: Outbox = {
    hold: async () => true,
    isHeld: async () => true,
    targets: async () => [
      { id: 1, app: 'A', url: `http://127.0.0.1:${port}/`, secret: 'a secret of sixteen and more' },
    ],
    due: async (_, limit) => waiting.slice(0, limit),
    prune: async () => {},
    close: async () => {},
    ...{ body, settle },
  };
  const delivering = startDelivery(outbox, { allowPrivate: true, onError: (error) => errors.push(error) });
  t.after(async () => {
    await delivering.end();
    server.closeAllConnections();
    server.close();
  });
  for (const end = Date.now() + 15_000; waiting.length > 0; await sleep(20))
    assert.ok(Date.now() < end, 'all are over');
  return { came, noted, errors };
}

test('deliveries whose body cannot be made are attempts that failed, and others have their turn', async (t) => {
  const waiting = [1, 2, 3, 4, 5].map(delivery);
  const { came, noted, errors } = await deliver(t, waiting, async ({ id }) => {
    if (id < 5) throw new TypeError('no such value');
    return '{}';
  });
  assert.deepEqual(came, ['5']);
  assert.deepEqual(
    noted.map(({ delivery: { id }, state, status, error }) => [id, state, status, error === null]),
    [...[1, 2, 3, 4].map((id) => [id, 'waiting', null, false]), [5, 'delivered', 200, true]],
  );
  assert.equal(errors.length, 4);
});

test('what was answered and could not be noted is noted later, and not sent twice', async (t) => {
  let failures = 2;
  const { came, noted, errors } = await deliver(
    t,
    [delivery(1)],
    async () => '{}',
    () => {
      if (failures-- > 0) throw new Error('the database is away');
    },
  );
  assert.deepEqual([came.length, errors.length], [1, 2]);
  assert.deepEqual(
    noted.map(({ state, status }) => [state, status]),
    [['delivered', 200]],
  );
});
