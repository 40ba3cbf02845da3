// Spec 7: errors in the body, HTTP statuses and codes; D32-D34. Every code of errors.ts that a request can provoke.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ErrorCode, STATUS } from '../../src/errors.ts';
import type { Reply } from '../harness/running.ts';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const SEARCH = '/webapi/v1/dataset/search';
const UPDATE = '/webapi/v1/data/update';
const definition = (code: string, more = '') => `
code: ${code}
${more}
fields:
  - { id: e_primarykey, type: id, search: exact }
  - { id: e_text, type: text, search: partial, maxLength: 3 }
  - { id: e_number, type: number, search: range }
  - { id: e_date, type: date }
  - { id: e_time, type: time }
  - { id: e_many, type: text, search: any_of }
  - { id: e_at, type: datetime }
  - { id: e_file, type: file }
  - { id: e_image, type: image }
  - { id: e_unique, type: text, unique: true }
  - { id: e_choice, type: dropdown, choices: [甲, 乙] }
  - { id: e_needed, type: text, required: true }
tables:
  - { code: e_rows, fields: [{ id: e_row, type: text, search: exact }, { id: e_paper, type: file }] }
`;

let opened: Opened;
/** The same with every refusal answered 200. */
let always: Opened;
const open = async (always200: boolean) => {
  const app = await openApp(definition('E'), [{ e_primarykey: '1', e_unique: '一' }, { e_primarykey: '2' }], {
    always200,
    maxRecords: 1,
    maxBody: 50_000,
    ...{ maxFile: 2_000, maxFiles: 2, maxUpload: 3_000 },
  });
  const { running } = app;
  await running.define(definition('PREPARED', 'state: preparation'));
  for (const user of ['admin', 'guest']) await running.addUser(user, user);
  await running.key('E', 'admin', { admin: true });
  await running.key('E', 'guest', {});
  return app;
};
before(async () => {
  opened = await open(false);
  always = await open(true);
});
after(() => Promise.all([opened.running.close(), always.running.close()]));

type Provoke = (app: Opened) => Promise<Reply>;
const searching =
  (param: unknown, more = {}): Provoke =>
  (app) =>
    app.search(param, more);
const sending =
  (param: string): Provoke =>
  (app) =>
    app.running.post(SEARCH, { ...app.credentials, param });
const updating =
  (values: Record<string, string>, more = {}): Provoke =>
  (app) =>
    app.update(entries({ e_primarykey: '1', ...values }), more);
const sendingFiles =
  (names: readonly string[], size = 1): Provoke =>
  (app) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(app.credentials)) form.set(name, value);
    form.set('param', JSON.stringify(entries({ e_primarykey: '1' })));
    for (const name of names) form.set(name, new Blob(['x'.repeat(size)]), 'x.txt');
    return app.running.post(UPDATE, form);
  };
const downloading =
  (parameters: Record<string, string>): Provoke =>
  (app) =>
    app.running.post('/webapi/x1/file/download', { ...app.credentials, ...parameters });
/** An operation beside the specification (D39), with what the app requires. */
const beside =
  (operation: string, values: Record<string, string>, more: Record<string, string> = {}, tables = {}): Provoke =>
  ({ running, credentials }) => {
    const param = JSON.stringify({ ...entries(values), ...tables });
    return running.post(`/webapi/x1/${operation}`, { ...credentials, param, ...more });
  };
const inserting = (values: Record<string, string>, tables = {}): Provoke =>
  beside('data/insert', { e_needed: '要', ...values }, {}, tables);
const bulk =
  (lines: string, atomic: string): Provoke =>
  ({ running, credentials }) =>
    running.post('/webapi/x1/data/bulk', { ...credentials, lines, atomic });
const asUser =
  (index: number, user: string, more = {}): Provoke =>
  (app) =>
    app.running.update({ appcode: 'E', appkey: `key-${index}-${user}`, ...more }, entries({ e_primarykey: '1' }));

interface Row {
  readonly provoke: Provoke;
  /** What the message must name. */
  readonly names: string;
}

/** The administrator's key. */
const ADMIN = { appkey: 'key-2-admin' };

