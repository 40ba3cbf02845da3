// Spec 4.2: files and images of an update, in the form and in tables; 2.2, rule 3, D25-D29, D36, D38.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import sharp from 'sharp';
import { sweepFiles } from '../../src/operations/sweep-files.ts';
import { DataLoss } from '../../src/store/register.ts';
import { appOf } from '../harness/running.ts';
import { entries, type Opened, openApp, refusal } from './opened.ts';

const UPDATE = '/webapi/v1/data/update';
const DOWNLOAD = '/webapi/x1/file/download';
const FIRST = { f_primarykey: '一', f_text: '最初' };
const definition = (code: string) => `
code: ${code}
fields:
  - { id: f_primarykey, type: id, search: exact }
  - { id: f_text, type: text, search: partial }
  - { id: f_file, type: file }
  - { id: f_image, type: image }
  - { id: f_secret, type: file, protected: true }
  - { id: f_unseen, type: file, shownInForm: false }
tables:
  - { code: f_rows, fields: [{ id: f_item, type: text, search: partial }, { id: f_photo, type: image }, { id: f_paper, type: file }] }
  - { code: f_more, fields: [{ id: f_other, type: text }] }
`;

let opened: Opened;
let png: Buffer;
before(async () => {
  png = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#c00' } })
    .png()
    .toBuffer();
  opened = await openApp(definition('F'), [
    { ...FIRST, f_rows: [{ f_item: '机' }, { f_item: '椅子' }], f_more: [{ f_other: '他' }] },
    { f_primarykey: '二', f_text: '別' },
  ]);
});
after(() => opened.running.close());
beforeEach(async () => {
  const { status, text } = await opened.update(entries(FIRST));
  assert.equal(status, 200, text);
});

type Parts = Readonly<Record<string, File | string>>;

/** An update by multipart/form-data; `values` are its param. */
function send(values: Record<string, string>, parts: Parts, more: Record<string, string> = {}) {
  const form = new FormData();
  const all = { ...opened.credentials, ...more, param: JSON.stringify(entries(values)) };
  for (const [name, value] of Object.entries(all)) form.set(name, value);
  for (const [name, part] of Object.entries(parts)) form.set(name, part);
  return opened.running.post(UPDATE, form);
}

const file = (content: string | Buffer, name: string, type = 'text/plain') =>
  new File([new Uint8Array(Buffer.from(content))], name, { type });

