// Webhooks (P24): real servers, a real receiver, both engines; what is sent, in which order, and what becomes of it when something fails.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { commandLine } from '../src/cli/cli.ts';
import type { Context } from '../src/cli/context.ts';
import { isPrivate } from '../src/operations/webhook-address.ts';
import { delayAfter, KEPT } from '../src/operations/webhook-delivery.ts';
import { openOutbox, type WebhookPlace } from '../src/store/webhooks.ts';
import { type EngineName, flagsFor, freshRegister, useEngine } from './harness/fresh-register.ts';
import { type Ran, type RunningServer, startServer, temporaryFolder } from './harness/run-daicho.ts';
import { appOf } from './harness/running.ts';
import { entries } from './spec/opened.ts';

const definition = (code: string) => `
code: ${code}
fields:
  - { id: ${code}_primarykey, type: id, search: exact }
  - { id: ${code}_name, type: text, search: partial, required: true }
  - { id: ${code}_mail, type: text, unique: true, search: exact }
  - { id: ${code}_hidden, type: text, list: hidden }
tables:
  - { code: ${code}_rows, fields: [{ id: ${code}_text, type: text, search: exact }] }
`;

const SECRET = 'a secret of sixteen and more';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  readonly json: any;
  readonly at: number;
}

type Answer = (received: Received, response: ServerResponse) => void;

interface Receiver {
  readonly port: number;
  readonly received: Received[];
  answer: Answer;
  /** Waits until so many have come since the last call, and gives them. */
  take(count: number): Promise<readonly Received[]>;
}

const fine: Answer = (_, response) => void response.end('thank you');
const status =
  (code: number): Answer =>
  (_, response) =>
    void response.writeHead(code, { location: '/elsewhere' }).end();

async function startReceiver(t: TestContext): Promise<Receiver> {
  const received: Received[] = [];
  let taken = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const { url: path = '', headers } = request;
    const each = { path, headers, text, json: JSON.parse(text), at: Date.now() };
    received.push(each);
    receiver.answer(each, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    received,
    answer: fine,
    async take(count) {
      await until(() => received.length >= taken + count, `only ${received.length - taken} of ${count} came`);
      const some = received.slice(taken, taken + count);
      taken += count;
      return some;
    },
  };
  return receiver;
}

async function until(is: () => boolean | Promise<boolean>, message: string): Promise<void> {
  for (const end = Date.now() + 10_000; !(await is()); await wait(20)) assert.ok(Date.now() < end, message);
}

interface Bench {
  readonly receiver: Receiver;
  readonly place: WebhookPlace;
  serve(...args: string[]): Promise<RunningServer>;
  /** The server that was started last. */
  server(): RunningServer;
  command(...args: string[]): Promise<Ran>;
  /** Rows behind the store's back. */
  query(text: string): Promise<readonly (readonly unknown[])[]>;
  /** Calls an operation as an administrator of the app, on the server that was started last. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  call(operation: string, param: object, more?: Record<string, string>): Promise<any>;
  /** Attempts, state and error of the newest delivery. */
  newest(): Promise<readonly unknown[]>;
}

/** A register with the apps A and B, a receiver, and servers in processes of their own. */
async function openBench(t: TestContext, engine: EngineName): Promise<Bench> {
  useEngine(engine);
  const { place, openRegister, query, remove } = await freshRegister();
  const register = await openRegister();
  await register.addUser({ id: 'boss', name: '上司', lang: 'ja' });
  for (const code of ['A', 'B']) {
    const { app, source } = appOf(definition(code));
    await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
    await register.grant(code, 'boss', { update: true, edit: true, admin: true });
    await register.addKey(code, 'boss', createHash('sha256').update(`key-${code}`).digest(), null);
  }
  await register.close();
  const servers: RunningServer[] = [];
  const receiver = await startReceiver(t);
  t.after(async () => {
    for (const each of servers) await each.end('SIGKILL');
    await remove();
  });
  const flags = flagsFor(place);
  const server = () => servers.at(-1) as RunningServer;
  return {
    ...{ receiver, query, server },
    place: engine === 'sqlite' ? { dataDir: place, databaseUrl: '' } : { dataDir: '', databaseUrl: place },
    async serve(...args) {
      const folder = engine === 'sqlite' ? place : temporaryFolder(t);
      const started = await startServer(t, folder, ...(engine === 'sqlite' ? [] : flags), ...args);
      servers.push(started);
      return started;
    },
    command: (...args) => command([...args, ...flags]),
    async call(operation, param, more = {}) {
      const appcode = more.appcode ?? 'A';
      const sent = { appcode, appkey: `key-${appcode}`, param: JSON.stringify(param), ...more };
      const url = `${server().address}/webapi/${operation}`;
      const response = await fetch(url, { method: 'POST', body: new URLSearchParams(sent) });
      return JSON.parse(await response.text());
    },
    newest: async () =>
      (await query('select attempts, state, error from deliveries order by id desc limit 1'))[0] ?? [],
  };
}