/** A request for every code; the codes that no request can provoke are below. */
const PROVOKED: { readonly [code in Exclude<ErrorCode, keyof typeof NOT_PROVOKED>]: Row } = {
  missing_parameter: { provoke: ({ running }) => running.post(SEARCH, { appcode: 'E' }), names: 'appkey' },
  repeated_parameter: {
    provoke: (app) => app.running.post(SEARCH, `${new URLSearchParams(app.credentials)}&lang=0&lang=0`),
    names: 'lang',
  },
  bad_encoding: {
    provoke: (app) => app.running.post(SEARCH, `${new URLSearchParams(app.credentials)}&param=%FF`),
    names: 'param',
  },
  bad_lang: { provoke: searching({ e_primarykey: '1' }, { lang: 'de' }), names: 'lang' },
  bad_limit: { provoke: searching({}, { limit: '0' }), names: 'limit' },
  bad_revision: { provoke: searching({}, { revision: 'x', limit: '1' }), names: 'revision' },
  bad_size: { provoke: downloading({ fileid: '無い', size: 'large' }), names: 'size' },
  bad_mode: { provoke: updating({}, { mode: 'x' }), names: 'mode' },
  unknown_after: { provoke: searching({}, { after: '無い' }), names: 'after' },
  unknown_execuserid: { provoke: asUser(2, 'admin', { execuserid: '無い' }), names: 'execuserid' },
  unknown_tablecode: { provoke: searching({}, { tablecode: '無い' }), names: 'tablecode' },
  malformed_body: {
    provoke: (app) => app.running.post(SEARCH, '', { 'content-type': 'multipart/form-data' }),
    names: '',
  },
  bad_key: { provoke: beside('data/upsert', { e_primarykey: '1' }, { key: 'e_text' }), names: 'e_text' },
  bad_version: { provoke: beside('data/restore', { e_primarykey: '1' }, { ...ADMIN, version: '0' }), names: 'version' },
  bad_atomic: { provoke: bulk('', 'yes'), names: 'atomic' },
  line_not_json: { provoke: bulk('{', '1'), names: '1 行目' },
  bad_line: { provoke: bulk('{}', '1'), names: '1 行目' },
  param_not_json: { provoke: sending('{'), names: 'param' },
  param_not_object: { provoke: sending('1'), names: 'param' },
  param_repeated_key: { provoke: sending('{"e_text":"","e_text":""}'), names: 'e_text' },
  param_too_deep: { provoke: sending(`{"e_text":${'['.repeat(20)}${']'.repeat(20)}}`), names: 'param' },
  unknown_field: { provoke: searching({ 無い: '' }), names: '無い' },
  unknown_table_code: { provoke: searching({ 無い: {} }), names: '無い' },
  field_not_searchable: { provoke: searching({ e_date: '2026-01-01' }), names: 'e_date' },
  condition_not_string: { provoke: searching({ e_text: 1 }), names: 'e_text' },
  too_many_keywords: {
    provoke: searching({ e_many: Array.from({ length: 1_001 }, (_, word) => word).join() }),
    names: 'e_many',
  },
  conditions_not_object: { provoke: searching({ e_rows: '' }), names: 'e_rows' },
  entry_not_object: { provoke: (app) => app.update({ e_primarykey: { value: '1' }, e_text: '' }), names: 'e_text' },
  rows_not_array: { provoke: inserting({}, { e_rows: {} }), names: 'e_rows' },
  value_not_string: { provoke: (app) => app.update({ e_primarykey: { value: '1' }, e_text: {} }), names: 'e_text' },
  missing_primary_key: { provoke: (app) => app.update(entries({ e_text: '' })), names: 'e_primarykey' },
  not_a_number: { provoke: searching({ e_number: '百' }), names: 'e_number' },
  number_too_long: { provoke: updating({ e_number: '9'.repeat(31) }), names: 'e_number' },
  not_a_date: { provoke: updating({ e_date: '2026-02-29' }), names: 'e_date' },
  not_a_time: { provoke: updating({ e_time: '24:00' }), names: 'e_time' },
  not_a_datetime: { provoke: updating({ e_at: '2026-02-29 10:00' }), names: 'e_at' },
  text_too_long: { provoke: updating({ e_text: '一二三四' }), names: 'e_text' },
  bad_character: { provoke: updating({ e_text: '\0' }), names: 'e_text' },
  unknown_file: { provoke: updating({ e_file: '無い' }), names: 'e_file' },
  unknown_row: { provoke: sendingFiles(['e_paper_7']), names: 'e_paper_7' },
  required_value: { provoke: beside('data/insert', {}), names: 'e_needed' },
  not_a_choice: { provoke: inserting({ e_choice: '丙' }), names: '甲, 乙' },
  unknown_version: {
    provoke: beside('data/restore', { e_primarykey: '1' }, { ...ADMIN, version: '77' }),
    names: '77',
  },
  not_an_image: { provoke: sendingFiles(['e_image']), names: 'e_image' },
  file_part_refused: { provoke: sendingFiles(['e_text']), names: 'e_text' },
  too_many_records: { provoke: searching({}), names: '1' },
  bad_credentials: { provoke: ({ running }) => running.search({ appcode: 'E', appkey: 'wrong' }, {}), names: 'appkey' },
  option_off: {
    async provoke(app) {
      await app.running.register.setWebApi(false);
      const reply = await app.search({});
      await app.running.register.setWebApi(true);
      return reply;
    },
    names: 'WebAPI',
  },
  not_in_production: {
    async provoke({ running }) {
      return running.search({ appcode: 'PREPARED', appkey: await running.key('PREPARED', 'guest') }, {});
    },
    names: '',
  },
  no_right: { provoke: asUser(3, 'guest'), names: '' },
  unknown_record: { provoke: updating({ e_primarykey: '無い' }), names: '無い' },
  unknown_fileid: { provoke: downloading({ fileid: '無い' }), names: '無い' },
  unknown_path: {
    provoke: ({ running, credentials }) => running.post('/webapi/v1/none', credentials),
    names: '/webapi/v1/none',
  },
  wrong_method: {
    async provoke({ running }) {
      const response = await fetch(running.url + SEARCH, { method: 'PUT' });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
    },
    names: 'PUT',
  },
  revision_conflict: {
    provoke: (app) => app.update({ ...entries({ e_primarykey: '1' }), pms_revision: { value: '7' } }),
    names: '7',
  },
  record_exists: { provoke: inserting({ e_primarykey: '2' }), names: 'e_primarykey' },
  not_unique: { provoke: inserting({ e_unique: '一' }), names: 'e_unique' },
  body_too_large: { provoke: (app) => app.running.post(SEARCH, 'x'.repeat(50_001)), names: '50000' },
  file_too_large: { provoke: sendingFiles(['e_file'], 2_001), names: 'e_file' },
  files_too_large: { provoke: sendingFiles(['e_file', 'e_image'], 2_000), names: '3000' },
  too_many_files: { provoke: sendingFiles(['e_file', 'e_image', 'e_paper_1']), names: '2' },
  unsupported_media_type: {
    provoke: (app) => app.running.post(SEARCH, '{}', { 'content-type': 'text/html' }),
    names: 'text/html',
  },
  internal_error: {
    async provoke({ running }) {
      await running.define(definition('BROKEN'));
      await running.addUser('breaker', '壊');
      const appkey = await running.key('BROKEN', 'breaker');
      const [[id, generation] = []] = await running.query(`select id, generation from apps where code = 'BROKEN'`);
      await running.query(`drop table app_${id}_${generation}`);
      return running.search({ appcode: 'BROKEN', appkey }, {});
    },
    names: '',
  },
};

