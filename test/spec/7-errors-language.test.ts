// Spec 7: the language of the messages; D1.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Opened, openApp, refusal } from './opened.ts';

const SEARCH = '/webapi/v1/dataset/search';
const UPDATE = '/webapi/v1/data/update';
let opened: Opened;
before(async () => {
  const definition = `
code: E
fields:
  - { id: e_primarykey, type: id, search: exact }
  - { id: e_text, type: text, search: partial }
  - { id: e_number, type: number, search: range }
  - { id: e_file, type: file }
`;
  opened = await openApp(definition, [{ e_primarykey: '1' }]);
  await opened.running.addUser('admin', '管理', 'ja');
  await opened.running.addUser('english', 'English', 'en');
  await opened.running.addUser('chinese', '中文', 'zh');
});
after(() => opened.running.close());

const LANGS = [
  ['D1: lang 0 is Japanese', '0', /^[「該指]?.*(?:ません|ではありません).*。$/s],
  ['D1: lang ja is Japanese', 'ja', /ません/],
  ['D1: lang 1 is English', '1', /^[ -~“”無い]+$/],
  ['D1: lang en is English', 'en', /^[ -~“”無い]+$/],
  ['D1: lang 2 is Chinese', '2', /不存在|没有|不是|不/],
  ['D1: lang zh is Chinese', 'zh', /不存在|没有|不是|不/],
] as const;

for (const [title, lang, pattern] of LANGS) {
  test(title, async () => {
    const messages = [
      ...(await opened.search({ e_text: '無' }, { lang })).json.rkwa_errmsg,
      ...refusal(await opened.search({ 無い: '', e_number: 'x' }, { lang, limit: '0' })).messages,
      ...refusal(await opened.running.post(SEARCH, { ...opened.credentials, lang, param: '{' })).messages,
    ];
    assert.equal(messages.length, 5);
    for (const message of messages) assert.match(message, pattern);
  });
}

for (const lang of ['3', 'JA', 'ja-JP', 'fr', '__proto__', '０']) {
  const title = 'D1: any other lang is an error';
  test(`${title}, ${lang}`, async () => {
    const { code, messages } = refusal(await opened.search({ e_primarykey: '1' }, { lang }));
    assert.equal(code, 'bad_lang');
    assert.ok(messages[0]?.includes(lang));
  });
}

const USERS = [
  ['D1: without lang, the language of the user, Japanese', 'admin', '該当するデータがありません。', /指定してください/],
  [
    'D1: without lang, the language of the user, English',
    'english',
    'No matching data was found.',
    /^"limit" is not valid/,
  ],
  ['D1: without lang, the language of the user, Chinese', 'chinese', '没有符合条件的数据。', /请指定/],
] as const;

for (const [title, user, noMatch, refusedBy] of USERS) {
  test(title, async () => {
    const { running } = opened;
    const sent = {
      appcode: 'E',
      appkey: await running.key('E', user, { update: true, admin: user === 'admin' }),
      lang: '',
    };
    assert.deepEqual((await running.search(sent, { e_text: '無' })).json.rkwa_errmsg, [noMatch]);
    assert.match(refusal(await running.search({ ...sent, limit: 'x' }, {})).messages[0] ?? '', refusedBy);
    if (user !== 'english') return;
    const { messages } = refusal(await running.update({ ...sent, mode: 'x' }, { e_text: '' }));
    for (const message of messages) assert.match(message, /^[ -~]+…?[ -~]*$/);
    assert.match(refusal(await running.post(UPDATE, sent)).messages[0] ?? '', /^The required parameter "param"/);
  });
}

test('D1: the language is that of the user the call runs as', async () => {
  const { running } = opened;
  const sent = { appcode: 'E', appkey: await running.key('E', 'admin', { admin: true }) };
  const message = async (more: Record<string, string>) =>
    (await running.search({ ...sent, ...more }, { e_text: '無' })).json.rkwa_errmsg[0];
  assert.equal(await message({ execuserid: 'english' }), 'No matching data was found.');
  assert.equal(await message({ execuserid: 'english', lang: '2' }), '没有符合条件的数据。');
  assert.equal(await message({}), '該当するデータがありません。');
});

test('D1: a refused file part is answered in the language of the request too', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...opened.credentials, lang: 'en', param: '{}' })) form.set(name, value);
  form.set('e_text', new Blob(['x']), 'x.txt');
  const { messages } = refusal(await opened.running.post(UPDATE, form));
  assert.match(messages[0] ?? '', /^The file "e_text" is not for a file or image field/);
});
