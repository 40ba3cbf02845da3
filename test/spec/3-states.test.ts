// Spec 3: states and transitions are not shown; the only change of a record is an update of its values.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: S
fields:
  - { id: s_primarykey, type: id, search: exact }
  - { id: s_status, type: dropdown, choices: [新規, 受付, 完了], search: any_of }
`;
  opened = await openApp(definition, [{ s_primarykey: '1', s_status: '完了' }]);
  await opened.running.addUser('suzuki', '鈴木 一');
});
after(() => opened.running.close());

test('3: a record has no states; a value that looks like one may become any other', async () => {
  for (const status of ['新規', '完了', '受付', '差し戻し', '']) {
    const { status: http, json } = await opened.update(entries({ s_primarykey: '1', s_status: status }));
    assert.equal(http, 200);
    assert.equal(json.s_status.value, status);
  }
});

test('3: pms_u_usr and pms_u_ymd are part of the record after an update and change with it, pms_i_usr and pms_i_ymd do not', async () => {
  const { running } = opened;
  const created = await opened.record('1');
  const appkey = await running.key('S', 'suzuki');
  const { json } = await running.update({ appcode: 'S', appkey }, entries({ s_primarykey: '1', s_status: '受付' }));
  assert.deepEqual(json.pms_u_usr, { type: 'pms_u_usr', value: { id: 'suzuki', name: '鈴木 一' } });
  assert.deepEqual(json.pms_i_usr, created.pms_i_usr);
  assert.deepEqual(json.pms_i_ymd, created.pms_i_ymd);
  assert.ok(json.pms_u_ymd.value >= created.pms_u_ymd.value);
  assert.deepEqual(await opened.record('1'), withoutEnvelope(json));
});

test('3: a search changes nothing, neither its records nor who updated them', async () => {
  const before = (await opened.search({}, { revision: '1' })).text;
  for (let i = 0; i < 3; i++) await opened.search({ s_status: '受付' });
  assert.equal((await opened.search({}, { revision: '1' })).text, before);
});

function withoutEnvelope(answer: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answer).filter(([id]) => !id.startsWith('rkwa_')));
}