/** Codes that no request provokes here, and why. */
const NOT_PROVOKED = {
  malformed_request: 'not HTTP: 7-errors-http.test.ts',
  files_before_credentials: 'needs large files: test/uploads.test.ts',
  not_calculated: 'is no refusal: test/x1/calculated.test.ts',
  being_loaded: 'needs a load under way: test/x1/loading.test.ts',
  unavailable: 'needs a store that cannot serve: below',
  line_too_long: 'needs a line longer than a body: test/x1/bulk.test.ts',
  range_not_satisfiable: 'needs a file: test/file-download.test.ts',
} as const;

for (const [code, { provoke, names }] of Object.entries(PROVOKED)) {
  const title = 'D34: X-Error-Code is';
  test(`${title} ${code}, with its HTTP status and a message that names what is wrong`, async () => {
    const before = (await opened.search({}, { limit: '5', revision: '1' })).text;
    const refused = refusal(await provoke(opened));
    assert.deepEqual([refused.code, refused.status, refused.messages.length], [code, STATUS[code as ErrorCode], 1]);
    assert.ok(refused.messages[0]?.includes(names), refused.messages.join());
    assert.equal((await opened.search({}, { limit: '5', revision: '1' })).text, before, 'nothing was changed');
  });
  if (code === 'internal_error') continue;
  const otherTitle = 'D33: with always-200';
  test(`${otherTitle} ${code} is answered 200, the body and the code as ever`, async () => {
    const refused = refusal(await provoke(always));
    assert.deepEqual([refused.code, refused.status], [code, 200]);
    assert.deepEqual(refused.messages, refusal(await provoke(opened)).messages);
  });
}

