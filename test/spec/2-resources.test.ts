// Spec 2: identifiers, records and their entries, the envelope; D36-D38, D40, D41.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { afterEnvelope, entries, type Opened, openApp, refusal } from './opened.ts';

const FIELDS = `
  - { id: all_primarykey, type: id, search: exact }
  - { id: a_text, type: text, search: partial }
  - { id: a_area, type: text_area }
  - { id: a_date, type: date }
  - { id: a_datetime, type: datetime }
  - { id: a_time, type: time }
  - { id: a_number, type: number }
  - { id: a_price, type: number, format: { grouping: true, decimals: 2, prefix: "¥", suffix: " 円" } }
  - { id: a_file, type: file }
  - { id: a_image, type: image }
  - { id: a_dropdown, type: dropdown, choices: [新規, 完了] }
  - { id: a_checkbox, type: checkbox, choices: [赤, 青] }
  - { id: a_radio, type: radio, choices: [はい, いいえ] }
  - { id: a_list, type: list, choices: [東, 西] }
  - { id: a_concat, type: concatenation }
  - { id: a_calc, type: calculation }
  - { id: a_auto, type: auto_number, format: "№{000}" }
  - { id: __proto__, type: text }
  - { id: constructor, type: text }
`;
const VALUES: Record<string, string> = {
  all_primarykey: '鍵-1',
  a_text: '㈱ｶﾅ "引用" \\ % _ * \' \t 👨‍👩‍👧 が',
  a_area: '一行目\r\n二行目\n三行目\t終',
  a_date: '2026-02-28',
  a_datetime: '2026-02-28 23:59:59',
  a_time: '07:05:00',
  a_number: '-1000.10',
  a_price: '1234567.005',
  a_dropdown: '新規',
  a_checkbox: '赤,青',
  a_radio: 'はい',
  a_list: '東,西',
  a_concat: '東京都千代田区',
  a_calc: '42',
  ['__proto__']: '原型',
  constructor: '構築子',
};

let opened: Opened;
before(async () => {
  const definition = `
code: ALL
fields: ${FIELDS}
tables:
  - { code: all_rows, fields: [{ id: row_text, type: text }, { id: row_number, type: number }] }
`;
  const row = { row_text: '明細 ①', row_number: '007' };
  opened = await openApp(definition, [{ ...VALUES, all_rows: [row] }, { all_primarykey: '鍵-2' }]);
});
after(() => opened.running.close());

const ENTRIES = [
  ['2.2 type id: a string, the primary key', 'all_primarykey', '{"type":"id","value":"鍵-1"}'],
  ['2.2 type text: a string', 'a_text', '{"type":"text","value":"㈱ｶﾅ \\"引用\\" \\\\ % _ * \' \\t 👨‍👩‍👧 が"}'],
  [
    '2.2 type text_area: a string that may contain line breaks, CR LF',
    'a_area',
    '{"type":"text_area","value":"一行目\\r\\n二行目\\n三行目\\t終"}',
  ],
  ['2.2 type date: a string YYYY-MM-DD', 'a_date', '{"type":"date","value":"2026-02-28"}'],
  [
    '2.2 type number: a string, and value_formatted',
    'a_number',
    '{"type":"number","value":"-1000.10","value_formatted":"-1000.10"}',
  ],
  [
    '2.2 type file: the file ID, filename and filesize',
    'a_file',
    '{"type":"file","value":"","filename":"","filesize":""}',
  ],
  [
    'D36: image has filename and filesize as file has',
    'a_image',
    '{"type":"image","value":"","filename":"","filesize":""}',
  ],
  ['D36: datetime', 'a_datetime', '{"type":"datetime","value":"2026-02-28 23:59:59"}'],
  ['D36: time', 'a_time', '{"type":"time","value":"07:05:00"}'],
  ['D36: dropdown', 'a_dropdown', '{"type":"dropdown","value":"新規"}'],
  ['D36: checkbox, several choices joined by commas', 'a_checkbox', '{"type":"checkbox","value":"赤,青"}'],
  ['D36: radio', 'a_radio', '{"type":"radio","value":"はい"}'],
  ['D36: list, several choices joined by commas', 'a_list', '{"type":"list","value":"東,西"}'],
  ['D36: concatenation', 'a_concat', '{"type":"concatenation","value":"東京都千代田区"}'],
  ['D36: calculation', 'a_calc', '{"type":"calculation","value":"42"}'],
  ['D36: auto_number', 'a_auto', '{"type":"auto_number","value":"№001"}'],
  [
    'D37: value_formatted follows grouping, decimals, prefix and suffix',
    'a_price',
    '{"type":"number","value":"1234567.005","value_formatted":"¥1,234,567.01 円"}',
  ],
  ['2.1 field ID: __proto__ is a field ID as any other', '__proto__', '{"type":"text","value":"原型"}'],
  ['2.1 field ID: constructor is a field ID as any other', 'constructor', '{"type":"text","value":"構築子"}'],
] as const;

