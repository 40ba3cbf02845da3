// Files that records bring with them: imported from a folder or by their IDs, exported and imported again, moved (D28, P12).
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import sharp from 'sharp';
import { importRecords } from '../src/operations/import-records.ts';
import { pathPart } from '../src/operations/path-part.ts';
import { freshDatabase } from './harness/database.ts';
import { engineAt, useEngine } from './harness/fresh-register.ts';
import { onFolder, startServer, temporaryFolder } from './harness/run-daicho.ts';
import { appOf } from './harness/running.ts';
import { type Credentials, contentsIn, download, fileOf, namesIn, upload } from './harness/uploading.ts';
import { type Opened, openApp } from './spec/opened.ts';

const definition = (code: string) => `
code: ${code}
fields:
  - { id: i_primarykey, type: id, search: exact }
  - { id: i_name, type: text }
  - { id: i_file, type: file }
  - { id: i_image, type: image }
tables:
  - code: i_rows
    fields: [{ id: r_name, type: text }, { id: r_file, type: file }, { id: r_photo, type: image }]
`;
const NFC = 'がぎ.txt'.normalize('NFC');
const NFD = 'ばび.txt'.normalize('NFD');
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>';
let png: Buffer;
/** Holds the folder `in`, whose files may come in, and one beside it. */
let folder: string;
before(async () => {
  png = await sharp({ create: { width: 8, height: 6, channels: 3, background: '#08c' } })
    .png()
    .toBuffer();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'daicho-test-')));
  mkdirSync(join(folder, 'in', '中'), { recursive: true });
  writeFileSync(join(folder, 'outside.txt'), '外');
  const files = { 'a.txt': 'あ', '中/写真.png': png, [NFC]: '合成', [NFD]: '分解', 'a.svg': SVG, 'empty.txt': '' };
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, 'in', path), content);
  symlinkSync('../outside.txt', join(folder, 'in', 'out'));
  symlinkSync('..', join(folder, 'in', 'up'));
  symlinkSync('中/写真.png', join(folder, 'in', 'photo.png'));
  symlinkSync('loop', join(folder, 'in', 'loop'));
});
after(() => rmSync(folder, { recursive: true }));

