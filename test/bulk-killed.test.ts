// A server that is killed while it fills an empty app (D39): nothing of the unanswered request is there, and the app can be used.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWebhooks } from '../src/store/webhooks.ts';
import { line, sendBulk } from './harness/bulk.ts';
import { freshRegister } from './harness/fresh-register.ts';
import { onFolder, startServer } from './harness/run-daicho.ts';
import { appOf, putRecords } from './harness/running.ts';
import { entries } from './spec/opened.ts';

const definition = (code: string) => `
code: ${code}
fields:
  - { id: k_primarykey, type: id, search: exact }
  - { id: k_text, type: text, search: partial }
`;
const LINES = [
  line('insert', { k_primarykey: 'gone', k_text: '見えない' }),
  line('delete', { k_primarykey: 'gone' }),
  ...Array.from({ length: 29_998 }, (_, n) => line('insert', { k_text: `記録 ${n}` })),
];
const SHOWN = LINES.length - 2;

test('a bulk that fills an empty app lets others write, is seen whole or not at all, and can be killed', async (t) => {
  const { place, openRegister, query, remove } = await freshRegister();
  t.after(remove);
  const register = await openRegister();
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  for (const code of ['K', 'OTHER']) {
    const { app, source } = appOf(definition(code));
    await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
    await register.grant(code, 'sato', { update: true, edit: true, admin: true });
    await register.addKey(code, 'sato', createHash('sha256').update(`key of ${code}`).digest(), null);
  }
  await putRecords(register, 'OTHER', [{ k_primarykey: '1', k_text: '初' }]);
  await putRecords(register, 'K', [{ k_primarykey: 'gone', k_text: '本物' }]);
  await register.close();

  const credentials = (code: string) => ({ appcode: code, appkey: `key of ${code}` });
  const post = async (address: string, code: string, operation: string, param: object) => {
    const body = new URLSearchParams({ ...credentials(code), lang: 'en', param: JSON.stringify(param) });
    const response = await fetch(`${address}/webapi/${operation}`, { method: 'POST', body });
    // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
    return { status: response.status, json: (await response.json()) as any };
  };
  const count = async (address: string) => (await post(address, 'K', 'x1/dataset/count', {})).json.count;
  const isFilling = async () => (await query(`select 1 from builds where kind = 'bulk'`)).length > 0;

  const first = await startServer(t, place);
  const gone = entries({ k_primarykey: 'gone' });
  assert.equal((await post(first.address, 'K', 'x1/data/delete', gone)).status, 200);
  const unanswered = sendBulk(first.address, { ...credentials('K'), atomic: '1' }, LINES).catch(() => null);
  while (!(await isFilling())) await sleep(5);
  const change = { ...entries({ k_primarykey: '1', k_text: '次' }) };
  assert.equal((await post(first.address, 'OTHER', 'v1/data/update', change)).status, 200);
  const refused = await post(first.address, 'K', 'x1/data/insert', entries({ k_text: '人' }));
  assert.equal(refused.status, 503, JSON.stringify(refused.json));
  assert.equal(await count(first.address), 0);
  const history = await post(first.address, 'K', 'x1/data/history', gone);
  assert.match(JSON.stringify(history.json), /本物/);
  assert.doesNotMatch(JSON.stringify(history.json), /見えない/);
  assert.ok(await isFilling(), 'all of this while it went on');
  await first.end('SIGKILL');
  assert.equal(await unanswered, null);

  const second = await startServer(t, place);
  assert.equal(await count(second.address), 0);
  assert.equal(await isFilling(), false);
  const interrupted = sendBulk(second.address, { ...credentials('K'), atomic: '1' }, LINES);
  while (!(await isFilling())) await sleep(5);
  const webhooks = await openWebhooks({ dataDir: place, databaseUrl: '' });
  const id = await webhooks.add('K', { url: 'https://example.com/', events: ['insert'], secret: 'its secret' });
  const { status, text } = await interrupted;
  assert.equal(status, 503, `a webhook that is added meanwhile would not be told: ${text}`);
  while (await isFilling()) await sleep(5);
  await webhooks.remove(id);
  await webhooks.close();

  const done = await sendBulk(second.address, { ...credentials('K'), atomic: '1' }, LINES);
  assert.deepEqual([done.status, done.lines.length], [200, LINES.length]);
  assert.equal(await count(second.address), SHOWN);
  assert.match(JSON.stringify((await post(second.address, 'K', 'x1/data/history', gone)).json), /見えない/);
  assert.match(done.lines[2] ?? '', /"value":"1"/, 'numbers of what was never seen are given again');
  const { json } = await post(second.address, 'K', 'v1/dataset/search', { k_text: '録 29997' });
  assert.equal(json.K.length, 1);
  assert.equal(await second.end(), 0);
  assert.deepEqual(await onFolder(place)('check'), { code: 0, out: 'No problem found (2 apps).\n', err: '' });
});