test('D33: a store that cannot serve is 503 for both operations, and always in the envelope', async () => {
  const app = await open(false);
  await app.running.store.close();
  const replies = [await app.search({}), await app.update(entries({ e_primarykey: '1' }))];
  await app.running.close();
  for (const reply of replies) assert.deepEqual([refusal(reply).code, reply.status], ['unavailable', 503]);
});

test('D33: a fault is answered with one general message and logged with its cause', async () => {
  const { running } = opened;
  const faults = () => running.log.filter((line) => line.includes(' error '));
  const logged = faults().length;
  await running.addUser('breaker2', '壊');
  const reply = await running.search({ appcode: 'BROKEN', appkey: await running.key('BROKEN', 'breaker2') }, {});
  const { code, messages } = refusal(reply);
  assert.equal(code, 'internal_error');
  assert.doesNotMatch(messages.join(), /SQL|sqlite|table|app_|\.ts/i);
  assert.equal(faults().length, logged + 1);
  assert.match(faults().at(-1) ?? '', /no such table|relation .* does not exist/);
});

test('7 rule 1: errors are in the JSON body, a count and a list of as many messages', async () => {
  for (const count of [1, 2, 7, 300]) {
    const param = Object.fromEntries(Array.from({ length: count }, (_, index) => [`無い${index}`, '']));
    const { json } = await opened.search(param);
    assert.deepEqual([json.rkwa_status, json.rkwa_errorcount, json.rkwa_errmsg.length], ['NG', count, count]);
  }
  const { json } = await opened.search({}, { limit: '1' });
  assert.deepEqual([json.rkwa_errorcount, json.rkwa_errmsg], [0, null]);
});

test('7 rule 2: no match is OK with count 1 and one message, HTTP 200 and no code', async () => {
  for (const app of [opened, always]) {
    const { json, status, headers } = await app.search({ e_text: '無い' });
    assert.deepEqual([json.rkwa_status, json.rkwa_errorcount, json.rkwa_errmsg.length], ['OK', 1, 1]);
    assert.deepEqual([status, headers.get('x-error-code')], [200, null]);
  }
});

test('7 rule 3: HTTP statuses and codes beside the body, which keeps the members of the specification only', async () => {
  const { status, headers, json } = await opened.update(
    entries({ e_primarykey: '1', e_text: '長い文字列', e_date: 'x' }),
  );
  assert.deepEqual([status, headers.get('x-error-code')], [400, 'text_too_long']);
  assert.deepEqual(Object.keys(json), ['rkwa_status', 'rkwa_errorcount', 'rkwa_errmsg']);
});

test('7 rule 4: failed updates, bad credentials, unknown primary keys and an invalid param are NG with a message', async () => {
  const replies = [
    await opened.update(entries({ e_primarykey: '1', e_date: 'x' })),
    await opened.running.search({ appcode: 'E', appkey: 'x' }, {}),
    await opened.update(entries({ e_primarykey: 'x' })),
    await opened.running.post(UPDATE, { ...opened.credentials, param: 'x' }),
  ];
  assert.deepEqual(
    replies.map((reply) => [refusal(reply).status, refusal(reply).messages.length]),
    [
      [400, 1],
      [401, 1],
      [404, 1],
      [400, 1],
    ],
  );
});

test('D32: rkwa_status is OK or NG, and the count of NG is that of the messages', async () => {
  const { json } = await opened.search({ 一: '', 二: {}, e_number: 'x' });
  assert.deepEqual([json.rkwa_status, json.rkwa_errorcount, json.rkwa_errmsg.length], ['NG', 3, 3]);
});

test('D34: the code is that of the first of several problems, and so is the status', async () => {
  const { code, status } = refusal(await opened.search({ e_number: 'x', 無い: '' }, { limit: 'x' }));
  assert.deepEqual([code, status], ['bad_limit', 400]);
});
