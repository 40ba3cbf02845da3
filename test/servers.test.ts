// Several servers on one PostgreSQL: no update is lost, and what the register changes counts for all of them at once.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FreshDatabase, freshDatabase } from './harness/database.ts';
import { appOf } from './harness/running.ts';
import {
  type Answered,
  assertRefused,
  type Client,
  clientOf,
  DEFINITION,
  issue,
  makeWork,
  recordsOf,
  USERS,
  type Work,
} from './harness/servers.ts';

const SERVERS = 4;
const CLIENTS = 32;
const RECORDS = 100;
const UPDATES = 12;
/** Milliseconds within which all servers go by what was changed. */
const AT_ONCE = 1_000;

interface Bench {
  readonly database: FreshDatabase;
  readonly work: Work;
  readonly addresses: readonly { readonly address: string }[];
}

test('four servers on one PostgreSQL', { timeout: 120_000 }, async (t) => {
  const database = await freshDatabase();
  const work = await makeWork(database.url, RECORDS);
  t.after(async () => {
    await work.register.close();
    await database.drop();
  });
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => work.serve(t)));
  const bench = { database, work, addresses: servers };

  await t.test('updates by revision: none is lost, and every version is kept once, with who and when', (each) =>
    countTogether(each, bench),
  );
  for (const [name, change] of CHANGES) {
    await t.test(`${name}: all servers go by it at once`, () => seenByAll(bench, change));
  }
  await t.test('all servers go by a change of which they get no notice', () => seenByAll(bench, withoutNotice));
  await t.test('all servers go by a change while their notices were cut off', () => seenByAll(bench, cutOff));
  await t.test('the servers end when they are asked to', async () => {
    for (const server of servers) assert.equal(await server.end(), 0, server.err());
    assert.deepEqual(await work.register.check(['WORK'], () => {}), []);
  });
});

/** Every client counts records on, reading again whenever another was quicker. */
async function countTogether(t: TestContext, { work, database, addresses }: Bench): Promise<void> {
  let conflicts = 0;
  const countOn = async (client: Client): Promise<void> => {
    const key = `R${Math.floor(Math.random() * RECORDS)}`;
    for (;;) {
      const found = await client.search({ k_primarykey: key }, { revision: '1' });
      const [record] = recordsOf(found);
      const n = String(Number(record.n.value) + 1);
      const param = { k_primarykey: key, n, pms_revision: record.pms_revision.value };
      const updated = await client.update(param);
      if (updated.status === 200) return;
      assertRefused(updated, 409);
      conflicts++;
    }
  };
  const keys = await Promise.all(USERS.map((userId) => issue(work.register, userId)));
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const key = keys[Math.floor(index / SERVERS) % USERS.length] as string;
    const client = clientOf(addresses[index % SERVERS] as Bench['addresses'][number], key);
    for (let done = 0; done < UPDATES; done++) await countOn(client);
  });
  await Promise.all(clients);
  t.diagnostic(`${CLIENTS * UPDATES} updates, ${conflicts} conflicts`);

  const total = CLIENTS * UPDATES;
  for (const address of addresses) {
    const records = recordsOf(await clientOf(address, work.key).search({}, { revision: '1' }));
    assert.equal(records.length, RECORDS);
    for (const { n, pms_revision } of records) assert.equal(Number(pms_revision.value), 1 + Number(n.value));
    assert.equal(
      records.reduce((sum, { n }) => sum + Number(n.value), 0),
      total,
    );
  }
  const history = await database.query(
    'select record, revision, user_id, at, version from app_1_history order by record, revision',
  );
  assert.equal(history.length, total);
  const byUser = new Map<unknown, number>();
  for (const [index, [record, revision, userId, at, version]] of history.entries()) {
    const before = history[index - 1];
    assert.equal(revision, before?.[0] === record ? Number(before?.[1]) + 1 : 1);
    assert.equal(JSON.parse(String(version)).fields.n, String(Number(revision) - 1));
    assert.match(String(at), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    byUser.set(userId, (byUser.get(userId) ?? 0) + 1);
  }
  assert.deepEqual([...byUser].sort(), USERS.map((userId) => [userId, total / USERS.length] as const).sort());
}

/** Asks, changes something, and gives what the answers must be then. */
type Change = (bench: Bench, key: string) => Promise<(client: Client) => Promise<boolean>>;

const isRefused = (status: number, ask: (client: Client) => Promise<Answered>) => async (client: Client) => {
  const answered = await ask(client);
  if (answered.status === 200) return false;
  assertRefused(answered, status);
  return true;
};
const search = (client: Client) => client.search({ k_primarykey: 'R1' });
const update = (client: Client) => client.update({ k_primarykey: 'R1', word: 'again' });

/** Revokes the newest key. */
async function revoke({ register }: Work): Promise<void> {
  const keys = await register.keys('WORK');
  await register.revokeKey(keys.at(-1)?.id as number);
}

const CHANGES: readonly (readonly [name: string, Change])[] = [
  [
    'a key is revoked',
    async ({ work }) => {
      await revoke(work);
      return isRefused(401, search);
    },
  ],
  [
    'the option is switched off',
    async ({ work: { register } }) => {
      await register.setWebApi(false);
      return isRefused(403, search);
    },
  ],
  [
    'the option is switched on',
    async ({ work: { register } }) => {
      await register.setWebApi(true);
      return async (client) => (await search(client)).status === 200;
    },
  ],
  [
    'an app goes out of production',
    async ({ work: { register } }) => {
      const { app, source } = appOf(`${DEFINITION}state: maintenance\n`);
      await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
      return isRefused(403, search);
    },
  ],
  [
    'an app goes into production',
    async ({ work: { register } }) => {
      const { app, source } = appOf(DEFINITION);
      await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
      return async (client) => (await search(client)).status === 200;
    },
  ],
  [
    'a user is renamed',
    async ({ work: { register } }) => {
      await register.changeUser('suzuki', { name: '鈴木' }, () => {});
      return async (client) => {
        const updated = await update(client);
        assert.equal(updated.status, 200);
        return (
          JSON.stringify(updated.json).includes('鈴木') && JSON.stringify((await search(client)).json).includes('鈴木')
        );
      };
    },
  ],
  [
    'a right is withdrawn',
    async ({ work: { register } }) => {
      await register.withdraw('WORK', 'suzuki');
      return isRefused(403, update);
    },
  ],
];

/** The catalog changed as by a process whose notice does not arrive. */
const withoutNotice: Change = async ({ database }) => {
  await database.query(`update keys set revoked_at = issued_at where id = (select max(id) from keys)`);
  await database.query(`update settings set value = (value::bigint + 1)::text where name = 'catalog_version'`);
  return isRefused(401, search);
};

const cutOff: Change = async ({ work, database }) => {
  const cut = await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`,
  );
  assert.ok(cut.length >= SERVERS);
  await revoke(work);
  return isRefused(401, search);
};

async function seenByAll(bench: Bench, change: Change): Promise<void> {
  const key = await issue(bench.work.register, 'suzuki');
  const clients = bench.addresses.map((address) => clientOf(address, key));
  // A new key counts at once too; whatever it was before that a change brings about.
  for (const client of clients) assert.notEqual((await search(client)).status, 401);
  const isSeen = await change(bench, key);
  const changed = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (!(await isSeen(client))) {
        assert.ok(performance.now() - changed < AT_ONCE, 'a server goes by what it was before');
        await sleep(5);
      }
    }),
  );
}
