// Spec 5: authentication and rights; D7-D10.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Rights } from '../../src/auth/caller.ts';
import { type Running, startRunning } from '../harness/running.ts';
import { entries, refusal } from './opened.ts';

const definition = (code: string, more = '') => `
code: ${code}
${more}
fields:
  - { id: x_primarykey, type: id, search: exact }
  - { id: x_text, type: text }
`;

let running: Running;
const keys: Record<string, string> = {};
before(async () => {
  running = await startRunning();
  await running.define(definition('A'));
  await running.define(definition('OPEN', 'everyone: true'));
  const users: Record<string, Partial<Rights> | null> = {
    kanri: { admin: true },
    koushin: { update: true },
    henshuu: { edit: true },
    riyou: {},
    soto: null,
  };
  for (const [user, rights] of Object.entries(users)) {
    await running.addUser(user, `${user} さん`);
    keys[user] = await running.key('A', user, rights);
  }
  keys.open = await running.key('OPEN', 'soto', null);
  for (const app of ['A', 'OPEN']) await running.put(app, [{ x_primarykey: '1', x_text: '値' }], 'kanri');
});
after(() => running.close());

const as = (user: string, appcode = 'A') => ({ appcode, appkey: keys[user] ?? '' });
const search = (parameters: Record<string, string>) => running.search(parameters, {});
const update = (parameters: Record<string, string>) =>
  running.update(parameters, entries({ x_primarykey: '1', x_text: '新' }));

test('5 rule 1: every request carries appcode and appkey as form parameters; headers, cookies and the URL are not read', async () => {
  const { appcode, appkey } = as('riyou');
  assert.equal((await search({ appcode, appkey })).status, 200);
  const headers = { authorization: `Bearer ${appkey}`, 'x-app-key': appkey, appkey, cookie: `appkey=${appkey}` };
  for (const operation of ['dataset/search', 'data/update']) {
    const path = `/webapi/v1/${operation}?appcode=${appcode}&appkey=${appkey}`;
    const { code, messages } = refusal(await running.post(path, { appcode, param: '{}' }, headers));
    assert.equal(code, 'missing_parameter');
    assert.match(messages[0] ?? '', /appkey/);
  }
});

test('5 rule 2: an administrator of the app may run as another user', async () => {
  const { json } = await update({ ...as('kanri'), execuserid: 'koushin' });
  assert.deepEqual(json.pms_u_usr.value, { id: 'koushin', name: 'koushin さん' });
  assert.equal((await update({ ...as('kanri'), execuserid: '' })).json.pms_u_usr.value.id, 'kanri');
});

test('5 rule 2: for a user who is no administrator execuserid is ignored', async () => {
  for (const execuserid of ['kanri', 'riyou', '居ない', '__proto__']) {
    assert.equal((await update({ ...as('koushin'), execuserid })).json.pms_u_usr.value.id, 'koushin');
  }
});

test('5 rule 3: the WebAPI option must be enabled to use either operation, for administrators too', async () => {
  await running.register.setWebApi(false);
  for (const user of ['kanri', 'riyou']) {
    for (const reply of [await search(as(user)), await update(as(user))]) {
      const { code, status, messages } = refusal(reply);
      assert.deepEqual([code, status, messages.length], ['option_off', 403, 1]);
    }
  }
  await running.register.setWebApi(true);
  assert.equal((await search(as('riyou'))).status, 200);
});

const EXPIRY = [
  ['5 rule 4: a key without expiry opens the app', undefined, 200],
  ['5 rule 4: a key that has not expired opens the app', 60_000, 200],
  ['5 rule 4: an expired key does not', -1, 401],
] as const;

for (const [title, milliseconds, status] of EXPIRY) {
  test(title, async () => {
    const expires = milliseconds === undefined ? undefined : Date.now() + milliseconds;
    const appkey = await running.key('A', 'riyou', null, expires);
    assert.equal((await search({ appcode: 'A', appkey })).status, status);
  });
}

const RIGHTS = [
  ['D7: use alone is the right to search', 'riyou', 200, 403],
  ['D7: update is the right to update', 'koushin', 200, 200],
  ['D7: edit alone is no right to update records', 'henshuu', 200, 403],
  ['D7: an administrator of the app has every right in it', 'kanri', 200, 200],
  ['D7: a key that names no user of the app is refused', 'soto', 403, 403],
] as const;

for (const [title, user, searching, updating] of RIGHTS) {
  test(title, async () => {
    const replies = [await search(as(user)), await update(as(user))];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [searching, updating],
    );
    for (const reply of replies.filter(({ status }) => status === 403)) assert.equal(refusal(reply).code, 'no_right');
  });
}

test('D7: an app can be open to all users, who may then search and update', async () => {
  assert.equal((await search(as('open', 'OPEN'))).status, 200);
  assert.equal((await update(as('open', 'OPEN'))).status, 200);
});

test('D7: rights count from the moment they are granted or withdrawn', async () => {
  const appkey = await running.key('A', 'soto', { update: true });
  assert.equal((await update({ appcode: 'A', appkey })).status, 200);
  await running.register.withdraw('A', 'soto');
  assert.equal((await search({ appcode: 'A', appkey })).status, 403);
});

test('D8: an execuserid that is used and unknown is an error', async () => {
  for (const execuserid of ['居ない', '__proto__', 'KOUSHIN', 'koushin ']) {
    const { code, status, messages } = refusal(await search({ ...as('kanri'), execuserid }));
    assert.deepEqual([code, status], ['unknown_execuserid', 400]);
    assert.ok(messages[0]?.includes('「execuserid」') && messages[0].includes(execuserid), messages.join());
  }
});