for (const [title, id, entry] of ENTRIES) {
  test(title, async () => {
    const { text } = await opened.search({ all_primarykey: '鍵-1' });
    assert.ok(text.includes(`"${id}":${entry}`), text);
  });
}

const EMPTY = [
  ['D38: an empty text is present as ""', 'a_text', '{"type":"text","value":""}'],
  ['D38: an empty date is present as ""', 'a_date', '{"type":"date","value":""}'],
  [
    'D38: an empty file has filename "" and filesize ""',
    'a_file',
    '{"type":"file","value":"","filename":"","filesize":""}',
  ],
  ['D37: value_formatted of an empty number is ""', 'a_price', '{"type":"number","value":"","value_formatted":""}'],
] as const;

for (const [title, id, entry] of EMPTY) {
  test(title, async () => {
    const { text } = await opened.search({ all_primarykey: '鍵-2' });
    assert.ok(text.includes(`"${id}":${entry}`), text);
  });
}

const USER = '{"id":"yamada","name":"山田 太郎"}';
const MOMENT = '"\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d"';
const SYSTEM = [
  ['2.2 type pms_i_usr: id and name of the creating user', `"pms_i_usr":{"type":"pms_i_usr","value":${USER}}`],
  ['2.2 type pms_i_ymd: creation date-time', `"pms_i_ymd":{"type":"pms_i_ymd","value":${MOMENT}}`],
  ['2.2 type pms_u_usr: id and name of the last updating user', `"pms_u_usr":{"type":"pms_u_usr","value":${USER}}`],
  ['2.2 type pms_u_ymd: last update date-time', `"pms_u_ymd":{"type":"pms_u_ymd","value":${MOMENT}}`],
] as const;

for (const [title, pattern] of SYSTEM) {
  test(title, async () => {
    const { running, credentials } = opened;
    await running.put('ALL', [{ all_primarykey: '鍵-3' }], 'yamada');
    assert.match((await running.search(credentials, { all_primarykey: '鍵-3' })).text, new RegExp(pattern));
  });
}

test('2.2: a record is an object keyed by field ID, form fields in their order, then the system fields under their own names', async () => {
  const { json } = await opened.search({ all_primarykey: '鍵-1' });
  const ids = [...FIELDS.matchAll(/id: (\w+)/g)].map((match) => match[1]);
  assert.deepEqual(Object.keys(json.ALL[0]), [...ids, 'pms_i_usr', 'pms_i_ymd', 'pms_u_usr', 'pms_u_ymd']);
});

