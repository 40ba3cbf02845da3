// POST /webapi/x1/file/download: who may have a file, in which pieces, under which name and type, and its thumbnail (D7-D9, D28, D39).
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import { download, fileOf, namesIn, upload } from './harness/uploading.ts';
import { type Opened, openApp, refusal } from './spec/opened.ts';

const definition = (code: string, state = 'production') => `
code: ${code}
state: ${state}
fields:
  - { id: d_primarykey, type: id, search: exact }
  - { id: d_file, type: file }
  - { id: d_image, type: image }
`;
const RECORD = { d_primarykey: '1' };
const DOWNLOAD = '/webapi/x1/file/download';
const CONTENT = randomBytes(100_003);

let opened: Opened;
let png: Buffer;
before(async () => {
  opened = await openApp(definition('D'), [RECORD], { svgImages: true });
  png = await sharp({ create: { width: 900, height: 300, channels: 3, background: '#084' } })
    .png()
    .toBuffer();
});
after(() => opened.running.close());

/** Uploads a file into a field and gives its ID. */
async function put(file: File, field = 'd_file'): Promise<string> {
  const { status, text, json } = await upload(opened.running.url, opened.credentials, RECORD, { [field]: file });
  assert.equal(status, 200, text);
  return json[field].value;
}

const get = (fileid: string, headers: Record<string, string> = {}, more: Record<string, string> = {}) =>
  download(opened.running.url, { ...opened.credentials, ...more }, fileid, headers);

const ask = (more: Record<string, string>) => opened.running.post(DOWNLOAD, { ...opened.credentials, ...more });

test('D39: a file comes whole, with its size, its name and its type, and is never taken for another type', async () => {
  const { status, headers, bytes } = await get(await put(fileOf(CONTENT, 'a.pdf', 'application/pdf; x=y')));
  assert.equal(status, 200);
  assert.ok(bytes.equals(CONTENT));
  assert.deepEqual(
    ['content-type', 'content-length', 'x-content-type-options', 'content-security-policy', 'accept-ranges'].map(
      (name) => headers.get(name),
    ),
    ['application/pdf', String(CONTENT.length), 'nosniff', 'sandbox', 'bytes'],
  );
});

const NAMED = [
  ['見積書 2026.pdf', '___ 2026.pdf'],
  ['a "b" \\c.txt', 'a _b_ _c.txt'],
  ["Müller's 100% *.txt", "M_ller's 100_ _.txt"],
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['a\r\nSet-Cookie: x=y', 'a__Set-Cookie_ x=y'],
] as const;

