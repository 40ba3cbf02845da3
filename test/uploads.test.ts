// Files as real clients send them: curl, fetch and a form in a browser; and what they read of a refusal that comes early (spec 4.2, D2-D4, D28).
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, type TestContext, test } from 'node:test';
import { noBrowser, startBrowser } from './harness/browser.ts';
import { environment, temporaryFolder } from './harness/run-daicho.ts';
import { arriving, download, fileOf, upload } from './harness/uploading.ts';
import { entries, type Opened, openApp } from './spec/opened.ts';

const DEFINITION = `
code: U
fields:
  - { id: u_primarykey, type: id, search: exact }
  - { id: u_file, type: file }
  - { id: u_other, type: file }
  - { id: u_long, type: file }
  - { id: u_kept, type: file }
`;
const MIB = 1 << 20;
const RECORD = { u_primarykey: '1' };
/** One name is as long as most systems allow: 255 bytes. */
const NAMES = {
  u_file: '見積書　２０２６年 ①.pdf',
  u_other: 'a "quoted" name;=%41.txt',
  u_long: `${'長'.repeat(83)}xx.pdf`,
};
type Contents = Readonly<Partial<Record<keyof typeof NAMES, Buffer>>>;

let opened: Opened;
let form: Record<string, string>;
before(async () => {
  assert.equal(Buffer.byteLength(NAMES.u_long), 255);
  opened = await openApp(DEFINITION, [RECORD], { maxFile: 16 * MIB, maxUpload: 128 * MIB });
  form = { ...opened.credentials, mode: 'merge' };
});
after(() => opened.running.close());

const updateAddress = () => `${opened.running.url}/webapi/v1/data/update`;
const newContents = () => ({
  u_file: randomBytes(300_001),
  u_other: Buffer.from('\r\n--x\r\n\0'),
  u_long: randomBytes(1),
});

/** Asserts that the record has the files, by their names and byte for byte. */
async function assertThere(sent: Contents): Promise<void> {
  const record = await opened.record('1');
  for (const [field, content] of Object.entries(sent)) {
    const { value, filename, filesize } = record[field];
    assert.deepEqual([filename, filesize], [NAMES[field as keyof typeof NAMES], String(content.length)]);
    assert.ok((await download(opened.running.url, opened.credentials, value)).bytes.equals(content), field);
  }
}

/** Puts a file into u_kept, which a field that nothing was chosen for must not empty. */
async function keepOne(): Promise<string> {
  const { json } = await upload(opened.running.url, form, RECORD, { u_kept: fileOf('留まる', '残.txt') });
  return json.u_kept.value;
}

/** Files on the disk, as a person has them. */
function filesOnDisk(folder: string, contents: Contents): Record<string, string> {
  return Object.fromEntries(
    Object.entries(contents).map(([field, content], index) => {
      // Names may be the same in several fields.
      mkdirSync(join(folder, String(index)));
      const path = join(folder, String(index), NAMES[field as keyof typeof NAMES]);
      writeFileSync(path, content);
      return [field, path];
    }),
  );
}

const noCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl';

interface Curled {
  readonly status: number;
  readonly json: { readonly rkwa_status: string; readonly rkwa_errmsg: readonly string[] | null };
  /** What it tells of the exchange. */
  readonly said: string;
}