async function download(fileid: string, more: Record<string, string> = {}) {
  const body = new URLSearchParams({ ...opened.credentials, fileid, ...more });
  const response = await fetch(opened.running.url + DOWNLOAD, { method: 'POST', body });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const everything = async () => (await opened.search({}, { tablecode: 'f_rows', revision: '1' })).text;

/** Names of the contents that are kept, thumbnails aside, and of what has not been taken over. */
function stored(): string[] {
  const names = readdirSync(opened.running.filesDir, { recursive: true, withFileTypes: true });
  return names.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('4.2 parameter <file_field_id>: the file is kept with its name and size, and can be downloaded byte for byte', async () => {
  const content = randomBytes(300_000);
  const { json, status, text } = await send(FIRST, { f_file: file(content, '見積書 2026.pdf', 'application/pdf') });
  assert.equal(status, 200, text);
  const { value } = json.f_file;
  assert.match(value, /^[0-9a-f]{32}$/);
  const entry = { type: 'file', value, filename: '見積書 2026.pdf', filesize: '300000' };
  assert.deepEqual(json.f_file, entry);
  assert.deepEqual((await opened.record('一')).f_file, entry, '2.2 type file: search gives the same');
  const { response, bytes } = await download(value);
  assert.ok(bytes.equals(content));
  assert.equal(response.headers.get('content-type'), 'application/pdf');
});

test('4.2 parameter <image_field_id>: an image is kept, D36: with the members of a file', async () => {
  const { json } = await send(FIRST, { f_image: file(png, '赤.png', 'image/png') });
  const entry = { type: 'image', value: json.f_image.value, filename: '赤.png', filesize: String(png.length) };
  assert.deepEqual(json.f_image, entry);
  assert.deepEqual((await opened.record('一')).f_image, entry);
  const [[width, height] = []] = await opened.running.query(
    `select width, height from files where id = '${json.f_image.value}'`,
  );
  assert.deepEqual([Number(width), Number(height)], [40, 30]);
});

const NO_IMAGES = [
  ['a text', Buffer.from('これは画像ではない')],
  ['the first bytes of a PNG and nothing behind', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ['nothing', Buffer.alloc(0)],
  [
    'SVG, which a setting does not allow',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
  ],
] as const;

for (const [what, content] of NO_IMAGES) {
  test(`4.2 parameter <image_field_id>: ${what} is refused, with nothing changed and nothing left`, async () => {
    const before = [await everything(), stored()];
    const { code, messages } = refusal(await send(FIRST, { f_image: file(content, 'x.png', 'image/png') }));
    assert.deepEqual([code, messages.length], ['not_an_image', 1]);
    assert.ok(messages[0]?.includes('「f_image」'), messages.join());
    assert.deepEqual([await everything(), stored()], before);
  });
}

test('4.2 parameter <file_field_id>: the entry of the same field in param is ignored, whatever it holds', async () => {
  const { json } = await send({ ...FIRST, f_file: '無いファイル' }, { f_file: file('中身', 'a.txt') });
  assert.equal(json.f_file.filename, 'a.txt');
});

test('4.2 parameter <file_field_id>: an empty part without a name is no part, and empties nothing', async () => {
  const sent = await send(FIRST, { f_file: file('中身', 'a.txt') });
  const kept = { ...FIRST, f_file: sent.json.f_file.value };
  assert.equal((await send(kept, { f_file: file('', '') })).json.f_file.filename, 'a.txt');
  assert.equal((await send(FIRST, { f_file: file('', '') }, { mode: 'merge' })).json.f_file.filename, 'a.txt');
});

test('4.2 parameter <file_field_id>: a file of no bytes that has a name is one', async () => {
  const { json } = await send(FIRST, { f_file: file('', '空.txt') });
  assert.deepEqual([json.f_file.filename, json.f_file.filesize], ['空.txt', '0']);
  assert.equal((await download(json.f_file.value)).bytes.length, 0);
});

test('4.2 rule 3: the ID that a search returned can be sent back, and keeps the file', async () => {
  const { json } = await send(FIRST, { f_file: file('中身', 'a.txt') });
  const again = await opened.update({ ...(await opened.record('一')), f_text: { value: '次' } });
  assert.deepEqual(again.json.f_file, json.f_file);
});

test('4.2 rule 3: a file of the app can be given to another field and another record', async () => {
  const { json } = await send(FIRST, { f_file: file('中身', 'a.txt') });
  const { value } = json.f_file;
  const other = await opened.update(entries({ f_primarykey: '二', f_file: value }));
  assert.deepEqual([other.status, other.json.f_file.value, other.json.f_file.filename], [200, value, 'a.txt']);
});

test('4.2 rule 2: a file field that is absent is emptied, D38: and has no name and no size', async () => {
  await send(FIRST, { f_file: file('中身', 'a.txt'), f_unseen: file('裏', 'b.txt') });
  const { json } = await opened.update(entries(FIRST));
  assert.deepEqual(json.f_file, { type: 'file', value: '', filename: '', filesize: '' });
  assert.equal(json.f_unseen.filename, 'b.txt', 'D25: the form does not show it');
});

test('4.2 table data-protected: a part for a protected field is ignored', async () => {
  const { json, status } = await send({ ...FIRST, f_text: '変えた' }, { f_secret: file('x', 'x.txt') });
  assert.deepEqual([status, json.f_secret.value, json.f_text.value], [200, '', '変えた']);
});

const rowsOf = async () => (await opened.record('一', { tablecode: 'f_rows' })).f_rows;

test('D27: <field_id>_<row_number> replaces the file of that row and nothing else of the table', async () => {
  const { status, text } = await send(FIRST, {
    f_photo_2: file(png, '椅子.png', 'image/png'),
    f_paper_2: file('紙', '紙.txt'),
  });
  assert.equal(status, 200, text);
  const [first, second] = await rowsOf();
  assert.deepEqual([first.f_item.value, first.f_photo.value, second.f_item.value], ['机', '', '椅子']);
  assert.deepEqual([second.f_photo.filename, second.f_paper.filename], ['椅子.png', '紙.txt']);
  assert.ok((await download(second.f_photo.value)).bytes.equals(png));
  assert.equal(await opened.find({ f_rows: { f_item: '椅子' } }), '一', 'the row is found as before');
  await send(FIRST, { f_photo_1: file(png, '机.png') });
  const again = await rowsOf();
  assert.deepEqual(
    again.map((row: { f_photo: { filename: string } }) => row.f_photo.filename),
    ['机.png', '椅子.png'],
    'a row without a part keeps its file',
  );
});

test('D29: the history has the rows as they were', async () => {
  await send(FIRST, { f_photo_1: file(png, '初め.png') });
  await send(FIRST, { f_photo_1: file(png, '次.png') });
  const [[name] = []] = await opened.running.query(`select id from apps where code = 'F'`);
  const versions = await opened.running.query(
    `select version from app_${name}_history where record = 1 order by revision desc limit 1`,
  );
  const { tables } = JSON.parse(String(versions[0]?.[0]));
  assert.match(tables.f_rows[0].f_photo, /^[0-9a-f]{32} \d+ image\/png 初め\.png$/);
});

test('D27: a row that does not exist is an error, and so is every other; nothing is changed', async () => {
  const before = await everything();
  const { code, messages } = refusal(
    await send({ ...FIRST, f_text: '変えた' }, { f_photo_3: file(png, 'a.png'), f_paper_9: file('x', 'x') }),
  );
  assert.deepEqual([code, messages.length], ['unknown_row', 2]);
  assert.ok(messages[0]?.includes('「f_photo_3」') && messages[0]?.includes('2'), messages.join());
  assert.equal(await everything(), before);
});

for (const name of [
  'f_text',
  'f_none',
  'f_photo',
  'f_photo_0',
  'f_photo_02',
  'f_item_1',
  '__proto__',
  'f_primarykey',
]) {
  test(`D27: a file under the name ${name} is for no field and refused`, async () => {
    const before = [await everything(), stored()];
    const { code, messages } = refusal(await send({ ...FIRST, f_text: '変えた' }, { [name]: file('x', 'x.txt') }));
    assert.deepEqual([code, messages.length], ['file_part_refused', 1]);
    assert.ok(messages[0]?.includes(`「${name}」`), messages.join());
    assert.deepEqual([await everything(), stored()], before);
  });
}

test('D26: what is wrong with parts and with values is reported together', async () => {
  const { messages } = refusal(
    await send({ ...FIRST, f_none: 'x', f_file: '無い' }, { f_image: file('x', 'x.png'), f_photo_x: file('x', 'x') }),
  );
  for (const at of ['f_none', 'f_file', 'f_image', 'f_photo_x']) {
    assert.ok(
      messages.some((message) => message.includes(`「${at}」`)),
      `${at} in ${messages.join('\n')}`,
    );
  }
});

test('D28: a file ID of another app is refused', async () => {
  const { running } = opened;
  await running.define(definition('G'));
  await running.put('G', [FIRST]);
  const credentials = { appcode: 'G', appkey: await running.key('G', 'yamada') };
  const { json } = await send(FIRST, { f_file: file('中身', 'a.txt') });
  const { code } = refusal(await running.update(credentials, entries({ ...FIRST, f_file: json.f_file.value })));
  assert.equal(code, 'unknown_file');
  const foreign = await download(json.f_file.value, credentials);
  assert.deepEqual([foreign.response.status, foreign.response.headers.get('x-error-code')], [404, 'unknown_fileid']);
});

test('D28: an update that is refused leaves no file behind', async () => {
  const sweep = () => sweepFiles(opened.running.register, opened.running.files, 0);
  await sweep();
  const before = stored();
  for (const [values, more] of [
    [{ f_primarykey: '無い' }, {}],
    [FIRST, { appkey: 'wrong' }],
    [{ ...FIRST, f_none: 'x' }, {}],
    [FIRST, { mode: 'x' }],
  ] as const) {
    refusal(await send(values as Record<string, string>, { f_file: file(`中身 ${Math.random()}`, 'a.txt') }, more));
  }
  // What was refused only by the database is swept.
  await sweep();
  assert.deepEqual(stored().sort(), before.sort());
});

test('D28: replaced files stay while the history refers to them', async () => {
  const first = (await send(FIRST, { f_file: file('初め', 'a.txt') })).json.f_file.value;
  const second = (await send(FIRST, { f_file: file('次', 'b.txt') })).json.f_file.value;
  await opened.update(entries(FIRST));
  await sweepFiles(opened.running.register, opened.running.files, 0);
  assert.equal((await download(first)).bytes.toString(), '初め');
  assert.equal((await download(second)).bytes.toString(), '次');
});

test('D28: the same content is kept once, however many files have it', async () => {
  const content = randomBytes(1_000);
  await send(FIRST, { f_file: file(content, 'a.txt') });
  await send({ f_primarykey: '二' }, { f_file: file(content, 'b.txt') });
  const digest = createHash('sha256').update(content).digest('hex');
  assert.equal(stored().filter((name) => name === digest).length, 1);
});

test('D31: uploads to one record at once are each whole', async () => {
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) => send(FIRST, { f_file: file(`中身 ${index}`, `${index}.txt`) })),
  );
  for (const [index, { json, text }] of replies.entries()) {
    assert.equal(json.f_file?.filename, `${index}.txt`, text);
    assert.equal((await download(json.f_file.value)).bytes.toString(), `中身 ${index}`);
  }
});