for (const [name, plain] of NAMED) {
  test(`D39: the name ${JSON.stringify(name)} is told to all clients`, async () => {
    const { headers } = await get(await put(fileOf('x', name)));
    const [, quoted, encoded = ''] =
      /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''([\w!#$&+\-.^`|~%]*)$/.exec(
        headers.get('content-disposition') ?? '',
      ) ?? [];
    assert.deepEqual([quoted, decodeURIComponent(encoded)], [plain, name]);
    assert.equal(headers.get('set-cookie'), null);
  });
}

const RUNNING = [
  ['a.html', 'text/html', '<script>alert(1)</script>'],
  ['a.xhtml', 'application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
  ['a.xml', 'text/xml', '<x/>'],
  ['a.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>'],
  ['a.js', 'text/javascript', 'alert(1)'],
] as const;

for (const [name, type, content] of RUNNING) {
  test(`D39: a file of the type ${type} is told as bytes`, async () => {
    const { headers, bytes } = await get(await put(fileOf(content, name, type)));
    assert.equal(headers.get('content-type'), 'application/octet-stream');
    assert.match(headers.get('content-disposition') ?? '', /^attachment;/);
    assert.equal(bytes.toString(), content);
  });
}

test('D39: an SVG in an image field is told as bytes too', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>';
  const { headers } = await get(await put(fileOf(svg, 'a.svg', 'image/svg+xml'), 'd_image'));
  assert.equal(headers.get('content-type'), 'application/octet-stream');
});

test('D39: an image is told as what its bytes are, whatever was sent with it', async () => {
  const { headers } = await get(await put(fileOf(png, 'a.html', 'text/html')));
  assert.equal(headers.get('content-type'), 'image/png');
});

const RANGES = [
  ['bytes=0-0', 0, 1],
  ['bytes=5-9', 5, 10],
  ['bytes=100000-', 100_000, 100_003],
  ['bytes=-3', 100_000, 100_003],
  ['bytes=99999-999999', 99_999, 100_003],
] as const;

test('D39: a range is answered 206 with its bytes', async () => {
  const id = await put(fileOf(CONTENT, 'a'));
  for (const [range, from, to] of RANGES) {
    const { status, headers, bytes } = await get(id, { range });
    assert.deepEqual([status, headers.get('content-range')], [206, `bytes ${from}-${to - 1}/100003`], range);
    assert.ok(bytes.equals(CONTENT.subarray(from, to)), range);
  }
});

test('D39: a file that is fetched in pieces is the file', async () => {
  const id = await put(fileOf(CONTENT, 'a'));
  const pieces = [];
  for (let at = 0; at < CONTENT.length; at += 40_000) {
    pieces.push((await get(id, { range: `bytes=${at}-${at + 39_999}` })).bytes);
  }
  assert.ok(Buffer.concat(pieces).equals(CONTENT));
});

test('D39: a range behind the end is refused with 416, which says the size', async () => {
  const id = await put(fileOf('0123456789', 'a'));
  const { status, headers, code } = await get(id, { range: 'bytes=10-' });
  assert.deepEqual([status, code, headers.get('content-range')], [416, 'range_not_satisfiable', 'bytes */10']);
});

test('D39: who has the file already is told so by its ETag, and If-Range asks for the rest of that one only', async () => {
  const id = await put(fileOf('0123456789', 'a'));
  const { headers } = await get(id);
  const etag = headers.get('etag') ?? '';
  assert.match(etag, /^"[0-9a-f]{64}"$/);
  assert.match(headers.get('cache-control') ?? '', /private, no-cache/);
  const again = await get(id, { 'if-none-match': `"other", ${etag}` });
  assert.deepEqual([again.status, again.bytes.length], [304, 0]);
  assert.equal((await get(id, { 'if-none-match': '"other"' })).status, 200);
  const ifRange = async (value: string) => (await get(id, { range: 'bytes=8-', 'if-range': value })).bytes.toString();
  assert.deepEqual([await ifRange(etag), await ifRange('"other"')], ['89', '0123456789']);
});

test('D28: who has the file already is refused where a right is missing, and not told that it is the same', async () => {
  const id = await put(fileOf('0123456789', 'a'));
  const { headers } = await get(id);
  const { status } = await get(id, { 'if-none-match': headers.get('etag') ?? '' }, { appkey: 'wrong' });
  assert.equal(status, 401);
});

test('D39: a file of no bytes comes, also where a range is asked for', async () => {
  const id = await put(fileOf('', '空.txt'));
  assert.deepEqual([(await get(id)).status, (await get(id)).bytes.length], [200, 0]);
  assert.equal((await get(id, { range: 'bytes=-5' })).status, 200);
  assert.equal((await get(id, { range: 'bytes=0-' })).status, 416);
});

test('5: a wrong key, no key and no file ID are refused', async () => {
  const id = await put(fileOf('x', 'a'));
  const codes = [];
  for (const more of [{ fileid: id, appkey: 'wrong' }, { fileid: id, appcode: 'NONE' }, { fileid: id, appkey: '' }, {}])
    codes.push(refusal(await ask(more as Record<string, string>)));
  assert.deepEqual(
    codes.map(({ status, code }) => [status, code]),
    [
      [401, 'bad_credentials'],
      [401, 'bad_credentials'],
      [400, 'missing_parameter'],
      [400, 'missing_parameter'],
    ],
  );
});

test('D7: who may use the app may have its files, and nobody else', async () => {
  const { running } = opened;
  const id = await put(fileOf('中身', 'a'));
  for (const user of ['reader', 'stranger']) await running.addUser(user, user);
  const reader = { appkey: await running.key('D', 'reader', {}) };
  assert.equal((await get(id, {}, reader)).bytes.toString(), '中身');
  const stranger = { fileid: id, appkey: await running.key('D', 'stranger', null) };
  assert.deepEqual([refusal(await ask(stranger)).status, refusal(await ask(stranger)).code], [403, 'no_right']);
});

test('D8: execuserid is used where the key is that of an administrator, and ignored where it is not', async () => {
  const { running } = opened;
  const id = await put(fileOf('中身', 'a'));
  for (const user of ['chief', 'guest']) await running.addUser(user, user);
  const appkey = await running.key('D', 'chief', { admin: true });
  assert.equal((await get(id, {}, { appkey })).status, 200);
  assert.equal((await get(id, {}, { appkey, execuserid: 'yamada' })).status, 200);
  assert.equal((await get(id, {}, { appkey, execuserid: 'guest' })).code, 'no_right');
  assert.equal((await get(id, {}, { execuserid: 'guest' })).status, 200, 'yamada is no administrator');
});

test('D1: messages are in the language that lang asks for, and an unknown one is refused', async () => {
  const fileid = 'f'.repeat(32);
  const [english, japanese] = [await ask({ fileid, lang: 'en' }), await ask({ fileid, lang: '0' })].map(refusal);
  assert.deepEqual([english?.status, english?.code, japanese?.code], [404, 'unknown_fileid', 'unknown_fileid']);
  assert.match(english?.messages[0] ?? '', /^[\x20-\x7e]+$/);
  assert.match(japanese?.messages[0] ?? '', /[ぁ-ん]/);
  assert.equal(refusal(await ask({ fileid, lang: 'xx' })).code, 'bad_lang');
});

test('D28: a file of another app is unknown, and so is anything that is no file ID', async () => {
  const { running } = opened;
  await running.define(definition('OTHER'));
  await running.put('OTHER', [RECORD]);
  const other = { appcode: 'OTHER', appkey: await running.key('OTHER', 'yamada') };
  const id = await put(fileOf('中身', 'a'));
  assert.equal((await get(id, {}, other)).code, 'unknown_fileid');
  const digest = createHash('sha256').update('中身').digest('hex');
  for (const fileid of [digest, id.toUpperCase(), `${id} `, '../../etc/passwd', "' or 1=1 --", 'x\0', '𠮷']) {
    const { status, code } = refusal(await ask({ fileid }));
    assert.deepEqual([status, code], [404, 'unknown_fileid'], fileid);
  }
});

test('D9: an app that is not in production gives no file, but to its administrators', async () => {
  const { running } = opened;
  await running.define(definition('CLOSED'));
  await running.put('CLOSED', [RECORD]);
  const appkey = await running.key('CLOSED', 'yamada');
  const closed = { appcode: 'CLOSED', appkey };
  const { json } = await upload(running.url, closed, RECORD, { d_file: fileOf('中身', 'a') });
  assert.equal((await get(json.d_file.value, {}, closed)).status, 200);
  await running.define(definition('CLOSED', 'maintenance'));
  const refused = await running.post(DOWNLOAD, { ...closed, fileid: json.d_file.value });
  assert.deepEqual([refusal(refused).code, refused.status], ['not_in_production', 403]);
  await running.addUser('boss', 'boss');
  const boss = { appcode: 'CLOSED', appkey: await running.key('CLOSED', 'boss', { admin: true }) };
  assert.equal((await get(json.d_file.value, {}, boss)).bytes.toString(), '中身');
});

test('1: without the WebAPI option there is no download', async () => {
  const id = await put(fileOf('x', 'a'));
  const { register } = opened.running;
  await register.setWebApi(false);
  try {
    assert.equal((await get(id)).code, 'option_off');
  } finally {
    await register.setWebApi(true);
  }
});

test('D39: a file that comes with a download is refused', async () => {
  const form = new FormData();
  const parameters = { ...opened.credentials, fileid: await put(fileOf('x', 'a')) };
  for (const [name, value] of Object.entries(parameters)) form.set(name, value);
  const { status, bytes } = await fetchForm(form);
  assert.deepEqual([status, bytes.toString()], [200, 'x'], 'multipart parameters are as good as any');
  form.set('d_file', fileOf('y', 'y'));
  assert.equal((await fetchForm(form)).code, 'file_part_refused');
});

async function fetchForm(body: FormData) {
  const response = await fetch(opened.running.url + DOWNLOAD, { method: 'POST', body });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, bytes, code: response.headers.get('x-error-code') };
}