/** Sends an update by curl; it ends with an error where it cannot read the answer. */
async function curl(args: readonly string[], values: Record<string, string> = form): Promise<Curled> {
  const param = JSON.stringify(entries(RECORD));
  const parameters = Object.entries({ ...values, param }).flatMap(([name, value]) => [
    '--form-string',
    `${name}=${value}`,
  ]);
  const child = spawn('curl', ['-sS', '-v', '-w', '\n%{http_code}', ...parameters, ...args, updateAddress()], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(child.exitCode, 0, said);
  const end = out.lastIndexOf('\n');
  return { status: Number(out.slice(end)), json: JSON.parse(out.slice(0, end)), said };
}

/** `-F field=@path;filename=name`, with the name in quotes. */
function curlFile(field: string, path: string, name?: string): string[] {
  const quoted = (value: string) => `"${value.replace(/[\\"]/g, '\\$&')}"`;
  return ['-F', `${field}=@${quoted(path)}${name === undefined ? '' : `;filename=${quoted(name)}`}`];
}

for (const [how, more] of [
  ['as browsers escape names', []],
  ['with backslashes in names', ['--form-escape']],
] as const) {
  test(`curl: files arrive byte for byte, ${how}`, { skip: noCurl }, async (t) => {
    const contents = newContents();
    const paths = filesOnDisk(temporaryFolder(t), contents);
    const files = Object.entries(paths).flatMap(([field, path]) => curlFile(field, path));
    const { status, said } = await curl([...more, ...files]);
    assert.equal(status, 200, said);
    await assertThere(contents);
  });
}

test('curl: a client that waits for 100 Continue before 2 MB is told to go on', { skip: noCurl }, async (t) => {
  const contents = { u_file: randomBytes(2_000_000) };
  const [path = ''] = Object.values(filesOnDisk(temporaryFolder(t), contents));
  const started = performance.now();
  const { status, said } = await curl([
    ...['-H', 'Expect: 100-continue', '--expect100-timeout', '20'],
    ...curlFile('u_file', path),
  ]);
  assert.equal(status, 200, said);
  assert.match(said, /< HTTP\/1\.1 100 Continue/);
  assert.ok(performance.now() - started < 10_000, 'it did not wait in vain');
  await assertThere(contents);
});

test('curl: a file that comes through a pipe, of unknown length, arrives', { skip: noCurl }, async () => {
  const content = Buffer.concat(Array.from({ length: 40 }, (_, n) => Buffer.alloc(10_007, n)));
  const parameters = Object.entries({ ...form, param: JSON.stringify(entries(RECORD)) });
  const child = spawn(
    'curl',
    [
      ...['-sS', '-H', 'Transfer-Encoding: chunked'],
      ...parameters.flatMap(([name, value]) => ['--form-string', `${name}=${value}`]),
      ...['-F', `u_file=@-;filename="${NAMES.u_file}"`, updateAddress()],
    ],
    { env: environment(), stdio: ['pipe', 'pipe', 'pipe'] },
  );
  child.stdin.end(content);
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(JSON.parse(out).rkwa_status, 'OK', said);
  await assertThere({ u_file: content });
});

test('fetch: files arrive byte for byte, and a field that nothing was chosen for keeps its file', async () => {
  const kept = await keepOne();
  const contents = newContents();
  const parts = Object.entries(contents).map(([field, content]) => [
    field,
    fileOf(content, NAMES[field as keyof typeof NAMES], ''),
  ]);
  const { status, text: sent } = await upload(opened.running.url, form, RECORD, {
    ...Object.fromEntries(parts),
    u_kept: fileOf('', ''),
  });
  assert.equal(status, 200, sent);
  await assertThere(contents);
  assert.equal((await opened.record('1')).u_kept.value, kept);
});

/** Serves a page on an origin of its own. */
async function servePage(t: TestContext, html: string): Promise<string> {
  const pages = createServer((_, response) => response.setHeader('Content-Type', 'text/html;charset=UTF-8').end(html));
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    pages.closeAllConnections();
    pages.close();
  });
  return `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
}

const attribute = (value: string) => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

test('a browser: files of a form arrive byte for byte, and a field that nothing was chosen for keeps its file', {
  skip: noBrowser,
  timeout: 60_000,
}, async (t) => {
  const kept = await keepOne();
  const contents = newContents();
  const paths = filesOnDisk(temporaryFolder(t), contents);
  const hidden = Object.entries({ ...form, param: JSON.stringify(entries(RECORD)) })
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`)
    .join('');
  const chosen = [...Object.keys(paths), 'u_kept'].map((name) => `<input type="file" name="${name}">`).join('');
  const address = await servePage(
    t,
    `<form method="post" enctype="multipart/form-data" action="${updateAddress()}">${hidden}${chosen}<button>送る</button></form>`,
  );
  const browser = await startBrowser(t);
  if (browser === null) {
    t.skip('the system lacks libraries that the browser needs');
    return;
  }
  const page = await browser.newPage();
  await page.goto(address);
  for (const [name, path] of Object.entries(paths)) await page.setInputFiles(`input[name=${name}]`, path);
  const [response] = await Promise.all([
    page.waitForResponse((answer) => answer.url() === updateAddress()),
    page.click('button'),
  ]);
  assert.equal(response.status(), 200, await response.text());
  assert.equal((await response.json()).rkwa_status, 'OK');
  await assertThere(contents);
  assert.equal((await opened.record('1')).u_kept.value, kept);
});

/** Begins an upload and stops in the middle of its file; gives the answer, and milliseconds until it came. */
async function answerMidway(credentials: Record<string, string>, announced: number, sent: number) {
  const socket = connect(Number(new URL(opened.running.url).port), '127.0.0.1');
  const started = performance.now();
  const parts = Object.entries({ ...credentials, param: '{}' }).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  socket.write(
    `POST /webapi/v1/data/update HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${announced}\r\n\r\n` +
      `${parts.join('')}--b\r\nContent-Disposition: form-data; name="u_file"; filename="a"\r\n\r\n`,
  );
  socket.write(Buffer.alloc(sent));
  const [head] = (await once(socket, 'data')) as [Buffer];
  const milliseconds = performance.now() - started;
  socket.destroy();
  return { head: head.toString('latin1'), milliseconds };
}