/** Runs a command in this process, which is quicker than in one of its own. */
async function command(args: readonly string[]): Promise<Ran> {
  let [code, out, err] = [0, '', ''];
  const context: Context = {
    environment: {},
    print(text) {
      out += text;
    },
    printJson(value) {
      out += JSON.stringify(value);
    },
    note(line) {
      err += `${line}\n`;
    },
    startProgress: () => ({ begin() {}, report() {}, end() {} }),
    fail() {
      code = 1;
    },
  };
  try {
    await commandLine(context).parseAsync(args, { from: 'user' });
  } catch (error) {
    code = 1;
    err += (error as Error).message;
  }
  return { code, out, err };
}

function signed({ headers, text }: Received, secret: string): boolean {
  const hmac = createHmac('sha256', secret).update(`${headers['daicho-timestamp']}.${text}`);
  return headers['daicho-signature'] === `sha256=${hmac.digest('hex')}`;
}

const key = (id: string) => entries({ A_primarykey: id });

describe('webhooks', { concurrency: true }, () => {
  for (const engine of ['sqlite', 'postgres'] as const)
    test(`on ${engine}`, { timeout: 60_000 }, async (t) => {
      const bench = await openBench(t, engine);
      const { receiver, call, query, newest } = bench;
      const url = (path: string, host = '127.0.0.1') => `http://${host}:${receiver.port}${path}`;
      const secretFile = join(temporaryFolder(t), 'secret');
      writeFileSync(secretFile, `${SECRET}\n`);
      const count = async (where = 'true') =>
        Number((await query(`select count(*) from deliveries where ${where}`))[0]?.[0]);
      const get = async (id: string) => {
        const { rkwa_status, rkwa_errorcount, rkwa_errmsg, ...record } = await call('x1/data/get', key(id));
        assert.equal(rkwa_status, 'OK');
        return record;
      };
      const insert = async (id: string) => {
        assert.equal((await call('x1/data/insert', entries({ A_primarykey: id, A_name: id }))).rkwa_status, 'OK');
      };
      const rename = async (id: string, name: string) => {
        const { rkwa_status } = await call('v1/data/update', entries({ A_primarykey: id, A_name: name }), {
          mode: 'merge',
        });
        assert.equal(rkwa_status, 'OK');
      };

      await t.test('an app without webhooks writes nothing, and a private address cannot be added', async () => {
        await bench.serve();
        await insert('before');
        assert.equal(await count(), 0);
        const { code, err } = await bench.command('webhook', 'add', 'A', url('/x'));
        assert.equal(code, 1);
        assert.match(err, /127\.0\.0\.1 is an address of this machine/);
      });

      await t.test('a name that leads to a private address is refused when it is delivered to', async () => {
        const { code, err } = await bench.command(
          ...['webhook', 'add', 'A', url('/hook', 'localhost'), '--secret-file', secretFile],
        );
        assert.equal(code, 0, err);
        await insert('private');
        await until(async () => Number((await newest())[0]) >= 1, 'no attempt was made');
        assert.match(String((await newest())[2]), /private network, which WEBHOOK_PRIVATE does not allow/);
        assert.equal(receiver.received.length, 0);
      });

      await t.test('what waits is delivered by the next server, where WEBHOOK_PRIVATE allows it', async () => {
        assert.equal(await bench.server().end(), 0);
        await query(`update deliveries set due_at = 0`);
        await bench.serve('--webhook-private', 'on', ...(engine === 'sqlite' ? ['--workers', '2'] : []));
        const [first] = await receiver.take(1);
        assert.equal(first?.json.primaryKey, 'private');
      });

      await t.test('insert, update, delete and restore: what they say, signed', async () => {
        const since = Date.now();
        await call('x1/data/insert', {
          ...entries({ A_primarykey: '1', A_name: '一', A_hidden: '秘' }),
          A_rows: [entries({ A_text: '行' })],
        });
        const [inserted] = await receiver.take(1);
        assert.ok(inserted);
        assert.ok(inserted.at - since < 1_500, `it took ${inserted.at - since} ms`);
        const one = await get('1');
        assert.equal(one.A_rows[0].A_text.value, '行');
        assert.equal(one.A_hidden.value, '秘');
        const { delivery, at, ...said } = inserted.json;
        assert.deepEqual(said, {
          ...{ event: 'insert', app: 'A', user: { id: 'boss', name: '上司' }, revision: '1', primaryKey: '1' },
          after: one,
        });
        assert.match(at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
        const { headers, path } = inserted;
        assert.equal(path, '/hook');
        assert.equal(headers['content-type'], 'application/json;charset=UTF-8');
        assert.deepEqual([headers['daicho-event'], headers['daicho-delivery']], ['insert', String(delivery)]);
        assert.ok(Math.abs(Number(headers['daicho-timestamp']) - Date.now() / 1_000) < 60);

        await rename('1', '二');
        const two = await get('1');
        await call('x1/table/update', { ...key('1'), A_rows: [entries({ A_text: '別' })] });
        const three = await get('1');
        await call('x1/data/upsert', entries({ A_primarykey: '1', A_name: '四' }));
        const four = await get('1');
        await call('x1/data/restore', key('1'), { version: '1' });
        const five = await get('1');
        assert.deepEqual([five.A_name.value, five.A_rows[0].A_text.value], ['一', '行']);
        await call('x1/data/delete', key('1'));
        await call('x1/data/restore', key('1'));
        const six = await get('1');
        const rest = await receiver.take(6);
        assert.deepEqual(
          rest.map(({ json }) => [json.event, json.revision, json.before, json.after]),
          [
            ['update', '2', one, two],
            ['update', '3', two, three],
            ['update', '4', three, four],
            ['update', '5', four, five],
            ['delete', '5', five, undefined],
            ['insert', '6', undefined, six],
          ],
        );
        for (const each of [inserted, ...rest]) assert.ok(signed(each, SECRET) && !signed(each, 'another'), each.text);
      });

      await t.test('bulk: one delivery for each line that was done', async () => {
        const line = (verb: string, values: Record<string, string>) => JSON.stringify({ [verb]: entries(values) });
        const lines = [
          line('insert', { A_primarykey: 'n1', A_name: 'x' }),
          line('insert', { A_primarykey: '1', A_name: 'there already' }),
          line('delete', { A_primarykey: 'before' }),
        ];
        const body = new URLSearchParams({ appcode: 'A', appkey: 'key-A', lines: lines.join('\n') });
        await (await fetch(`${bench.server().address}/webapi/x1/data/bulk`, { method: 'POST', body })).text();
        const told = (await receiver.take(2)).map(({ json }) => `${json.event} ${json.primaryKey}`);
        assert.deepEqual(told.toSorted(), ['delete before', 'insert n1']);
      });

      await t.test('what is refused is not told, nor what another app does', async () => {
        const all = await count();
        const refused = [
          call('x1/data/insert', entries({ A_primarykey: '1', A_name: 'x' })),
          call('x1/data/insert', entries({ A_primarykey: 'new' })),
          call('v1/data/update', entries({ A_primarykey: '1', A_none: 'x' }), { mode: 'merge' }),
          call('v1/data/update', entries({ A_primarykey: '1', A_name: 'x', pms_revision: '1' }), { mode: 'merge' }),
          call('v1/data/update', entries({ A_primarykey: 'none', A_name: 'x' })),
          call('x1/data/delete', key('none')),
        ];
        for (const { rkwa_status } of await Promise.all(refused)) assert.equal(rkwa_status, 'NG');
        const other = await call('x1/data/insert', entries({ B_primarykey: '1', B_name: 'x' }), { appcode: 'B' });
        assert.equal(other.rkwa_status, 'OK');
        assert.equal(await count(), all);
      });

      await t.test('a record waits for its first delivery that fails, and others do not', async () => {
        await insert('X');
        await insert('Y');
        await receiver.take(2);
        let failures = 1;
        receiver.answer = (each, response) =>
          each.json.primaryKey === 'X' && failures-- > 0 ? status(500)(each, response) : fine(each, response);
        for (const name of ['a', 'b', 'c']) await rename('X', name);
        await rename('Y', 'a');
        const told = (await receiver.take(5)).map(({ json, at }) => ({ what: json.primaryKey + json.revision, at }));
        const order = told.map(({ what }) => what);
        assert.deepEqual(
          [order.slice(0, 2).toSorted(), order.slice(2)],
          [
            ['X2', 'Y2'],
            ['X2', 'X3', 'X4'],
          ],
        );
        const again = (told[2]?.at ?? 0) - (told[order.indexOf('X2')]?.at ?? 0);
        assert.ok(again >= 950 && again < 4_000, `it was sent again after ${again} ms`);
      });

      await t.test(
        'redirects are not followed; after the last attempt it has failed, and retry sends it again',
        async () => {
          receiver.answer = status(302);
          await rename('Y', 'b');
          const [sent] = await receiver.take(1);
          await until(async () => (await newest())[2] === 'answered 302', 'the attempt was not noted');
          await query(`update deliveries set due_at = 0, attempts = 18 where state = 'waiting'`);
          await receiver.take(1);
          await until(async () => (await newest())[1] === 'failed', 'the last attempt is not the last');
          receiver.answer = fine;
          const log = JSON.parse((await bench.command('webhook', 'log', 'A', '--failed', '--json')).out);
          assert.deepEqual(
            log.map(({ id, event, primaryKey, status: of, error }: Record<string, unknown>) => ({
              ...{ id, event, primaryKey, of, error },
            })),
            [{ id: sent?.json.delivery, event: 'update', primaryKey: 'Y', of: 302, error: 'answered 302' }],
          );
          assert.equal((await bench.command('webhook', 'retry', '--all-failed', 'A')).code, 0);
          const [again] = await receiver.take(1);
          assert.deepEqual(again?.text, sent?.text);
          await until(async () => (await count(`state <> 'delivered'`)) === 0, 'it is not noted as delivered');
          assert.ok(receiver.received.every(({ path }) => path === '/hook'));
        },
      );

      await t.test('retry of one that waits brings what waits behind it, too', async () => {
        receiver.answer = status(500);
        await rename('Y', 'c');
        const [first] = await receiver.take(1);
        await rename('Y', 'd');
        await until(async () => (await count(`state = 'waiting' and attempts = 1`)) === 1, 'it was not noted');
        receiver.answer = fine;
        await query(`update deliveries set due_at = ${Date.now() + 3_600_000} where state = 'waiting'`);
        assert.equal((await bench.command('webhook', 'retry', String(first?.json.delivery))).code, 0);
        const told = await receiver.take(2);
        assert.deepEqual(
          told.map(({ json }) => json.after.A_name.value),
          ['c', 'd'],
        );
        await until(async () => (await count(`state <> 'delivered'`)) === 0, 'it is not noted as delivered');
        const again = await bench.command('webhook', 'retry', String(first?.json.delivery));
        assert.match(again.err, /no delivery \d+ that is not delivered/);
        assert.match(
          (await bench.command('webhook', 'remove', '123456789012')).err,
          /there is no webhook 123456789012/,
        );
      });

      await t.test('retry of all that have failed brings what waits behind them, too, and nothing else', async () => {
        receiver.answer = status(500);
        await rename('Y', 'e');
        const [first] = await receiver.take(1);
        await until(async () => (await newest())[0] === 1, 'the attempt was not noted');
        await query(`update deliveries set due_at = 0, attempts = 18 where state = 'waiting'`);
        await receiver.take(1);
        await until(async () => (await newest())[1] === 'failed', 'the last attempt is not the last');
        await rename('Y', 'f');
        await rename('X', 'e');
        const later = await receiver.take(2);
        await until(async () => (await count(`state = 'waiting' and attempts = 1`)) === 2, 'they were not noted');
        receiver.answer = fine;
        await query(`update deliveries set due_at = ${Date.now() + 3_600_000} where state = 'waiting'`);
        const { err } = await bench.command('webhook', 'retry', '--all-failed', 'A');
        assert.equal(err, '1 delivery waits to be sent again.\n');
        const told = (await receiver.take(2)).map(({ json }) => [json.primaryKey, json.after.A_name.value]);
        assert.deepEqual(told, [
          ['Y', 'e'],
          ['Y', 'f'],
        ]);
        await until(async () => (await count(`state <> 'delivered'`)) === 1, 'they are not noted as delivered');
        const left = later.find(({ json }) => json.primaryKey === 'X');
        const waiting = await query(`select id, attempts from deliveries where state = 'waiting'`);
        assert.deepEqual(waiting.flat().map(String), [String(left?.json.delivery), '1']);
        assert.ok(first !== undefined && left !== undefined && left.json.delivery > first.json.delivery);
        assert.equal((await bench.command('webhook', 'retry', String(left.json.delivery))).code, 0);
        await receiver.take(1);
        await until(async () => (await count(`state <> 'delivered'`)) === 0, 'it is not noted as delivered');
        const { err: none } = await bench.command('webhook', 'retry', '--all-failed', 'A');
        assert.equal(none, '0 deliveries wait to be sent again.\n');
      });

      await t.test('a second webhook: a secret of its own, only the events it wants; list, test, remove', async () => {
        const added = await bench.command(
          ...['webhook', 'add', 'A', url('/second'), '--events', 'delete', '--webhook-private', 'on', '--json'],
        );
        const { id, secret } = JSON.parse(added.out);
        assert.ok(secret.length >= 32);
        await rename('Y', 'c');
        await call('x1/data/delete', key('Y'));
        const told = await receiver.take(3);
        assert.deepEqual(told.map(({ path, json }) => `${path} ${json.event}`).toSorted(), [
          ...['/hook delete', '/hook update', '/second delete'],
        ]);
        assert.ok(told.filter(({ path }) => path === '/second').every((each) => signed(each, secret)));
        const listed = await bench.command('webhook', 'list', 'A', '--json');
        assert.deepEqual(
          JSON.parse(listed.out).map(({ url: to, events }: { url: string; events: string[] }) => [to, events.join()]),
          [
            [url('/hook', 'localhost'), 'insert,update,delete'],
            [url('/second'), 'delete'],
          ],
        );
        assert.ok(!listed.out.includes(SECRET) && !listed.out.includes(secret), 'secrets are not listed');

        const tried = await bench.command('webhook', 'test', String(id), '--webhook-private', 'on');
        assert.equal(tried.code, 0, tried.err);
        assert.match(tried.out, /^200 in \d+ ms\nthank you\n$/);
        const [trial] = await receiver.take(1);
        assert.deepEqual([trial?.json.event, trial?.json.app, trial?.headers['daicho-event']], ['test', 'A', 'test']);
        assert.ok(trial !== undefined && signed(trial, secret));
        const refused = await bench.command('webhook', 'test', String(id));
        assert.equal(refused.code, 1);
        assert.match(refused.out, /WEBHOOK_PRIVATE does not allow/);

        assert.equal((await bench.command('webhook', 'remove', String(id))).code, 0);
        assert.equal(await count(`webhook_id = ${id}`), 0);
      });

      await t.test('of two servers one delivers; when it is killed, the other one sends again', async () => {
        const holder = bench.server();
        await bench.serve('--webhook-private', 'on');
        receiver.answer = () => {};
        await insert('K');
        const [first] = await receiver.take(1);
        await wait(200);
        assert.equal(receiver.received.at(-1), first, 'only one of them sends');
        await holder.end('SIGKILL');
        const [again] = await receiver.take(1);
        assert.equal(again?.text, first?.text);
        assert.equal(first?.json.primaryKey, 'K');
      });

      await t.test('a server that is stopped waits for no slow receiver; the next one sends again', async () => {
        const started = Date.now();
        assert.equal(await bench.server().end('SIGTERM'), 0);
        assert.ok(Date.now() - started < 3_000);
        assert.deepEqual((await newest()).slice(0, 2), [0, 'waiting'], 'it was no attempt');
        receiver.answer = fine;
        const server = await bench.serve('--webhook-private', 'on');
        const [last] = await receiver.take(1);
        assert.equal(last?.json.primaryKey, 'K');
        await until(async () => (await newest())[1] === 'delivered', 'it is not noted as delivered');
        assert.equal(await server.end(), 0);
        assert.ok(!server.err().includes(SECRET));
      });

      await t.test('what is over leaves the log after its time, and what no webhook has at once', async () => {
        const outbox = await openOutbox(bench.place);
        await query(
          `insert into deliveries (webhook_id, app_id, event, place, revision, record, user_id, at, due_at)
           values (999, 1, 'insert', 1, 1, '1', 'boss', '', 0)`,
        );
        const before = await count(`state = 'delivered'`);
        assert.ok(before > 0);
        await outbox.prune(Date.now() - KEPT.delivered, Date.now() - KEPT.failed);
        assert.deepEqual([await count(), await count('webhook_id = 999')], [before, 0]);
        await outbox.prune(Date.now() + 1, 0);
        assert.equal(await count(), 0);
        await outbox.close();
      });

      await t.test('a move and a backup carry webhooks, not what they have been told', async () => {
        const [folder, restored, file] = ['moved', 'restored', 'all.tar'].map((name) => join(temporaryFolder(t), name));
        const ran = await Promise.all([
          bench.command('move', '--to', folder as string),
          bench.command('backup', file as string),
        ]);
        for (const { code, err } of ran) assert.equal(code, 0, err);
        const { code, err } = await command(['restore', file as string, '--data-dir', restored as string]);
        assert.equal(code, 0, err);
        for (const place of [folder, restored]) {
          const [hook] = JSON.parse(
            (await command(['webhook', 'list', 'A', '--json', '--data-dir', place as string])).out,
          );
          assert.equal(hook.url, url('/hook', 'localhost'));
          const log = await command(['webhook', 'log', 'A', '--json', '--data-dir', place as string]);
          assert.deepEqual(JSON.parse(log.out), []);
        }
        const before = receiver.received.reduce((most, { json }) => Math.max(most, json.delivery), 0);
        receiver.answer = fine;
        await bench.server().end();
        await startServer(t, restored as string, '--webhook-private', 'on').then(async ({ address }) => {
          const sent = {
            appcode: 'A',
            appkey: 'key-A',
            param: JSON.stringify(entries({ A_primarykey: 'carried', A_name: 'x' })),
          };
          await fetch(`${address}/webapi/x1/data/insert`, { method: 'POST', body: new URLSearchParams(sent) });
        });
        await until(() => receiver.received.some(({ json }) => json.primaryKey === 'carried'), 'it did not come');
        const { json } = receiver.received.at(-1) as Received;
        assert.ok(json.delivery > before, `${json.delivery} is no number that a receiver knows`);
      });
    });
});

describe('addresses', () => {
  const cases: readonly (readonly [address: string, expected: boolean])[] = [
    ...['127.0.0.1', '127.255.0.1', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
    ...['0.0.0.0', '100.64.0.1', '224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1', 'fe80::1%eth0', 'fc00::1'],
    ...['fd12::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:a00:1', '::127.0.0.1', '64:ff9b::a00:1', '2002:7f00:1::'],
    ...['::ffff:0:127.0.0.1', '::ffff:0:a00:1', '100::1'],
  ]
    .map((address): [string, boolean] => [address, true])
    .concat(
      ['8.8.8.8', '172.32.0.1', '192.169.0.1', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'].map(
        (address): [string, boolean] => [address, false],
      ),
    );
  for (const [address, expected] of cases) {
    test(`${address} is ${expected ? '' : 'not '}private`, () => assert.equal(isPrivate(address), expected));
  }
});

test('the pauses between attempts grow, and end after three days', () => {
  const delays = Array.from({ length: 19 }, (_, attempts) => delayAfter(attempts + 1));
  assert.deepEqual(delays.slice(0, 6), [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000]);
  assert.deepEqual(new Set(delays.slice(6, 18)), new Set([6 * 3_600_000]));
  assert.equal(delays[18], null);
});