const SMALL = { size: 'small' };

test('D39 size=small: the thumbnail of an image is made once and kept beside it', async () => {
  const id = await put(fileOf(png, '看板.png', 'image/png'), 'd_image');
  const name = `${createHash('sha256').update(png).digest('hex')}.small`;
  assert.ok(!namesIn(opened.running.filesDir).includes(name), 'none is made before it is asked for');
  const { status, headers, bytes } = await get(id, {}, SMALL);
  assert.deepEqual([status, headers.get('content-type')], [200, 'image/webp']);
  assert.match(headers.get('content-disposition') ?? '', /%E7%9C%8B%E6%9D%BF\.png\.webp$/);
  const { format, width, height } = await sharp(bytes).metadata();
  assert.deepEqual([format, width, height], ['webp', 256, 85]);
  const kept = await opened.running.files.find(name);
  assert.equal(kept?.size, bytes.length);
  // Another that lies in its place is what comes: it is not made again.
  const other = Buffer.concat([bytes, Buffer.alloc(1)]);
  await opened.running.files.keepSmall(name.slice(0, 64), other);
  assert.ok((await get(id, {}, SMALL)).bytes.equals(other));
});

test('D39 size=small: many who ask for it at once get the same bytes', async () => {
  const noise = await sharp(randomBytes(300 * 200 * 3), { raw: { width: 300, height: 200, channels: 3 } })
    .jpeg()
    .toBuffer();
  const id = await put(fileOf(noise, 'a.jpg'), 'd_image');
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => get(id, {}, SMALL)));
  assert.equal(first?.status, 200);
  for (const { bytes } of others) assert.ok(bytes.equals(first?.bytes ?? Buffer.alloc(0)));
});