/** Waits until nothing is arriving any more: clients are answered first. */
async function nothingLeft(): Promise<void> {
  while (arriving(opened.running.filesDir).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('D28: an upload with a wrong key is answered 401 while most of it is still to come, and nothing is taken in', async () => {
  const { head, milliseconds } = await answerMidway({ ...form, appkey: 'wrong' }, 60 * MIB, 100_000);
  assert.match(head, /^HTTP\/1\.1 401 [\s\S]*X-Error-Code: bad_credentials/);
  assert.ok(milliseconds < 1_000, `${milliseconds} ms`);
  assert.deepEqual(arriving(opened.running.filesDir), []);
});

test('8 maximum file size: a file over it is answered 413 while most of it is still to come, and nothing is left', {
  timeout: 20_000,
}, async () => {
  const { head, milliseconds } = await answerMidway(form, 120 * MIB, 16 * MIB + 70_000);
  assert.match(head, /^HTTP\/1\.1 413 [\s\S]*X-Error-Code: file_too_large/);
  assert.ok(milliseconds < 2_000, `${milliseconds} ms`);
  await nothingLeft();
});

/** An update whose parts come in the order given: names of `form`, and files. */
async function uploadInOrder(parts: readonly (string | readonly [field: string, size: number])[], more = {}) {
  const values: Record<string, string> = { ...form, ...more, param: JSON.stringify(entries(RECORD)) };
  const body = new FormData();
  for (const part of parts) {
    if (typeof part === 'string') body.set(part, values[part] ?? '');
    else body.set(part[0], fileOf(Buffer.alloc(part[1]), 'a'));
  }
  return opened.running.post('/webapi/v1/data/update', body);
}

const KEY = ['mode', 'param', 'appcode', 'appkey'];
const BEFORE_KEY = [
  ['files of 1 MiB together before the key are taken', [['u_file', MIB - 1], ['u_other', 1], ...KEY], 200, null],
  [
    'files of a byte more are refused, though the key is right',
    [['u_file', MIB - 1], ['u_other', 2], ...KEY],
    400,
    'files_before_credentials',
  ],
  ['so are files whose parts are no good', [['u\0', 2 * MIB], ...KEY], 400, 'files_before_credentials'],
  ['what comes behind the key may be as large as any', [['u_other', 1], ...KEY, ['u_file', 8 * MIB]], 200, null],
] as const;

for (const [what, parts, status, code] of BEFORE_KEY) {
  test(`parts come in any order: ${what}`, { timeout: 20_000 }, async () => {
    const reply = await uploadInOrder(parts as Parameters<typeof uploadInOrder>[0]);
    assert.deepEqual([reply.status, reply.headers.get('x-error-code')], [status, code], reply.text);
    if (code !== null) assert.match(reply.json.rkwa_errmsg[0], /appcode.*appkey.*1048576/);
    await nothingLeft();
  });
}

test('a wrong key between two files is refused before the second is looked at', async () => {
  const reply = await uploadInOrder([['u_other', 1], ...KEY, ['u_file', 17 * MIB]], { appkey: 'wrong' });
  assert.deepEqual([reply.status, reply.headers.get('x-error-code')], [401, 'bad_credentials'], reply.text);
});

test('without a key no more than 1 MiB of files is taken in, and the language that was sent is answered in', {
  timeout: 20_000,
}, async () => {
  const { head, milliseconds } = await answerMidway({ lang: 'en' }, 60 * MIB, MIB + 70_000);
  assert.match(head, /^HTTP\/1\.1 400 [\s\S]*X-Error-Code: files_before_credentials[\s\S]*must come before/);
  assert.ok(milliseconds < 1_000, `${milliseconds} ms`);
  await nothingLeft();
});

const REFUSED = [
  ['with a wrong key', 60, 401, { appkey: 'wrong' }],
  ['over the maximum file size', 60, 413, {}],
  ['over all that a request may have', 160, 413, {}],
] as const;

for (const [what, size, status, more] of REFUSED) {
  test(`curl reads the answer to ${size} MiB ${what}`, { skip: noCurl }, async (t) => {
    const path = join(temporaryFolder(t), 'large');
    writeFileSync(path, Buffer.alloc(size * MIB));
    // It takes a refusal for what it is only where it may go on sending, and where it may not.
    for (const expects of ['', '100-continue']) {
      const refused = await curl(['-H', `Expect: ${expects}`, ...curlFile('u_file', path, 'a')], { ...form, ...more });
      assert.deepEqual([refused.status, refused.json.rkwa_status], [status, 'NG'], refused.said);
    }
    assert.deepEqual(arriving(opened.running.filesDir), []);
  });

  test(`fetch reads the answer to ${size} MiB ${what}`, async () => {
    const large = fileOf(Buffer.alloc(size * MIB), 'a');
    const refused = await upload(opened.running.url, { ...form, ...more }, RECORD, { u_file: large });
    assert.deepEqual([refused.status, refused.json.rkwa_status], [status, 'NG'], refused.text);
    assert.deepEqual(arriving(opened.running.filesDir), []);
  });
}

test('after early refusals the server takes files as before', async () => {
  const contents = newContents();
  const file = fileOf(contents.u_file, NAMES.u_file);
  assert.equal((await upload(opened.running.url, form, RECORD, { u_file: file })).status, 200);
  await assertThere({ u_file: contents.u_file });
});