test('4.2 rule 3: an image field takes the ID of an image only', async () => {
  const { json } = await send(FIRST, { f_file: file('文', 'a.txt'), f_image: file(png, 'b.png') });
  const [text, image] = [json.f_file.value, json.f_image.value];
  const refused = refusal(await opened.update(entries({ ...FIRST, f_image: text })));
  assert.deepEqual([refused.code, refused.messages.length], ['not_an_image', 1]);
  assert.equal((await opened.update(entries({ ...FIRST, f_file: image, f_image: image }))).status, 200);
});

test('D28: a file is only ever a file: a field that becomes a text would lose it', async () => {
  const { running } = opened;
  const before = 'code: H\nfields: [{ id: h_primarykey, type: id }, { id: h_file, type: file }]\n';
  await running.define(before);
  await running.put('H', [{ h_primarykey: '1' }]);
  const form = new FormData();
  const parameters = {
    appcode: 'H',
    appkey: await running.key('H', 'yamada'),
    param: '{"h_primarykey":{"value":"1"}}',
  };
  for (const [name, value] of Object.entries(parameters)) form.set(name, value);
  form.set('h_file', file('文', 'a.txt'));
  assert.equal((await running.post(UPDATE, form)).status, 200);
  const { app, source } = appOf(before.replace('type: file', 'type: text'));
  const applying = running.register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await assert.rejects(
    applying,
    (error: Error) => error instanceof DataLoss && error.applied.unreadable[0]?.count === 1,
  );
});

test('D26: a file ID that no database takes is refused as any other', async () => {
  const { code, messages } = refusal(await opened.update(entries({ ...FIRST, f_file: '\0', f_image: '\ud800' })));
  assert.deepEqual([code, messages.length], ['bad_character', 2]);
  const { response } = await download('\0');
  assert.deepEqual([response.status, response.headers.get('x-error-code')], [404, 'unknown_fileid']);
});