test('D39 size=small: an image in a file field and an SVG of an image field have one too', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500"><rect width="9" height="9"/></svg>';
  for (const id of [await put(fileOf(png, 'a.png')), await put(fileOf(svg, 'a.svg'), 'd_image')]) {
    const { status, bytes } = await get(id, {}, SMALL);
    assert.equal(status, 200);
    assert.equal((await sharp(bytes).metadata()).width, 256);
  }
});

test('D39 size=small: what is no image has none, and another size is refused', async () => {
  const text = await put(fileOf('ただの文', 'a.png', 'image/png'));
  assert.deepEqual([(await get(text, {}, SMALL)).status, (await get(text, {}, SMALL)).code], [400, 'not_an_image']);
  // Its header is that of an image, its pixels are not there.
  const broken = await put(fileOf(png.subarray(0, 60), 'a.png'));
  assert.equal((await get(broken, {}, SMALL)).code, 'not_an_image');
  assert.equal((await get(text, {}, { size: 'large' })).code, 'bad_size');
  assert.equal((await get(text, {}, { size: '' })).bytes.toString(), 'ただの文');
});

test('D28: a content that is missing is a fault, told in one general message, with the cause in the log', async () => {
  const { running } = opened;
  const content = randomBytes(20);
  const id = await put(fileOf(content, 'a'));
  await running.files.remove([createHash('sha256').update(content).digest('hex')]);
  const { status, code } = await get(id);
  assert.deepEqual([status, code], [500, 'internal_error']);
  assert.ok(
    running.log.some((line) => line.includes('the content') && line.includes(id)),
    running.log.at(-1) ?? '',
  );
});
