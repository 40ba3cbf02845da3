// Spec 4.2: the parameters of an update, rules 1-3 and its answer; D24, D25, D27, D28, D30, P04.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const UPDATE = '/webapi/v1/data/update';
const FIRST = {
  u_primarykey: '一',
  u_text: '最初',
  u_note: '覚え\r\n書き',
  u_count: '1',
  u_unseen: '裏',
  u_secret: '守',
};
const ROWS = [
  { u_item: '机', u_photo: '' },
  { u_item: '椅子', u_photo: '' },
];

let opened: Opened;
before(async () => {
  const definition = `
code: U
fields:
  - { id: u_primarykey, type: id, search: exact }
  - { id: u_text, type: text, search: partial }
  - { id: u_note, type: text_area, list: hidden }
  - { id: u_count, type: number, search: range }
  - { id: u_unseen, type: text, shownInForm: false }
  - { id: u_secret, type: text, protected: true }
  - { id: u_auto, type: auto_number, format: "{000}" }
  - { id: u_file, type: file }
  - { id: u_image, type: image }
tables:
  - { code: u_rows, fields: [{ id: u_item, type: text, search: exact }, { id: u_photo, type: image }] }
`;
  opened = await openApp(definition, [
    { ...FIRST, u_rows: ROWS },
    { u_primarykey: '二', u_text: '別' },
  ]);
});
after(() => opened.running.close());
beforeEach(async () => {
  const { status } = await opened.update(entries(FIRST));
  assert.equal(status, 200);
});

/** The text of the whole app as a search shows it, with revisions: unchanged where nothing was changed. */
const everything = async () => (await opened.search({}, { tablecode: 'u_rows', revision: '1' })).text;

const LACKING = [
  ['4.2 parameter appcode: required', 'appcode'],
  ['4.2 parameter appkey: required', 'appkey'],
  ['4.2 parameter param: required', 'param'],
] as const;

for (const [title, name] of LACKING) {
  test(title, async () => {
    const before = await everything();
    const sent: Record<string, string> = { ...opened.credentials, param: JSON.stringify(entries(FIRST)) };
    for (const value of [undefined, '']) {
      const { [name]: _, ...others } = sent;
      const reply = await opened.running.post(UPDATE, value === undefined ? others : { ...others, [name]: value });
      const { code, status, messages } = refusal(reply);
      assert.deepEqual([code, status, messages.length], ['missing_parameter', 400, 1]);
      assert.ok(messages[0]?.includes(`「${name}」`));
    }
    assert.equal(await everything(), before);
  });
}

test('4.2 parameter execuserid: as in 4.1, not used for an ordinary user', async () => {
  const { json } = await opened.update(entries(FIRST), { execuserid: 'nobody' });
  assert.equal(json.pms_u_usr.value.id, 'yamada');
});

test('4.2 parameter lang: as in 4.1, the language of the messages', async () => {
  const english = refusal(await opened.update(entries({ u_primarykey: '三' }), { lang: '1' }));
  assert.match(english.messages[0] ?? '', /^There is no record/);
  assert.equal(refusal(await opened.update(entries(FIRST), { lang: '9' })).code, 'bad_lang');
});

test('4.2 rule 1: the entry of the primary key identifies the record', async () => {
  const { json } = await opened.update(entries({ u_primarykey: '二', u_text: '別の' }));
  assert.equal(json.u_primarykey.value, '二');
  assert.equal((await opened.record('二')).u_text.value, '別の');
  assert.equal((await opened.record('一')).u_text.value, '最初');
});

const WITHOUT_KEY = [
  ['4.2 rule 1: the entry of the primary key is required', { u_text: { value: 'x' } }, 'missing_primary_key', 400],
  ['4.2 rule 1: an empty primary key', entries({ u_primarykey: '' }), 'missing_primary_key', 400],
  ['4.2 rule 1: a primary key that no record has', entries({ u_primarykey: '三' }), 'unknown_record', 404],
  ['4.2 rule 1: primary keys are compared as they are', entries({ u_primarykey: '一 ' }), 'unknown_record', 404],
  ['4.2 rule 1: a primary key that is no string', { u_primarykey: { value: 1 } }, 'value_not_string', 400],
  ['4.2 rule 1: a primary key without value', { u_primarykey: {} }, 'value_not_string', 400],
  ['4.2 rule 1: a primary key that is no object', { u_primarykey: '一' }, 'entry_not_object', 400],
  ['4.2 rule 1: an empty object', {}, 'missing_primary_key', 400],
] as const;

