// Spec 1: what the service does.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: MEIBO
recordsKey: people
fields:
  - { id: m_primarykey, type: id, search: exact }
  - { id: m_name, type: text, search: partial }
  - { id: m_joined, type: date, search: range }
tables:
  - { code: m_family, fields: [{ id: f_name, type: text, search: exact }] }
`;
  opened = await openApp(definition, [
    { m_primarykey: 'A-1', m_name: '髙橋 花子', m_joined: '2024-04-01', m_family: [{ f_name: '髙橋 一郎' }] },
    { m_primarykey: 'A-2', m_name: '𠮷田 👩‍💻', m_joined: '2025-04-01', m_family: [] },
  ]);
});
after(() => opened.running.close());

test('1 point 1: the records of an app with a form of typed fields are exposed', async () => {
  const record = await opened.record('A-2');
  assert.deepEqual(record.m_name, { type: 'text', value: '𠮷田 👩‍💻' });
  assert.deepEqual(record.m_joined, { type: 'date', value: '2025-04-01' });
});

test('1 point 2: it offers two operations, search records of an app and update one record of an app', async () => {
  assert.equal(await opened.find({ m_name: '髙橋' }), 'A-1');
  const { json } = await opened.update(entries({ m_primarykey: 'A-1', m_name: '髙橋 はな子', m_joined: '2024-04-01' }));
  assert.equal(json.m_name.value, '髙橋 はな子');
  assert.equal(await opened.find({ m_name: 'はな' }), 'A-1');
  assert.equal((await opened.record('A-2')).m_name.value, '𠮷田 👩‍💻', 'the other record is as it was');
});

test('1 point 3: both operations require the WebAPI option to be enabled', async () => {
  const { running, credentials } = opened;
  const before = (await opened.search({})).text;
  await running.register.setWebApi(false);
  for (const path of ['/webapi/v1/dataset/search', '/webapi/v1/data/update']) {
    const reply = await running.post(path, { ...credentials, param: '{"m_primarykey":{"value":"A-1"}}' });
    assert.equal(refusal(reply).code, 'option_off');
    assert.equal(reply.status, 403);
  }
  await running.register.setWebApi(true);
  assert.equal((await opened.search({})).text, before, 'nothing was changed, and the server went on');
});

test('1 point 4: each request names the app and proves access with its authentication key', async () => {
  const { running, credentials } = opened;
  await running.define(`
code: OTHER
fields: [{ id: o_primarykey, type: id }]
`);
  await running.put('OTHER', [{ o_primarykey: 'B-1' }]);
  const otherKey = await running.key('OTHER', 'yamada');
  const rows = [
    { sent: credentials, status: 200 },
    { sent: { appcode: 'OTHER', appkey: otherKey }, status: 200 },
    { sent: { appcode: 'OTHER', appkey: credentials.appkey }, status: 401 },
    { sent: { appcode: 'MEIBO', appkey: otherKey }, status: 401 },
    { sent: { appcode: 'MEIBO' }, status: 400 },
    { sent: { appkey: credentials.appkey }, status: 400 },
  ];
  for (const { sent, status } of rows)
    assert.equal((await running.search({ ...sent }, {})).status, status, JSON.stringify(sent));
});

test('1 point 5: records have a primary key field, fields a field ID, tables a table code', async () => {
  const record = await opened.record('A-1', { tablecode: 'm_family' });
  assert.deepEqual(Object.keys(record), [
    ...['m_primarykey', 'm_name', 'm_joined', 'pms_i_usr', 'pms_i_ymd', 'pms_u_usr', 'pms_u_ymd', 'm_family'],
  ]);
  assert.deepEqual(record.m_primarykey, { type: 'id', value: 'A-1' });
  assert.deepEqual(record.m_family, [{ f_name: { type: 'text', value: '髙橋 一郎' } }]);
});