test('2.2: every scalar is a JSON string, in rows too', async () => {
  const { text } = await opened.search({}, { tablecode: 'all_rows' });
  const records = afterEnvelope(text);
  assert.doesNotMatch(records, /":\s*(?:-?\d|true|false|null)/);
  assert.ok(records.includes('"row_number":{"type":"number","value":"007","value_formatted":"007"}'), text);
});

test('2.1 app code: it is what `appcode` names', async () => {
  const { running, credentials } = opened;
  assert.equal((await running.search({ ...credentials, appcode: 'ALL' }, {})).status, 200);
  assert.equal((await running.search({ ...credentials, appcode: 'all' }, {})).status, 401);
});

test('2.1 field ID: the one of the primary key ends in _primarykey', async () => {
  const { json } = await opened.search({ all_primarykey: '鍵-1' });
  const ids = Object.keys(json.ALL[0]).filter((id) => json.ALL[0][id].type === 'id');
  assert.deepEqual(ids, ['all_primarykey']);
});

test('2.1 table code: a JSON key that groups the field IDs of the table', async () => {
  const { json } = await opened.search({ all_primarykey: '鍵-1' }, { tablecode: 'all_rows' });
  assert.deepEqual(json.all_rows[0].all_rows, [
    {
      row_text: { type: 'text', value: '明細 ①' },
      row_number: { type: 'number', value: '007', value_formatted: '007' },
    },
  ]);
});

test('2.1 file ID: the value of a file field on update; one that does not exist is refused', async () => {
  const { code, messages } = refusal(await opened.update(entries({ ...VALUES, a_file: 'F0001' })));
  assert.equal(code, 'unknown_file');
  assert.match(messages[0] ?? '', /a_file/);
});

test('2.3 rkwa_status: a string, OK for what is answered and NG for what is refused', async () => {
  assert.equal((await opened.search({})).json.rkwa_status, 'OK');
  assert.equal((await opened.search({ all_primarykey: 'ない' })).json.rkwa_status, 'OK');
  assert.equal((await opened.search({ nowhere: '' })).json.rkwa_status, 'NG');
});

test('2.3 rkwa_errorcount: an integer, 0 on success', async () => {
  assert.equal((await opened.search({})).json.rkwa_errorcount, 0);
  assert.equal((await opened.search({ one: '', two: '' })).json.rkwa_errorcount, 2);
});

test('2.3 rkwa_errmsg: null without an error, otherwise a list of messages', async () => {
  assert.equal((await opened.search({})).json.rkwa_errmsg, null);
  const { rkwa_errmsg } = (await opened.search({ nowhere: '' })).json;
  assert.equal(rkwa_errmsg.length, 1);
  assert.equal(typeof rkwa_errmsg[0], 'string');
});

test('2.3: the members of the envelope come first, in the order of the table', async () => {
  const open = '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null,';
  assert.ok((await opened.search({})).text.startsWith(`${open}"ALL":[{"all_primarykey":{`));
  assert.ok((await opened.update(entries(VALUES))).text.startsWith(`${open}"all_primarykey":{`));
  assert.match(
    (await opened.search({ all_primarykey: 'ない' })).text,
    /^\{"rkwa_status":"OK","rkwa_errorcount":1,"rkwa_errmsg":\["/,
  );
  assert.match(
    (await opened.search({ x: '' })).text,
    /^\{"rkwa_status":"NG","rkwa_errorcount":1,"rkwa_errmsg":\["[^"]+"\]\}$/,
  );
});

test('D40: entries are the same in every language, and names are the current ones', async () => {
  const { running } = opened;
  const japanese = (await opened.search({ all_primarykey: '鍵-2' }, { lang: '0' })).text;
  for (const lang of ['1', '2', 'ja', 'en', 'zh']) {
    assert.equal((await opened.search({ all_primarykey: '鍵-2' }, { lang })).text, japanese);
  }
  await running.register.changeUser('yamada', { name: '山田 "改" 太郎' }, () => {});
  const { text } = await opened.search({ all_primarykey: '鍵-2' });
  assert.equal(text, japanese.replaceAll('山田 太郎', '山田 \\"改\\" 太郎'));
  await running.register.changeUser('yamada', { name: '山田 太郎' }, () => {});
});