/** A cell of CSV. */
const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const csv = (...lines: readonly (readonly string[])[]) =>
  lines.map((line) => `${line.map(quoted).join(',')}\n`).join('');

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`on ${engine}`, { timeout: 60_000 }, () => {
    let opened: Opened;
    before(async () => {
      useEngine(engine);
      opened = await openApp(definition('I'), [{ i_primarykey: 'there' }]);
    });
    after(() => opened.running.close());

    /** Imports CSV, with the files of the folder or without; gives the report and what the errors file says. */
    async function load(
      t: TestContext,
      content: string,
      how: { svg?: boolean; dryRun?: boolean; ids?: true; from?: string; blocked?: true } = {},
    ) {
      const { register, files } = opened.running;
      const into = temporaryFolder(t);
      const file = join(into, 'a.csv');
      writeFileSync(file, content);
      if (how.blocked) mkdirSync(join(into, 'a.errors.csv'));
      const { svg = false, dryRun = false, ids, from = join(folder, 'in') } = how;
      const source = { folder: from, store: files, svg, dryRun };
      const report = await importRecords(register, {
        ...{ appCode: 'I', file, map: new Map(), dryRun, progress() {}, onIndexing() {} },
        signal: new AbortController().signal,
        ...(ids ? {} : { files: source }),
      });
      const errors = report.errorsFile === null ? '' : readFileSync(report.errorsFile, 'utf8').replace('\ufeff', '');
      return { report, errors: errors.split('\r\n').slice(1, -1) };
    }

    test('files of the folder come in with their names, whatever way leads to them', async (t) => {
      const paths = [
        'a.txt',
        './a.txt',
        '中/../a.txt',
        NFC,
        NFC.normalize('NFD'),
        NFD,
        NFD.normalize('NFC'),
        'empty.txt',
      ];
      const lines = paths.map((path, index) => [`in ${index}`, path]);
      const { report, errors } = await load(t, csv(['i_primarykey', 'i_file'], ...lines));
      assert.deepEqual([report.inserted, report.bad, errors], [paths.length, 0, []]);
      const contents = ['あ', 'あ', 'あ', '合成', '合成', '分解', '分解', ''];
      for (const [index, path] of paths.entries()) {
        const { i_file } = await opened.record(`in ${index}`);
        const { bytes } = await download(opened.running.url, opened.credentials, i_file.value);
        const content = contents[index] as string;
        assert.deepEqual(
          [i_file.filename, i_file.filesize, bytes.toString()],
          [path.split('/').at(-1), String(Buffer.byteLength(content)), content],
        );
      }
    });

    test('images and the files of rows come in, and a link that stays inside is followed', async (t) => {
      const header = ['i_primarykey', 'i_image', 'r_name', 'r_file', 'r_photo'];
      const lines = [
        ['rows', '中/写真.png', '一', 'a.txt', ''],
        ['', '', '二', '', 'photo.png'],
      ];
      const { report, errors } = await load(t, csv(header, ...lines));
      assert.deepEqual([report.inserted, errors], [1, []]);
      const { i_image, i_rows } = await opened.record('rows', { tablecode: 'i_rows' });
      const [first, second] = i_rows;
      assert.deepEqual(
        [i_image.filename, first.r_file.filename, first.r_photo.value, second.r_file.value, second.r_photo.filename],
        ['写真.png', 'a.txt', '', '', 'photo.png'],
      );
      const { bytes } = await download(opened.running.url, opened.credentials, second.r_photo.value);
      assert.ok(bytes.equals(png));
    });

    const BAD: readonly (readonly [path: string, image?: true])[] = [
      ['../outside.txt'],
      ['out'],
      ['up/outside.txt'],
      ['中'],
      ['.'],
      ['none.txt'],
      ['a.txt/b'],
      ['loop'],
      [`${'長'.repeat(100)}.txt`],
      ['中/写真.png\0'],
      ['a.txt', true],
      ['empty.txt', true],
      ['a.svg', true],
    ];

    test('what leads out, is no file or no image makes its record bad; the others come in, and nothing else is kept', async (t) => {
      const absolute = join(folder, 'in', 'a.txt');
      const kept = namesIn(opened.running.filesDir);
      const lines = [...BAD, [absolute] as const].map(([path, image], index) => [
        `bad ${index}`,
        image ? '' : path,
        image ? path : '',
      ]);
      const good = ['good', 'a.txt', '中/写真.png'];
      const header = ['i_primarykey', 'i_file', 'i_image'];
      const { report, errors } = await load(t, csv(header, ...lines.slice(0, 5), good, ...lines.slice(5)));
      assert.deepEqual([report.inserted, report.bad], [1, lines.length], errors.join('\n'));
      for (const [key = '', path = '', image = ''] of lines) {
        const reason =
          image === ''
            ? `""i_file"": there is no file ${path} in `
            : `""i_image"": ${image} is not an image (PNG, JPEG, GIF`;
        assert.equal(errors.filter((line) => line.startsWith(`${key},`) && line.includes(reason)).length, 1, key);
        assert.equal(await opened.record(key), undefined);
      }
      assert.equal((await opened.record('good')).i_image.filename, '写真.png');
      assert.deepEqual(namesIn(opened.running.filesDir), kept, 'these contents were there already, and no other is');
    });

    test('one bad file in a row makes the whole record bad, with the reason at its line', async (t) => {
      const header = ['i_primarykey', 'i_file', 'r_name', 'r_photo'];
      const lines = [
        ['half', 'a.txt', '一', '中/写真.png'],
        ['', '', '二', 'a.txt'],
        ['', '', '三', 'none.png'],
      ];
      const { report, errors } = await load(t, csv(header, ...lines));
      assert.deepEqual([report.inserted, report.bad, errors.length], [0, 1, 3]);
      assert.match(errors[0] ?? '', /写真\.png,$/);
      assert.match(errors[1] ?? '', /""i_rows\.r_photo"": a\.txt is not an image/);
      assert.match(errors[2] ?? '', /""i_rows\.r_photo"": there is no file none\.png/);
      assert.equal(await opened.record('half'), undefined);
    });

    test('a folder that is not there is a mistake, and nothing is read', async (t) => {
      const loading = load(t, csv(['i_primarykey'], ['none']), { from: join(folder, 'none') });
      await assert.rejects(loading, { name: 'Mistake', message: /^--files .*none: ENOENT/ });
      assert.equal(await opened.record('none'), undefined);
      const { report } = await load(t, csv(['i_primarykey', 'i_file'], ['after', 'a.txt']));
      assert.equal(report.inserted, 1, 'and others can be imported');
    });

    test('where bad rows cannot be told of, nothing is read, and others can be imported', async (t) => {
      const content = csv(['i_primarykey', 'i_file'], ['blocked', 'a.txt']);
      await assert.rejects(load(t, content, { blocked: true }), { code: 'ERR_FS_EISDIR' });
      assert.equal(await opened.record('blocked'), undefined);
      const { report } = await load(t, content);
      assert.equal(report.inserted, 1);
    });

    test('SVG is an image where a setting says so', async (t) => {
      const { report } = await load(t, csv(['i_primarykey', 'i_image'], ['svg', 'a.svg']), { svg: true });
      assert.equal(report.bad, 0);
      assert.equal((await opened.record('svg')).i_image.filename, 'a.svg');
    });

    test('a dry run says what is wrong and keeps nothing', async (t) => {
      const before = [namesIn(opened.running.filesDir), (await opened.search({})).text];
      writeFileSync(join(folder, 'in', 'new.txt'), randomBytes(100));
      const lines = csv(['i_primarykey', 'i_file', 'i_image'], ['dry', 'new.txt', ''], ['dry 2', '', 'new.txt']);
      const { report, errors } = await load(t, lines, { dryRun: true });
      assert.deepEqual([report.good, report.bad, errors.length], [1, 1, 1]);
      assert.deepEqual([namesIn(opened.running.filesDir), (await opened.search({})).text], before);
    });

    test('without a folder the IDs of files of the app are taken, and no others', async (t) => {
      const { running, credentials } = opened;
      const put = async (to: Credentials, key: string) => {
        const parts = { i_file: fileOf('元の', '元.txt') };
        const { json, text } = await upload(running.url, { ...to, mode: 'merge' }, { i_primarykey: key }, parts);
        assert.ok(json.i_file, text);
        return json.i_file.value as string;
      };
      await running.define(definition('J'));
      await running.put('J', [{ i_primarykey: '1' }]);
      const ours = await put(credentials, 'there');
      const theirs = await put({ appcode: 'J', appkey: await running.key('J', 'yamada') }, '1');
      const lines = [
        ['id', ours],
        ['foreign', theirs],
        ['none', 'f'.repeat(32)],
        ['path', 'a.txt'],
        ['like', ours.toUpperCase()],
      ];
      const { report, errors } = await load(t, csv(['i_primarykey', 'i_file'], ...lines), { ids: true });
      assert.deepEqual([report.inserted, report.bad], [1, 4]);
      for (const line of errors) assert.match(line, /""i_file"" names no file of the app/);
      const { i_file } = await opened.record('id');
      assert.deepEqual(i_file, { type: 'file', value: ours, filename: '元.txt', filesize: '6' });
    });
  });
}

