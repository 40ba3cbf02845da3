// Spec 6: events, webhooks and notifications are not shown, so there are none under v1; ours are P24.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition =
    '{ code: E, fields: [{ id: e_primarykey, type: id }, { id: e_text, type: text, search: partial }] }';
  opened = await openApp(definition, [{ e_primarykey: '1' }]);
});
after(() => opened.running.close());

test('6: no operation for events is under v1', async () => {
  for (const path of ['events', 'webhook', 'webhooks', 'data/events', 'dataset/subscribe', 'notifications']) {
    assert.equal(refusal(await opened.running.post(`/webapi/v1/${path}`, opened.credentials)).code, 'unknown_path');
  }
});

test('6: an update tells nobody but its caller, whatever address it is given', async () => {
  let called = 0;
  const listener = createServer((_, response) => {
    called++;
    response.end();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  const { status, json } = await opened.update(entries({ e_primarykey: '1', e_text: url }), {
    callback: url,
    webhook: url,
  });
  assert.deepEqual([status, json.e_text.value], [200, url]);
  assert.equal(await opened.find({ e_text: url }), '1');
  await new Promise((resolve) => listener.close(resolve));
  assert.equal(called, 0);
});
