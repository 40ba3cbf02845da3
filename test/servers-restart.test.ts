// PostgreSQL stops and starts under load: every request is answered, no update is lost or made twice, and the servers recover.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { freshDatabase } from './harness/database.ts';
import { startPostgres } from './harness/postgres.ts';
import {
  type Answered,
  assertRefused,
  type Client,
  clientOf,
  LONGEST,
  makeWork,
  recordsOf,
} from './harness/servers.ts';

const SERVERS = 2;
const CLIENTS = 16;
/** More than fit one page, so that a search for all of them is read through a cursor. */
const RECORDS = 600;
/** Milliseconds after which every server must answer as before. */
const RECOVERED = 5_000;

/** What a client knows of its own record. */
interface Own {
  readonly key: string;
  /** The words that may be there now: the last one that was answered, and those after it of which nobody knows. */
  possible: string[];
  /** Word → whether its update was answered. */
  readonly sent: Map<string, boolean>;
}

test('PostgreSQL stops and starts under load', { timeout: 180_000 }, async (t) => {
  const database = await startPostgres();
  t.after(() => database.remove());
  const work = await makeWork(database.url, RECORDS);
  await work.register.close();
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => work.serve(t)));
  const statuses = new Map<number, number>();
  let longest = 0;
  let isOver = false;

  /** What may be answered at any time. Of a long answer that was begun the rest may be missing. */
  const checked = (answered: Answered, mayBreak = false): Answered => {
    const { status, milliseconds } = answered;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    longest = Math.max(longest, milliseconds);
    if (!(status === 0 && mayBreak) && status !== 200) assertRefused(answered, 503);
    return answered;
  };
  const askOn = async (client: Client, own: Own, name: string): Promise<void> => {
    for (let count = 0; !isOver; count++) {
      const word = `${name}-${count}`;
      own.possible.push(word);
      const updated = checked(await client.update({ k_primarykey: own.key, word }));
      own.sent.set(word, updated.status === 200);
      if (updated.status === 200) own.possible = [word];
      else await sleep(50);
      const found = checked(await client.search({ k_primarykey: own.key }));
      if (found.status === 200) {
        const records = recordsOf(found);
        assert.deepEqual(
          records.map(({ k_primarykey }) => k_primarykey.value),
          [own.key],
        );
        assert.ok(own.possible.includes(records[0].word.value), `${records[0].word.value} of ${own.possible}`);
      }
      if (count % 5 !== 0) continue;
      const all = checked(await client.search({ n: '0' }), true);
      if (all.status === 200) assert.equal(recordsOf(all).length, RECORDS);
    }
  };
  const owns: Own[] = [];
  const clients = Array.from({ length: CLIENTS }, (_, index) => {
    const own: Own = { key: `R${index}`, possible: ['first'], sent: new Map() };
    owns.push(own);
    return askOn(clientOf(servers[index % SERVERS] as (typeof servers)[number], work.key), own, `client ${index}`);
  });
  const failed = Promise.race(clients);
  const pass = (milliseconds: number) => Promise.race([sleep(milliseconds), failed]);

  try {
    for (const end of [() => database.stop('fast'), () => database.stop('immediate'), () => database.kill()]) {
      await pass(700);
      await end();
      await pass(1_500);
      for (const server of servers) {
        const client = clientOf(server, work.key);
        for (const answered of await Promise.all([
          client.search({}),
          client.update({ k_primarykey: 'R99', word: 'x' }),
        ])) {
          checked(answered);
          assertRefused(answered, 503);
        }
      }
      await database.start();
      const started = performance.now();
      for (const server of servers) {
        const client = clientOf(server, work.key);
        while ((await client.update({ k_primarykey: 'R100', word: 'x' })).status !== 200) {
          assert.ok(performance.now() - started < RECOVERED, 'a server has not recovered');
          await pass(50);
        }
        while ((await client.search({})).status !== 200) {
          assert.ok(performance.now() - started < RECOVERED, 'a server has not recovered');
          await pass(50);
        }
      }
      t.diagnostic(`recovered after ${Math.round(performance.now() - started)} ms`);
    }
    await pass(700);
  } finally {
    isOver = true;
    await Promise.allSettled(clients);
  }
  await Promise.all(clients);
  t.diagnostic(`${JSON.stringify([...statuses])}, the longest took ${Math.round(longest)} ms`);
  assert.ok(longest < LONGEST);

  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const versions = await sql`select version from daicho.app_1_history`;
  const now = await sql`select word from daicho.app_1_2`;
  await sql.end();
  const written = [...versions.map(({ version }) => JSON.parse(version).fields.word), ...now.map(({ word }) => word)];
  const times = new Map<string, number>();
  for (const word of written) times.set(word, (times.get(word) ?? 0) + 1);
  for (const { sent } of owns) {
    for (const [word, isAnswered] of sent) {
      if (isAnswered) assert.equal(times.get(word), 1, word);
      else assert.ok((times.get(word) ?? 0) <= 1, word);
    }
  }
  for (const server of servers) {
    assert.equal(await server.end(), 0, server.err());
    assert.doesNotMatch(server.err(), / error /);
  }
});

test('PostgreSQL says nothing any more, then speaks again', { timeout: 120_000 }, async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const work = await makeWork(database.url, 300);
  await work.register.close();
  const way = await startWay(database.url);
  t.after(way.close);
  const server = await work.serve(t, '--database-url', way.url);
  const client = clientOf(server, work.key);
  const ask = () =>
    Promise.all([
      client.update({ k_primarykey: 'R1', word: 'x' }),
      ...Array.from({ length: 20 }, (_, n) => client.search({ k_primarykey: `R${n}` })),
      client.search({}),
    ]);
  for (const answered of await ask()) assert.equal(answered.status, 200);
  way.block();
  let longest = 0;
  for (let again = 0; again < 2; again++) {
    for (const answered of await ask()) {
      assertRefused(answered, 503);
      longest = Math.max(longest, answered.milliseconds);
    }
  }
  way.unblock();
  const started = performance.now();
  while ((await ask()).some(({ status }) => status !== 200)) {
    assert.ok(performance.now() - started < LONGEST, 'the server has not recovered');
  }
  t.diagnostic(
    `the longest took ${Math.round(longest)} ms, recovered after ${Math.round(performance.now() - started)} ms`,
  );
  assert.ok(longest < LONGEST);
  assert.equal(await server.end(), 0, server.err());
});

/** A way to a database that can be blocked: connections stay, and can be made, but nothing comes through. */
async function startWay(to: string): Promise<{ url: string; block(): void; unblock(): void; close(): void }> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let isBlocked = false;
  const way = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => into.write(data)).on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
      if (isBlocked) from.pause();
    }
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  const url = new URL(to);
  url.port = String((way.address() as AddressInfo).port);
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    block() {
      isBlocked = true;
      for (const socket of sockets) socket.pause();
    },
    unblock() {
      isBlocked = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      way.close();
    },
  };
}