const KEY = { appcode: 'I', appkey: 'the key' };
/** Names that no path can have, or not everywhere. */
const ODD = ['a/b "c" <d>.txt', `${'長'.repeat(98)}xx.jpeg`, '', '../../x', 'con', '%2F', 'a\\b', '.隠', 'x. '];

test('record import, record export and move: records with files go from place to place, all that they are', {
  timeout: 120_000,
}, async (t) => {
  assert.equal(Buffer.byteLength(ODD[1] as string), 301);
  const [from, again, copy, broken] = Array.from({ length: 4 }, () => temporaryFolder(t)) as [
    string,
    string,
    string,
    string,
  ];
  const work = temporaryFolder(t);

  /** Makes the app in a data folder, with a key; gives what runs commands on it. */
  async function make(dataDir: string) {
    const register = await (await engineAt(dataDir)).openRegister();
    const { app, source } = appOf(definition('I'));
    await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
    await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
    await register.grant('I', 'sato', { update: true, edit: false, admin: false });
    await register.addKey('I', 'sato', createHash('sha256').update(KEY.appkey).digest(), null);
    await register.close();
    return onFolder(dataDir);
  }
  const run = await make(from);

  // In from a folder.
  const keys = ['1', 'a/b', '%', '四'];
  const lines = keys.flatMap((key) => [
    [key, `名 ${key}`, 'a.txt', '中/写真.png', '一', NFC, ''],
    [key, '', '', '', '二', '', 'photo.png'],
  ]);
  const header = ['i_primarykey', 'i_name', 'i_file', 'i_image', 'r_name', 'r_file', 'r_photo'];
  writeFileSync(join(work, 'in.csv'), csv(header, ...lines, ['bad', '', 'none.txt', '', '', '', '']));
  const imported = await run('record', 'import', 'I', join(work, 'in.csv'), '--files', join(folder, 'in'), '--json');
  assert.equal(imported.code, 1, imported.err);
  const { inserted, bad, errorsFile } = JSON.parse(imported.out);
  assert.deepEqual([inserted, bad], [keys.length, 1]);
  assert.match(readFileSync(errorsFile, 'utf8'), /bad,,none\.txt,,,,,"""i_file"": there is no file none\.txt in /);

  /** Asks a server in a data folder, which ends then. */
  async function served<T>(dataDir: string, ask: (address: string) => Promise<T>): Promise<T> {
    const server = await startServer(t, dataDir);
    const result = await ask(server.address);
    assert.equal(await server.end(), 0);
    return result;
  }

  /** All records with their rows; each file as its name and its digest. */
  async function everything(address: string, named: (name: string, id: string) => string) {
    const body = new URLSearchParams({ ...KEY, tablecode: 'i_rows' });
    const response = await fetch(`${address}/webapi/v1/dataset/search`, { method: 'POST', body });
    const { i_rows: records } = (await response.json()) as Record<string, Record<string, unknown>[]>;
    const plain = async (entries: Record<string, unknown>): Promise<unknown> =>
      Promise.all(
        Object.entries(entries)
          .filter(([id]) => !id.startsWith('pms_'))
          .map(async ([id, entry]) => {
            if (Array.isArray(entry)) return [id, await Promise.all(entry.map(plain))];
            const { type, value, filename } = entry as Record<string, string>;
            if (value === '' || (type !== 'file' && type !== 'image')) return [id, value];
            const { bytes } = await download(address, KEY, value as string);
            return [id, named(filename as string, value as string), createHash('sha256').update(bytes).digest('hex')];
          }),
      );
    return Promise.all((records ?? []).map(plain));
  }

  // Names that only an upload can give.
  const expected = await served(from, async (address) => {
    for (const [index, name] of ODD.entries()) {
      const part = ['i_file', 'r_file_2', 'r_file_1'][Math.floor(index / keys.length)] as string;
      const parts = { [part]: fileOf(`odd ${index}`, name) };
      const key = { i_primarykey: keys[index % keys.length] as string };
      const { status, text } = await upload(address, { ...KEY, mode: 'merge' }, key, parts);
      assert.equal(status, 200, text);
    }
    return everything(address, (name, id) => (name === '' ? id : pathPart(name)));
  });
  assert.equal(expected.length, keys.length);

  // Out into a folder, and in again.
  const out = join(work, 'out.csv');
  const exported = await run('record', 'export', 'I', '--output', out, '--files', join(work, 'out'), '--json');
  assert.deepEqual([exported.code, JSON.parse(exported.out).records, JSON.parse(exported.out).files], [0, 4, 20]);
  const runAgain = await make(again);
  const back = await runAgain('record', 'import', 'I', out, '--files', join(work, 'out'), '--json');
  assert.equal(back.code, 0, `${back.err}${back.out}`);
  assert.deepEqual(await served(again, (address) => everything(address, (name) => name)), expected);

  // To another folder, with the contents.
  const { out: withIds } = await run('record', 'export', 'I');
  const there = (of: string) => [...contentsIn(join(of, 'files')).keys()].sort();
  const moved = await run('move', '--to', copy, '--json');
  assert.equal(moved.code, 0, moved.err);
  assert.deepEqual([JSON.parse(moved.out).verified, there(copy)], [true, there(from)]);
  const atCopy = onFolder(copy);
  assert.deepEqual(await atCopy('check'), { code: 0, out: 'No problem found (1 apps).\n', err: '' });
  assert.equal((await atCopy('record', 'export', 'I')).out, withIds);

  // To PostgreSQL: contents stay where they are.
  const { url, drop } = await freshDatabase();
  t.after(drop);
  const before = there(from);
  const toPostgres = await run('move', '--to', url, '--json');
  assert.equal(toPostgres.code, 0, toPostgres.err);
  assert.deepEqual([JSON.parse(toPostgres.out).verified, there(from)], [true, before]);
  const inPostgres = ['--database-url', url];
  assert.deepEqual(await run('check', ...inPostgres), { code: 0, out: 'No problem found (1 apps).\n', err: '' });
  assert.equal((await run('record', 'export', 'I', ...inPostgres)).out, withIds);

  // A content that is missing is found, and the copy is refused.
  rmSync(join(from, 'files', (before[0] as string).slice(0, 2), before[0] as string));
  const failed = await run('move', '--to', broken);
  assert.equal(failed.code, 1);
  assert.match(failed.out, /I: the content of file [0-9a-f]{32} \(.*\) is not in /);
  assert.notEqual((await onFolder(broken)('check')).code, 0, 'the copy refuses to be opened');
});