for (const [title, param, code, status] of WITHOUT_KEY) {
  test(title, async () => {
    const before = await everything();
    const refused = refusal(await opened.update(param));
    assert.deepEqual([refused.code, refused.status, refused.messages.length], [code, status, 1]);
    assert.equal(await everything(), before);
  });
}

test('4.2 rule 2: a field whose ID is absent has its value deleted', async () => {
  const { json } = await opened.update(entries({ u_primarykey: '一', u_text: '残る' }));
  assert.deepEqual([json.u_text.value, json.u_note.value, json.u_count.value], ['残る', '', '']);
  const record = await opened.record('一');
  assert.deepEqual(record.u_count, { type: 'number', value: '', value_formatted: '' });
  assert.equal(await opened.find({ u_count: '0' }), '', 'and no search finds it any more');
});

test('4.2 rule 2: an empty value deletes as well', async () => {
  assert.equal((await opened.update(entries({ ...FIRST, u_text: '', u_count: '' }))).json.u_text.value, '');
});

const FILE_IDS = [
  ['4.2 rule 3: the value of a file field must be the ID of a file that exists', { u_file: 'F1' }, 'u_file'],
  [
    '4.2 rule 3: the value of an image field must be the ID of a file that exists',
    { u_image: '../../etc/passwd' },
    'u_image',
  ],
  ['D28: a file ID of another app is refused', { u_file: '00000000-0000-4000-8000-000000000000' }, 'u_file'],
] as const;

for (const [title, values, at] of FILE_IDS) {
  test(title, async () => {
    const before = await everything();
    const { code, messages } = refusal(await opened.update(entries({ ...FIRST, ...values })));
    assert.equal(code, 'unknown_file');
    assert.ok(messages[0]?.includes(`「${at}」`));
    assert.equal(await everything(), before);
  });
}

