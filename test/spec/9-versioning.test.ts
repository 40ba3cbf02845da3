// Spec 9: the version is part of the path; D39.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const definition = '{ code: N, recordsKey: n, fields: [{ id: n_primarykey, type: id, search: exact }] }';
let opened: Opened;
let based: Opened;
before(async () => {
  opened = await openApp(definition, [{ n_primarykey: '1' }]);
  based = await openApp(definition, [{ n_primarykey: '1' }], { basePath: '/pms' });
});
after(() => Promise.all([opened.running.close(), based.running.close()]));

test('9 rule 1: both operations live under /webapi/v1/', async () => {
  const param = JSON.stringify(entries({ n_primarykey: '1' }));
  assert.equal((await opened.running.post('/webapi/v1/dataset/search', opened.credentials)).status, 200);
  assert.equal((await opened.running.post('/webapi/v1/data/update', { ...opened.credentials, param })).status, 200);
});

test('9 rule 1: the base address may have a product segment', async () => {
  assert.ok(based.running.url.endsWith('/pms'));
  assert.equal((await based.search({})).status, 200);
  assert.equal((await based.update(entries({ n_primarykey: '1' }))).status, 200);
  const { origin } = new URL(based.running.url);
  const response = await fetch(`${origin}/webapi/v1/dataset/search`, {
    method: 'POST',
    body: new URLSearchParams(based.credentials),
  });
  assert.deepEqual([response.status, response.headers.get('x-error-code')], [404, 'unknown_path']);
});

const PATHS = [
  ['9 rule 2: there is no other version', '/webapi/v2/dataset/search'],
  ['9 rule 2: there is no version 0', '/webapi/v0/data/update'],
  ['9 rule 2: the version cannot be left out', '/webapi/dataset/search'],
  ['9 rule 1: the path is compared as it is, in upper case', '/WEBAPI/V1/dataset/search'],
  ['9 rule 1: the path is compared as it is, with a slash at the end', '/webapi/v1/dataset/search/'],
  ['9 rule 1: the path is compared as it is, with two slashes', '//webapi/v1/dataset/search'],
  ['9 rule 1: the path is compared as it is, percent-encoded', '/webapi/v1/dataset%2Fsearch'],
  ['9 rule 1: there is nothing at the top', '/'],
  ['9 rule 1: names of JavaScript are no paths', '/__proto__'],
  ['9 rule 1: Japanese paths', '/webapi/v1/検索'],
  ['D39: registering is not under v1', '/webapi/v1/data/insert'],
  ['D39: deleting is not under v1', '/webapi/v1/data/delete'],
  ['D39: downloading is not under v1', '/webapi/v1/file/download'],
  ['D39: history is not under v1', '/webapi/v1/data/history'],
  ['D39: bulk loading is not under v1', '/webapi/v1/data/bulk'],
  ['D39: upserting is not under v1', '/webapi/v1/data/upsert'],
  ['D39: restoring is not under v1', '/webapi/v1/data/restore'],
  ['D39: getting is not under v1', '/webapi/v1/data/get'],
  ['D39: counting is not under v1', '/webapi/v1/dataset/count'],
  ['D39: tables are not under v1', '/webapi/v1/table/update'],
  ['D39: definitions are not under v1', '/webapi/v1/app/definition'],
] as const;

for (const [title, path] of PATHS) {
  test(title, async () => {
    const before = (await opened.search({})).text;
    const { code, status, messages } = refusal(await opened.running.post(path, { ...opened.credentials, param: '{}' }));
    assert.deepEqual([code, status, messages.length], ['unknown_path', 404, 1]);
    assert.equal((await opened.search({})).text, before);
  });
}

test('9 rule 1: an unknown path is unknown for every method, and its query is not shown', async () => {
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const response = await fetch(`${opened.running.url}/webapi/v1/nowhere?appkey=${opened.credentials.appkey}`, {
      method,
    });
    const body = await response.text();
    assert.deepEqual([response.status, response.headers.get('x-error-code')], [404, 'unknown_path']);
    assert.ok(body.includes('/webapi/v1/nowhere') && !body.includes('appkey'), body);
  }
});
