// What a sweep takes, and what it never takes: the files of updates and loads that are under way (D28).
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../src/config/log.ts';
import type { FileStore } from '../src/files/file-store.ts';
import { openFileStore } from '../src/files/file-stores.ts';
import { createHttpServer } from '../src/http/server.ts';
import { checkFiles } from '../src/operations/check-files.ts';
import { importRecords } from '../src/operations/import-records.ts';
import { LEAST_USELESS_FOR, sweepFiles, USELESS_FOR } from '../src/operations/sweep-files.ts';
import { engineAt, useEngine } from './harness/fresh-register.ts';
import { onFolder, temporaryFolder } from './harness/run-daicho.ts';
import { appOf, NO_S3, putRecords } from './harness/running.ts';
import { age, contentsIn, download, fileOf, namesIn, upload } from './harness/uploading.ts';
import { type Opened, openApp } from './spec/opened.ts';

const definition = (code: string, fields: readonly string[] = ['w_file', 'w_gone']) => `
code: ${code}
fields:
  - { id: w_primarykey, type: id, search: exact }
${fields.map((id) => `  - { id: ${id}, type: file }\n`).join('')}`;
const RECORDS = Array.from({ length: 16 }, (_, index) => ({ w_primarykey: String(index + 1) }));
const digestOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

const OPTIONS = {
  ...{ basePath: '', maxRecords: 0, always200: false, svgImages: false },
  ...{ maxBody: 1 << 20, maxFile: 1 << 24, maxFiles: 20, maxUpload: 1 << 25 },
};

/** Minutes. */
const [OLD, LEAST] = [USELESS_FOR / 60_000, LEAST_USELESS_FOR / 60_000];

let opened: Opened;
const merge = () => ({ ...opened.credentials, mode: 'merge' });
/** Sweeps everything that is of no use at this moment, but what is arriving. */
const sweepAll = (store: FileStore = opened.running.files) =>
  sweepFiles(opened.running.register, { ...store, removeReceived: async () => 0 }, 0);
const isThere = async (content: string | Buffer) => (await opened.running.files.find(digestOf(content))) !== null;

