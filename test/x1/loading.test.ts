// What is put in beside a load, a rebuild or an update of the same record (D39), on the engine in use.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { engineInUse } from '../harness/fresh-register.ts';
import { appOf, type Reply } from '../harness/running.ts';
import { entries, type Opened, openApp, refusal } from '../spec/opened.ts';

const definition = (code: string, more = '') => `
code: ${code}
fields:
  - { id: l_primarykey, type: id, search: exact }
  - { id: l_text, type: text, search: partial${more} }
  - { id: l_mail, type: text, search: exact, unique: true }
`;

let opened: Opened;
before(async () => {
  opened = await openApp(definition('L'), [{ l_primarykey: '1', l_text: '初め', l_mail: 'a' }]);
});
after(() => opened.running.close());

async function on(code: string): Promise<(operation: string, param: object) => Promise<Reply>> {
  const appkey = await opened.running.key(code, 'yamada');
  return (operation, param) =>
    opened.running.post(`/webapi/x1/${operation}`, { appcode: code, appkey, param: JSON.stringify(param) });
}

const record = (text: string, primaryKey: string | null = null) => ({
  ...{ line: 1, primaryKey, tables: new Map() },
  values: new Map([['l_text', text]]),
});

test('a record that is put in between two batches of a load keeps its number', async () => {
  const { register } = opened.running;
  const call = await on('L');
  const loader = await register.load('L', '', 'numbers');
  await loader.put([record('積 1')], 1);
  await loader.put([record('積 2')], 2);
  const { json } = await call('data/insert', entries({ l_text: '人' }));
  await loader.put([record('積 3')], 3);
  await loader.finish(() => {});
  assert.equal((await opened.record(json.l_primarykey.value)).l_text.value, '人');
  assert.equal((await opened.find({ l_text: '積' })).split(' ').length, 3);
});

test('no record is put in beside the first load of an app, which would be lost; after it there is', async () => {
  const { running } = opened;
  await running.define(definition('M'));
  const call = await on('M');
  const loader = await running.register.load('M', '', 'first');
  await loader.put([record('積', 'a')], 1);
  const refused = refusal(await call('data/insert', entries({ l_text: '人' })));
  assert.deepEqual([refused.code, refused.status], ['being_loaded', 503]);
  await loader.finish(() => {});
  assert.equal((await call('data/insert', entries({ l_text: '人' }))).status, 200);
  assert.equal((await call('dataset/count', {})).json.count, 2);
});

test('a rebuild goes on where a primary key and a unique value pass to another record meanwhile', async () => {
  const { running } = opened;
  await running.define(definition('N'));
  const many = Array.from({ length: 1_500 }, (_, n) => ({ l_primarykey: `k${n}`, l_text: 't', l_mail: `m${n}` }));
  await running.put('N', many);
  const call = await on('N');
  let passing: Promise<unknown> | null = null;
  const pass = async () => {
    assert.equal((await call('data/delete', entries({ l_primarykey: 'k3' }))).status, 200);
    assert.equal((await call('data/insert', entries({ l_primarykey: 'k3', l_text: '新', l_mail: 'm3' }))).status, 200);
  };
  const { app, source } = appOf(definition('N', ', fold: true'));
  await running.register.apply(app, source, {
    ...{ allowDataLoss: false, dryRun: false },
    progress: () => {
      passing ??= pass();
    },
  });
  await passing;
  assert.equal((await call('dataset/count', { l_mail: 'm3' })).json.count, 1);
  assert.deepEqual(await running.register.check(['N'], () => {}), []);
});

test('an update and a deletion of one record at once leave nothing of it behind', async () => {
  const call = await on('L');
  for (let round = 0; round < 10; round++) {
    const key = `d${round}`;
    await call('data/insert', entries({ l_primarykey: key, l_text: '消える' }));
    await Promise.all([
      ...Array.from({ length: 3 }, () => opened.update(entries({ l_primarykey: key, l_text: `変 ${round}` }))),
      call('data/delete', entries({ l_primarykey: key })),
    ]);
  }
  assert.deepEqual(await opened.running.register.check(['L'], () => {}), []);
});

test('a refused record takes no number', async () => {
  const call = await on('L');
  const number = async () => Number((await call('data/insert', entries({ l_text: '番' }))).json.l_primarykey.value);
  const first = await number();
  await call('data/insert', entries({ l_primarykey: '999999999', l_text: 'x', l_mail: 'a' }));
  await call('data/insert', entries({ l_text: 'x', l_mail: 'a' }));
  assert.equal(await number(), first + 1);
});

test('a primary key that no database takes is an unknown one', async () => {
  const call = await on('L');
  for (const operation of ['data/get', 'data/delete', 'data/history']) {
    assert.equal(refusal(await call(operation, entries({ l_primarykey: '\0' }))).code, 'unknown_record', operation);
  }
  assert.equal(refusal(await opened.update(entries({ l_primarykey: '\0' }))).code, 'unknown_record');
});

test('a history of many versions is read in one walk', async () => {
  const call = await on('L');
  await call('data/insert', entries({ l_primarykey: 'h', l_text: '0' }));
  const lines = Array.from({ length: 600 }, (_, n) =>
    JSON.stringify({ merge: entries({ l_primarykey: 'h', l_text: `${n}` }) }),
  );
  await opened.running.post('/webapi/x1/data/get', {});
  const form = new FormData();
  for (const [name, value] of Object.entries(opened.credentials)) form.set(name, value);
  form.set('lines', new Blob([lines.join('\n')]), 'lines');
  await (await fetch(`${opened.running.url}/webapi/x1/data/bulk`, { method: 'POST', body: form })).text();
  const param = JSON.stringify(entries({ l_primarykey: 'h' }));
  const page = async (more: Record<string, string>) =>
    (await opened.running.post('/webapi/x1/data/history', { ...opened.credentials, param, ...more })).json;
  const all = await page({ limit: '10000' });
  assert.deepEqual([all.history.length, all.next, all.history.at(-1).action], [601, null, 'insert']);
  let seen = 0;
  for (let after = ''; ; ) {
    const { history, next } = await page({ limit: '250', ...(after !== '' && { after }) });
    assert.deepEqual(history, all.history.slice(seen, seen + history.length));
    seen += history.length;
    if (next === null) break;
    after = next;
  }
  assert.equal(seen, 601);
});

test('an import into an app that is emptied meanwhile, and filled by something else, puts nothing beside that', async () => {
  const { running } = opened;
  await running.define(definition('O'));
  const call = await on('O');
  await call('data/insert', entries({ l_primarykey: '初', l_text: '人' }));
  const steady = await running.register.load('O', '', 'steady');
  await call('data/delete', entries({ l_primarykey: '初' }));
  if (engineInUse() === 'postgres') {
    // There nobody loads an app beside another.
    await assert.rejects(running.register.load('O', '', 'fresh'), /at work on this app/);
    await steady.stop();
    return;
  }
  const fresh = await running.register.load('O', '', 'fresh');
  await fresh.put([record('先', 'a')], 1);
  await assert.rejects(async () => {
    await steady.put([record('後', 'b')], 1);
    await steady.stop();
  }, /O had no records any more/);
  await fresh.finish(() => {});
  assert.equal((await call('dataset/count', {})).json.count, 1);
  const again = await running.register.load('O', '', 'steady');
  await again.put([record('後', 'b')], 1);
  await again.finish(() => {});
  assert.equal((await call('dataset/count', {})).json.count, 2);
});