test('4.2: the answer is the envelope and the updated record with its system fields, to the byte', async () => {
  const { text, json, status, headers } = await opened.update(
    entries({ ...FIRST, u_text: '"髙" \\ \u2028', u_count: '1,000.50' }),
  );
  const user = '{"id":"yamada","name":"山田 太郎"}';
  assert.equal(
    text,
    '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null,"u_primarykey":{"type":"id","value":"一"},' +
      `"u_text":{"type":"text","value":${JSON.stringify('"髙" \\ \u2028')}},"u_note":{"type":"text_area","value":"覚え\\r\\n書き"},` +
      '"u_count":{"type":"number","value":"1000.50","value_formatted":"1000.50"},"u_unseen":{"type":"text","value":"裏"},' +
      '"u_secret":{"type":"text","value":"守"},"u_auto":{"type":"auto_number","value":"001"},' +
      '"u_file":{"type":"file","value":"","filename":"","filesize":""},"u_image":{"type":"image","value":"","filename":"","filesize":""},' +
      `"pms_i_usr":{"type":"pms_i_usr","value":${user}},"pms_i_ymd":{"type":"pms_i_ymd","value":"${json.pms_i_ymd.value}"},` +
      `"pms_u_usr":{"type":"pms_u_usr","value":${user}},"pms_u_ymd":{"type":"pms_u_ymd","value":"${json.pms_u_ymd.value}"}}`,
  );
  assert.match(json.pms_u_ymd.value, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.deepEqual(
    [status, headers.get('content-type'), headers.get('x-error-code')],
    [200, 'application/json;charset=UTF-8', null],
  );
});

test('P04: the answer holds the fields hidden in the list settings, and no tables', async () => {
  const { json } = await opened.update(entries(FIRST), { tablecode: 'u_rows', revision: '1' });
  assert.equal(json.u_note.value, '覚え\r\n書き');
  assert.deepEqual(['u_rows' in json, 'pms_revision' in json], [false, false]);
  assert.equal('u_note' in (await opened.record('一')), false);
});

test('D24: what search returned can be sent back as it is', async () => {
  const { json } = await opened.search({ u_primarykey: '一' }, { tablecode: 'u_rows', revision: '1' });
  const record = json.u_rows[0];
  record.u_note = { type: 'text_area', value: FIRST.u_note };
  const { status, json: answer } = await opened.update(record);
  assert.equal(status, 200);
  for (const id of ['u_text', 'u_note', 'u_count', 'u_unseen', 'u_secret', 'u_auto']) {
    assert.deepEqual(answer[id], id === 'u_note' ? record.u_note : record[id], id);
  }
  assert.deepEqual((await opened.record('一', { tablecode: 'u_rows' })).u_rows, record.u_rows);
});

test('D24: other members of an entry are ignored, whatever they are', async () => {
  const entry = { value: '値', type: 7, value_formatted: [], ['__proto__']: null, constructor: {} };
  assert.equal((await opened.update({ ...entries(FIRST), u_text: entry })).json.u_text.value, '値');
});

test('D24: system fields and tables in param are ignored, whatever they hold', async () => {
  const other = {
    pms_i_usr: { value: { id: 'x' } },
    pms_u_usr: 'x',
    pms_i_ymd: { value: '1999-01-01 00:00:00' },
    pms_u_ymd: null,
  };
  const { json } = await opened.update({ ...entries(FIRST), ...other, u_rows: [{ u_item: { value: '替え' } }] });
  assert.deepEqual([json.pms_i_usr.value.id, json.pms_u_usr.value.id], ['yamada', 'yamada']);
  assert.notEqual(json.pms_i_ymd.value, '1999-01-01 00:00:00');
  assert.equal(await opened.find({ u_rows: { u_item: '替え' } }), '');
});

test('D24: a pms_revision that does not match is answered with 409 and changes nothing; one that matches is not', async () => {
  const { pms_revision: revision } = await opened.record('一', { revision: '1' });
  const send = (value: string) => opened.update({ ...entries({ ...FIRST, u_text: '新' }), pms_revision: { value } });
  assert.equal((await send(revision.value)).json.u_text.value, '新');
  const before = await everything();
  for (const value of [revision.value, '0', '', '999', `0${Number(revision.value) + 1}`]) {
    const { code, status, messages } = refusal(await send(value));
    assert.deepEqual([code, status, messages.length], ['revision_conflict', 409, 1], value);
  }
  assert.equal(refusal(await opened.update({ ...entries(FIRST), pms_revision: '1' })).code, 'entry_not_object');
  assert.equal(await everything(), before);
});

test('D25: a field that the form does not show is kept when absent, and written when sent', async () => {
  const kept = await opened.update(entries({ u_primarykey: '一' }));
  assert.equal(kept.json.u_unseen.value, '裏');
  assert.equal((await opened.update(entries({ u_primarykey: '一', u_unseen: '表' }))).json.u_unseen.value, '表');
});

test('D25: protected and auto-numbered fields are never emptied', async () => {
  const { json } = await opened.update(entries({ u_primarykey: '一', u_secret: '', u_auto: '' }));
  assert.deepEqual([json.u_secret.value, json.u_auto.value], ['守', '001']);
  const absent = await opened.update(entries({ u_primarykey: '一' }));
  assert.deepEqual([absent.json.u_secret.value, absent.json.u_auto.value], ['守', '001']);
});

test('D30: mode=merge keeps absent fields, mode=replace and no mode empty them', async () => {
  const merged = await opened.update(entries({ u_primarykey: '一', u_text: '併' }), { mode: 'merge' });
  assert.deepEqual(
    [merged.json.u_text.value, merged.json.u_note.value, merged.json.u_count.value],
    ['併', FIRST.u_note, '1'],
  );
  assert.equal(
    (await opened.update(entries({ u_primarykey: '一', u_text: '' }), { mode: 'merge' })).json.u_text.value,
    '',
  );
  const replaced = await opened.update(entries({ u_primarykey: '一', u_text: '替' }), { mode: 'replace' });
  assert.deepEqual([replaced.json.u_text.value, replaced.json.u_note.value], ['替', '']);
});

test('D30: any other mode is an error and changes nothing', async () => {
  const before = await everything();
  for (const mode of ['Merge', 'patch', '__proto__']) {
    const { code, messages } = refusal(await opened.update(entries(FIRST), { mode }));
    assert.equal(code, 'bad_mode');
    assert.ok(messages[0]?.includes(mode));
  }
  assert.equal(await everything(), before);
});