/** Another server on the same register, over a file store that a test has its hands in. */
async function serveOver(t: TestContext, files: FileStore): Promise<string> {
  const { store, log } = opened.running;
  const server = createHttpServer(
    store,
    files,
    OPTIONS,
    createLog('debug', (line) => log.push(line)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Asserts that an update was answered OK and that its file is there in full. */
async function assertKept({ status, text, json }: Awaited<ReturnType<typeof upload>>, content: string | Buffer) {
  assert.equal(status, 200, text);
  const { status: found, bytes } = await download(opened.running.url, opened.credentials, json.w_file.value);
  assert.equal(found, 200, bytes.toString());
  assert.ok(bytes.equals(Buffer.from(content)));
}

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`on ${engine}`, { timeout: 120_000 }, () => {
    before(async () => {
      useEngine(engine);
      opened = await openApp(definition('W'), RECORDS);
    });
    after(() => opened.running.close());

    test('D28: sweeps at any moment take nothing of many updates under way, whose contents others leave behind', async () => {
      const shared = Array.from({ length: 16 }, (_, n) => Buffer.concat([Buffer.from(`${n} `), randomBytes(n * 100)]));
      let swept = 0;
      let done = false;
      const sweeping = (async () => {
        while (!done) swept += (await sweepAll()).contents;
      })();
      const answered: [Awaited<ReturnType<typeof upload>>, Buffer][] = [];
      const client = async (lane: number) => {
        for (const [index, same] of shared.entries()) {
          // All clients send the same content at about the same time; every other one leaves it to nobody.
          const content = index % 4 === 3 ? Buffer.concat([same, Buffer.from([lane])]) : same;
          const file = { w_file: fileOf(content, `${index}.bin`) };
          if ((index + lane) % 2 === 0) {
            const refused = await upload(opened.running.url, merge(), { w_primarykey: 'none' }, file);
            assert.equal(refused.headers.get('x-error-code'), 'unknown_record', refused.text);
          }
          const key = { w_primarykey: String(lane + 1) };
          answered.push([await upload(opened.running.url, merge(), key, file), content]);
        }
      };
      try {
        await Promise.all(Array.from({ length: 8 }, (_, lane) => client(lane)));
      } finally {
        done = true;
        await sweeping;
      }
      assert.ok(swept > 0, 'sweeps found something to take');
      for (const [answer, content] of answered) await assertKept(answer, content);
      await sweepAll();
      const digests = new Set(answered.map(([, content]) => digestOf(content)));
      assert.deepEqual(new Set(contentsIn(opened.running.filesDir).keys()), digests);
    });

    test('D28: a whole sweep between the arrival of a content and the commit does the update no harm', async (t) => {
      const content = randomBytes(1_000);
      let taken = 0;
      const { files } = opened.running;
      const url = await serveOver(t, {
        ...files,
        async keep(received) {
          await files.keep(received);
          // Only the first time: it is put back once the record has it.
          if (taken === 0) taken += (await sweepAll()).contents;
        },
      });
      const answer = await upload(url, merge(), { w_primarykey: '1' }, { w_file: fileOf(content, 'a') });
      assert.equal(taken, 1);
      await assertKept(answer, content);
    });

    test('D28: a content that is adopted between the list and the removal stays', async () => {
      const content = randomBytes(1_000);
      const { files, url } = opened.running;
      const key = { w_primarykey: '2' };
      await upload(url, merge(), { w_primarykey: 'none' }, { w_file: fileOf(content, 'a') });
      assert.ok(await isThere(content), 'it lies there without a file');
      const answers: Awaited<ReturnType<typeof upload>>[] = [];
      const { contents } = await sweepAll({
        ...files,
        async *list() {
          for await (const page of files.list()) {
            answers.push(await upload(url, merge(), key, { w_file: fileOf(content, 'a') }));
            yield page;
          }
        },
      });
      assert.deepEqual([answers.length, contents], [1, 0]);
      for (const answer of answers) await assertKept(answer, content);
    });

    test('D28: a content that comes again while it is being removed stays', async (t) => {
      const content = randomBytes(1_000);
      const { files, url } = opened.running;
      const cameAgain = Promise.withResolvers<void>();
      const again = await serveOver(t, {
        ...files,
        async keep(received) {
          await files.keep(received);
          cameAgain.resolve();
        },
      });
      await upload(url, merge(), { w_primarykey: 'none' }, { w_file: fileOf(content, 'a') });
      let answer: ReturnType<typeof upload> | undefined;
      const { contents } = await sweepAll({
        ...files,
        async remove(names) {
          if (!names.includes(digestOf(content))) return;
          answer = upload(again, merge(), { w_primarykey: '3' }, { w_file: fileOf(content, 'a') });
          await cameAgain.promise;
          await files.remove(names);
          assert.equal(await isThere(content), false, 'and is removed after it came');
        },
      });
      assert.equal(contents, 1);
      assert.ok(answer);
      await assertKept(await answer, content);
    });

    test('D28: a content that comes again while the sweep waits for its turn to remove it stays', async () => {
      const content = randomBytes(1_000);
      const { files, filesDir, register, url } = opened.running;
      await upload(url, merge(), { w_primarykey: 'none' }, { w_file: fileOf(content, 'a') });
      age(filesDir, OLD + 1);
      let looks = 0;
      const { contents } = await sweepFiles(
        {
          ...register,
          async whileUnused(digests, remove) {
            if (looks === 1) {
              await upload(url, merge(), { w_primarykey: 'none' }, { w_file: fileOf(content, 'a') });
              await sleep(1_010);
            }
            await register.whileUnused(digests, remove);
          },
        },
        {
          ...files,
          async find(name) {
            looks++;
            return files.find(name);
          },
        },
      );
      assert.deepEqual([contents, await isThere(content)], [0, true]);
      assert.equal((await sweepAll()).contents, 1);
    });

    test('D28: an update gets in between two contents of one sweep, however slow the store is', async () => {
      const { files, url } = opened.running;
      const useless = new Set(Array.from({ length: 50 }, (_, n) => digestOf(`無用 ${n}`)));
      for (let n = 0; n < useless.size; n++) {
        const refused = await upload(url, merge(), { w_primarykey: 'none' }, { w_file: fileOf(`無用 ${n}`, 'a') });
        assert.equal(refused.headers.get('x-error-code'), 'unknown_record', refused.text);
      }
      const events: (number | 'updated')[] = [];
      let answer: ReturnType<typeof upload> | undefined;
      const { contents } = await sweepAll({
        ...files,
        async *list() {
          for await (const page of files.list()) yield page.filter(({ name }) => useless.has(name));
        },
        async find(name) {
          await sleep(30);
          return files.find(name);
        },
        async remove(names) {
          events.push(names.length);
          // It waits for this removal, whether it comes before or after it has begun to.
          answer ??= upload(url, merge(), { w_primarykey: '4' }, { w_file: fileOf('間の', 'a') });
          if (events.length === 1) void answer.then(() => events.push('updated'));
          await sleep(30);
          await files.remove(names);
        },
      });
      assert.ok(answer);
      await assertKept(await answer, '間の');
      assert.equal(contents, useless.size);
      const at = events.indexOf('updated');
      assert.ok(at > 0 && at < events.length - 1, events.join());
    });

    test('D28: a sweep during an interrupted import into an empty app takes none of its files', async (t) => {
      const folder = temporaryFolder(t);
      const { register, files } = opened.running;
      await register.apply(...applied(definition('LOADED')));
      const names = Array.from({ length: 70 }, (_, n) => `${n}.txt`);
      for (const name of names) writeFileSync(join(folder, name), `中身 ${name}`);
      const file = join(folder, 'a.csv');
      writeFileSync(file, `w_primarykey,w_file\n${names.map((name, n) => `${n},${name}\n`).join('')}`);
      const load = (signal: AbortSignal) =>
        importRecords(register, {
          ...{ appCode: 'LOADED', file, map: new Map(), dryRun: false, progress() {}, onIndexing() {}, signal },
          files: { folder, store: files, svg: false, dryRun: false },
        });
      const { stopped, good } = await load(AbortSignal.abort());
      assert.ok(stopped && good > 0 && good < names.length, `${good} records`);
      assert.equal(await register.isBuilding('LOADED'), true);
      assert.deepEqual(await sweepAll(), { files: 0, contents: 0, bytes: 0, received: 0 });
      const { resumedAt } = await load(new AbortController().signal);
      assert.equal(resumedAt, good);
      assert.deepEqual(await sweepAll(), { files: 0, contents: 0, bytes: 0, received: 0 });
      for (const name of names) assert.ok(await isThere(`中身 ${name}`), name);
      assert.deepEqual(await checkFiles(register, files, ['LOADED']), []);
    });

    test('D28: the file of a field that was removed goes with the next sweep, unless the history names it', async () => {
      const { url, register, files } = opened.running;
      await register.apply(...applied(definition('LESS')));
      await putRecords(register, 'LESS', RECORDS);
      const credentials = { appcode: 'LESS', appkey: await opened.running.key('LESS', 'yamada'), mode: 'merge' };
      const put = async (content: string, id: string) => {
        const { json } = await upload(url, credentials, { w_primarykey: '1' }, { [id]: fileOf(content, 'a') });
        return json[id].value as string;
      };
      const other = await put('別の', 'w_file');
      const older = await put('前の', 'w_gone');
      const last = await put('今の', 'w_gone');
      await register.apply(...applied(definition('LESS', ['w_file'])));
      assert.equal((await sweepFiles(register, files)).files, 0, 'what is young stays');
      const { files: forgotten, contents } = await sweepAll();
      assert.deepEqual([forgotten, contents, await isThere('今の')], [1, 1, false]);
      const there = await Promise.all([other, older, last].map((id) => download(url, credentials, id)));
      assert.deepEqual(
        there.map(({ status }) => status),
        [200, 200, 404],
      );
      assert.deepEqual(await checkFiles(register, files, ['LESS']), []);
    });

    test('D28: check reports records without files, files without contents or of another size, and contents of no file', async () => {
      const { url, register, files, filesDir, query } = opened.running;
      assert.deepEqual(await checkFiles(register, files, ['W']), []);
      const put = async (key: string, content: string) => {
        const sent = await upload(url, merge(), { w_primarykey: key }, { w_file: fileOf(content, `${key}.txt`) });
        return sent.json.w_file.value as string;
      };
      const [lost, empty, cut] = [await put('10', '忘れられる'), await put('11', '消える'), await put('12', '縮む')];
      await upload(url, merge(), { w_primarykey: 'none' }, { w_file: fileOf('誰のでもない', 'a') });
      await query(`delete from files where id = '${lost}'`);
      await files.remove([digestOf('消える')]);
      writeFileSync(join(filesDir, digestOf('縮む').slice(0, 2), digestOf('縮む')), 'x');
      const messages = async () => (await checkFiles(register, files, ['W'])).map(({ message }) => message);
      const found = await messages();
      assert.equal(found.length, 3, found.join('\n'));
      assert.ok(
        found.some((message) => message.includes(`names file ${lost}, which is not there`)),
        found.join('\n'),
      );
      assert.ok(
        found.some((message) => message.includes(empty) && message.includes('is not in')),
        found.join('\n'),
      );
      assert.ok(
        found.some((message) => message.includes(cut) && message.includes('expected 6')),
        found.join('\n'),
      );
      age(filesDir, OLD + 1);
      assert.match((await messages()).at(-1) ?? '', /^2 contents in .* belong to no file/);
    });
  });
}

describe('the command line', () => {
  /** A data folder with an app, its records and a file of the first, and a content of no file. */
  async function makeFolder(t: TestContext) {
    const dataDir = temporaryFolder(t);
    const engine = await engineAt(dataDir);
    const [register, store] = [await engine.openRegister(), await engine.openStore()];
    const filesDir = join(dataDir, 'files');
    const files = await openFileStore({ ...NO_S3, filesDir });
    await register.apply(...applied(definition('W')));
    await putRecords(register, 'W', RECORDS);
    await register.addUser({ id: 'yamada', name: '山田', lang: 'ja' });
    await register.grant('W', 'yamada', { update: true, edit: false, admin: false });
    await register.addKey('W', 'yamada', createHash('sha256').update('key').digest(), null);
    const server = createHttpServer(store, files, OPTIONS, createLog('error', assert.fail));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = (key: string, content: string) =>
      upload(url, { appcode: 'W', appkey: 'key' }, { w_primarykey: key }, { w_file: fileOf(content, 'a.txt') });
    const { json } = await send('1', '留まる');
    await send('none', '去る');
    server.closeAllConnections();
    server.close();
    await Promise.all([store.close(), register.close()]);
    writeFileSync(join(filesDir, 'receiving', '1-0'), 'broken off');
    return { run: onFolder(dataDir), dataDir, filesDir, fileid: json.w_file.value as string };
  }

  test('daicho check: no problem is told with exit code 0, and each one with exit code 1', async (t) => {
    const { run, filesDir, fileid } = await makeFolder(t);
    assert.deepEqual(await run('check'), { code: 0, out: 'No problem found (1 apps).\n', err: '' });
    age(filesDir, OLD + 1);
    writeFileSync(join(filesDir, digestOf('留まる').slice(0, 2), digestOf('留まる')), '違う長さ');
    const { code, out } = await run('check', '--json');
    const { problems } = JSON.parse(out) as { problems: readonly { app: string; message: string }[] };
    assert.equal(code, 1);
    assert.deepEqual(
      problems.map(({ app, message }) => [app, message.replaceAll(filesDir, '…')]),
      [
        ['W', `files: the content of file ${fileid} (a.txt) in … has 12 bytes; expected 9`],
        ['', '1 contents in … belong to no file; daicho sweep removes them'],
      ],
    );
  });

  test('D28: a content that an import brings while it is being removed stays', async (t) => {
    const { run, dataDir, filesDir } = await makeFolder(t);
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'a.txt'), '去る');
    writeFileSync(join(folder, 'a.csv'), 'w_primarykey,w_file\n2,a.txt\n');
    age(filesDir, OLD + 1);
    const files = await openFileStore({ ...NO_S3, filesDir });
    const register = await (await engineAt(dataDir)).openRegister();
    let importing: ReturnType<typeof run> | undefined;
    await sweepFiles(register, {
      ...files,
      async remove(names) {
        assert.deepEqual(names, [digestOf('去る')]);
        importing = run('record', 'import', 'W', join(folder, 'a.csv'), '--files', folder);
        while (((await files.find(digestOf('去る')))?.age ?? 0) > 60_000) await sleep(5);
        await files.remove(names);
      },
    });
    await register.close();
    const imported = await importing;
    assert.equal(imported?.code, 0, imported?.err ?? '');
    assert.deepEqual(await run('check'), { code: 0, out: 'No problem found (1 apps).\n', err: '' });
  });

  test('daicho sweep: takes what is old and nothing that is young, and refuses to take what an update may need', async (t) => {
    const { run, filesDir } = await makeFolder(t);
    for (const minutes of ['5', String(LEAST - 1)]) {
      const refused = await run('sweep', '--older-than', minutes);
      assert.deepEqual([refused.code, refused.out], [2, ''], minutes);
      assert.ok(refused.err.includes(`at least ${LEAST}`), refused.err);
    }
    const before = namesIn(filesDir);
    assert.equal(before.length, 3);
    age(filesDir, LEAST + 1);
    const nothing = `0 versions of records forgotten. ${filesDir}: 0 files forgotten, 0 contents removed (0 bytes), 0 interrupted uploads removed.\n`;
    assert.deepEqual(await run('sweep'), { code: 0, out: nothing, err: '' });
    assert.deepEqual(namesIn(filesDir), before);
    const { code, out } = await run('sweep', '--older-than', String(LEAST), '--json');
    assert.deepEqual(
      [code, JSON.parse(out)],
      [0, { place: filesDir, versions: 0, files: 0, contents: 1, bytes: 6, received: 1 }],
    );
    assert.deepEqual(namesIn(filesDir), [digestOf('留まる')]);
  });
});

/** What applies a definition, whatever is lost. */
function applied(yaml: string) {
  const { app, source } = appOf(yaml);
  return [app, source, { allowDataLoss: true, dryRun: false, progress: () => {} }] as const;
}