const RUN_AS = [
  ['D8: the rights are those of the user the call runs as, who may update', 'koushin', 200, 200],
  ['D8: the rights are those of the user the call runs as, who may only search', 'riyou', 200, 403],
  ['D8: the rights are those of the user the call runs as, who has none', 'soto', 403, 403],
] as const;

for (const [title, execuserid, searching, updating] of RUN_AS) {
  test(title, async () => {
    const sent = { ...as('kanri'), execuserid };
    assert.deepEqual([(await search(sent)).status, (await update(sent)).status], [searching, updating]);
  });
}

test('D8: an administrator of another app is none of this one', async () => {
  await running.register.grant('OPEN', 'riyou', { update: true, edit: false, admin: true });
  assert.equal((await search({ ...as('riyou'), execuserid: '居ない' })).status, 200, 'ignored');
});

for (const state of ['maintenance', 'preparation', 'production']) {
  const title = 'D9: outside production only an administrator of the app gets in';
  test(`${title}, ${state}`, async () => {
    await running.define(definition('A', `state: ${state}`));
    await running.define(definition('OPEN', `everyone: true\nstate: ${state}`));
    const production = state === 'production';
    for (const sent of [as('koushin'), as('open', 'OPEN'), { ...as('kanri'), execuserid: 'koushin' }]) {
      for (const reply of [await search(sent), await update(sent)]) {
        if (production) assert.equal(reply.status, 200);
        else assert.deepEqual([refusal(reply).code, reply.status], ['not_in_production', 403]);
      }
    }
    assert.deepEqual([(await search(as('kanri'))).status, (await update(as('kanri'))).status], [200, 200]);
  });
}

test('D10: a wrong app, a wrong key, an expired key, a revoked key and one of another app get one and the same answer', async () => {
  const appkey = await running.key('A', 'riyou', null);
  assert.equal((await search({ appcode: 'A', appkey })).status, 200);
  const digest = createHash('sha256').update(appkey).digest('hex');
  const { id } = running.register.catalog().apps.get('A')?.keys.get(digest) ?? assert.fail();
  await running.register.revokeKey(id);
  const replies = [
    await search({ appcode: 'A', appkey }),
    await search({ appcode: 'A', appkey: await running.key('A', 'riyou', null, Date.now() - 1) }),
    await search({ appcode: 'A', appkey: 'wrong' }),
    await search({ appcode: 'A', appkey: ` ${keys.riyou}` }),
    await search({ appcode: 'A', appkey: digest }),
    await search({ appcode: 'NONE', appkey: keys.riyou ?? '' }),
    await search({ appcode: '__proto__', appkey: 'constructor' }),
    await search({ appcode: 'OPEN', appkey: keys.riyou ?? '' }),
    await update({ appcode: 'NONE', appkey: keys.kanri ?? '', execuserid: 'riyou' }),
  ];
  const [first] = replies;
  for (const reply of replies) {
    const { code, status } = refusal(reply);
    assert.deepEqual([code, status, reply.text], ['bad_credentials', 401, first?.text]);
    const headers = (of: Headers | undefined) => [...(of ?? [])].filter(([name]) => name !== 'date');
    assert.deepEqual(headers(reply.headers), headers(first?.headers));
  }
});

test('D10: a user may have more than one key, so that one can be replaced without a gap', async () => {
  const appkey = await running.key('A', 'riyou', null);
  assert.equal((await search({ appcode: 'A', appkey })).status, 200);
  assert.equal((await search(as('riyou'))).status, 200);
});

test('D10: keys are stored only as digests; they are neither in the database nor in a log line or an answer', async () => {
  const { appkey } = as('kanri');
  const sent = { ...as('kanri'), lang: 'en' };
  const answers = [
    await search(sent),
    await search({ ...sent, appcode: 'NONE' }),
    await running.post('/webapi/v1/dataset/search', `appcode=A&appkey=${appkey}&appkey=${appkey}`),
    await running.post('/webapi/v1/dataset/search', `appcode=A&appkey=${appkey}%FF`),
    await running.post('/webapi/v1/dataset/search', `appcode=A&appkey=${appkey}`, { 'content-type': 'text/plain' }),
    await running.post(`/webapi/v1/nowhere?appkey=${appkey}`, sent),
    await running.post('/webapi/v1/dataset/search', { ...sent, param: `{"x_primarykey":"1",` }),
  ];
  for (const { text } of answers) assert.equal(text.includes(appkey), false, text);
  assert.ok(running.log.length > 5);
  for (const line of running.log)
    assert.equal(
      Object.values(keys).some((key) => line.includes(key)),
      false,
      line,
    );
  assert.ok(await running.holds('kanri さん'));
  for (const key of Object.values(keys)) assert.equal(await running.holds(key), false, key);
});

test('D10: the last use of a key is recorded', async () => {
  const other = await startRunning();
  await other.define(definition('A'));
  await other.addUser('riyou', '利用');
  const appkey = await other.key('A', 'riyou');
  await other.key('A', 'riyou');
  await other.search({ appcode: 'A', appkey }, {});
  await other.store.close();
  const [used, unused] = await other.register.keys('A');
  assert.match(used?.lastUsedAt ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.equal(unused?.lastUsedAt, null);
  await other.close();
});
