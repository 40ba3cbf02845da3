// Backups of a whole register: everything is in them, of one moment; what is cut off or was changed is refused; a restored register is the same.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Values } from '../src/envelope/record.ts';
import { fileValue } from '../src/fields/file.ts';
import type { FileStore } from '../src/files/file-store.ts';
import { openFileStore } from '../src/files/file-stores.ts';
import { authenticate } from '../src/operations/authenticate.ts';
import { compressionOf, readBackupFile, writeBackupFile } from '../src/operations/backup-file.ts';
import { APP_LISTS } from '../src/operations/backup-format.ts';
import { type BackupOptions, type BackupReport, backupRegister } from '../src/operations/backup-register.ts';
import { newFile } from '../src/operations/new-file.ts';
import { readTar } from '../src/operations/read-tar.ts';
import { checkBackup, type RestoreReport, restoreRegister } from '../src/operations/restore-register.ts';
import { sweepFiles } from '../src/operations/sweep-files.ts';
import { TAR_END, tarFile, tarHeader, tarPadding } from '../src/operations/write-tar.ts';
import type { MovedRecord, MovedVersion, MoveSource, MoveTarget } from '../src/store/move.ts';
import type { Register } from '../src/store/register.ts';
import { connect, databaseFile } from '../src/store/sqlite/connection.ts';
import type { Store } from '../src/store/store.ts';
import type { NewFile } from '../src/update/change.ts';
import type { Edit } from '../src/update/edit.ts';
import { find, update } from './contract/asking.ts';
import { type FreshDatabase, freshDatabase } from './harness/database.ts';
import { engineAt, opened } from './harness/fresh-register.ts';
import { BIN, daicho, environment, temporaryFolder } from './harness/run-daicho.ts';
import { appOf, NO_S3, putRecords } from './harness/running.ts';

const QUIET = { allowDataLoss: true, dryRun: false, progress: () => {} };
const SILENT = { begin: () => {}, progress: () => {} };
const NEVER = new AbortController().signal;

const A = `# 台帳
code: A
name: 台帳
fields:
  - { id: a_primarykey, type: id }
  - { id: a_no, type: auto_number, format: "N-{000}" }
  - { id: t, type: text, search: partial }
  - { id: p, type: text, search: exact }
  - { id: q, type: text, search: prefix }
  - { id: f, type: file }
tables:
  - { code: lines, fields: [{ id: l, type: text, search: partial }, { id: lf, type: file }] }
system:
  pms_u_usr: { search: exact }
`;
const B = 'code: B-2\nfields: [{ id: b_primarykey, type: id }]\n';
const KEY = 'the key of sato';
const digestOf = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();
const filesIn = (folder: string) => openFileStore({ ...NO_S3, filesDir: folder });

async function receive(files: FileStore, bytes: Uint8Array, name: string): Promise<NewFile> {
  const receiver = await files.receive();
  await receiver.write(bytes);
  const received = await receiver.end();
  const file = await newFile(files, { received, name, contentType: 'text/plain', image: null });
  await files.drop(received);
  return file;
}

/** Puts a record with a file in the form, or in its only row, for each content. */
async function putFiles(register: Register, files: FileStore, contents: readonly Uint8Array[]): Promise<void> {
  const loader = await register.load('A', 'sato', `files ${randomBytes(4).toString('hex')}`);
  const records = [];
  for (const [index, bytes] of contents.entries()) {
    const file = await receive(files, bytes, `添付 ${index}.txt`);
    const rows: readonly Values[] = [[`行 ${index}`, fileValue(file)]];
    const inForm = index % 2 === 0;
    records.push({
      ...{ line: index + 1, primaryKey: null, files: [file] },
      values: new Map([['t', `文書 ${index}`], ...(inForm ? [['f', fileValue(file)] as const] : [])]),
      tables: inForm ? new Map<string, readonly Values[]>() : new Map([['lines', rows]]),
    });
  }
  await loader.put(records, records.length);
  await loader.finish(() => {});
}

/** Fills a register with all that there is to back up. */
async function fill(register: Register, store: Store, files: FileStore, records = 40): Promise<void> {
  for (const [id, name] of Object.entries({ admin: '管理者', sato: '佐藤' })) {
    await register.addUser({ id, name, lang: id === 'sato' ? 'ja' : 'en' });
  }
  for (const yaml of [A, B]) {
    const { app, source } = appOf(yaml);
    await register.apply(app, source, QUIET);
    await register.grant(app.code, 'admin', { update: true, edit: true, admin: true });
  }
  await register.grant('A', 'sato', { update: true, edit: false, admin: false });
  await register.addKey('A', 'sato', digestOf(KEY), null);
  await register.addKey('B-2', 'admin', digestOf('expires'), Date.now() + 1e9);
  await register.revokeKey(await register.addKey('A', 'admin', digestOf('revoked'), null));
  const some = Array.from({ length: records }, (_, n) => ({
    ...{ t: `言葉 ${n} \u0001"\\ 𠮷`, p: `${n}`, q: `${n}` },
    ...(n % 3 === 0 ? { lines: [{ l: `行 ${n}` }, { l: '二' }] } : {}),
  }));
  await putRecords(register, 'A', some, 'sato');
  // Two of the contents are the same, one is empty, one larger than is read whole.
  const contents = ['同じ', '同じ', '', '別'].map((text) => Buffer.from(text));
  await putFiles(register, files, [...contents, randomBytes(1_500_000)]);
  for (const turn of ['一', '二']) {
    for (const key of ['1', '2']) await update(store, 'A', { a_primarykey: key, t: turn, p: turn, q: turn }, 'admin');
  }
  await register.changeUser('sato', { name: '佐藤 花子' }, () => {});
}

async function backup(place: string, files: FileStore, file: string, onSource = (source: MoveSource) => source) {
  const source = await (await engineAt(place)).openSource();
  let report: BackupReport | null = null;
  const options: BackupOptions = { ...SILENT, files, from: 'here', daicho: '0', allowMissing: false };
  const bytes = async function* () {
    report = yield* backupRegister(onSource(source), options);
  };
  try {
    await writeBackupFile(file, compressionOf(file) ?? 'none', bytes(), NEVER);
  } finally {
    await source.close();
  }
  return report as unknown as BackupReport;
}

async function restore(
  bytes: AsyncIterable<Uint8Array>,
  place: string,
  files: FileStore,
  onTarget = (target: MoveTarget) => target,
): Promise<RestoreReport> {
  const engine = await engineAt(place);
  return restoreRegister(bytes, async (move) => onTarget(await engine.openTarget(move)), {
    ...{ ...SILENT, from: 'a test', files },
  });
}

/** Everything that a backup carries of a register. */
async function carriedOf(place: string) {
  const source = await (await engineAt(place)).openSource();
  await source.look();
  const catalog = await source.catalog();
  const lists: Record<string, unknown[]> = {};
  for (const { id, code } of catalog.apps) {
    for (const { name, read } of APP_LISTS) {
      const all: unknown[] = [];
      for await (const items of read(source, id)) all.push(...items);
      lists[`${code}/${name}`] = all;
    }
  }
  await source.close();
  return { catalog, lists };
}

async function* inPieces(bytes: Uint8Array, size = 70_001): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What the store answers to some searches. */
async function searches(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (const param of [{}, { t: '言葉' }, { t: '𠮷' }, { p: '二' }, { q: '二' }, { pms_u_usr: 'admin' }]) {
    const answer = await find(store, 'A', param, { revision: true });
    assert.ok(answer.kind === 'page' && answer.records.length > 20, JSON.stringify(param));
    found.push(Buffer.from(answer.records).toString());
  }
  return found;
}

describe('from one database to the other', { timeout: 120_000 }, () => {
  let database: FreshDatabase;
  let parent: string;
  const at = (name: string) => join(parent, name);
  let places: readonly string[];
  before(async () => {
    database = await freshDatabase();
    parent = mkdtempSync(join(tmpdir(), 'daicho-test-'));
    places = [at('one'), database.url, at('two')];
    const files = await filesIn(at('files-0'));
    await opened(at('one'), (register, store) => fill(register, store, files));
    await backup(at('one'), files, at('one.tar.zst'));
    await restore(readBackupFile(at('one.tar.zst')), database.url, await filesIn(at('files-1')));
    await backup(database.url, await filesIn(at('files-1')), at('two.tgz'));
    await restore(readBackupFile(at('two.tgz')), at('two'), await filesIn(at('files-2')));
  });
  after(async () => {
    await database.drop();
    rmSync(parent, { recursive: true });
  });

  test('catalog, digests of keys, counters, records, history and files are the same', async () => {
    const [first, ...others] = await Promise.all(places.map(carriedOf));
    assert.equal(first?.lists['A/records']?.length, 45);
    assert.equal(first?.lists['A/versions']?.length, 4);
    assert.equal(first?.lists['A/files']?.length, 5);
    assert.equal(first?.catalog.apps[0]?.keys.length, 2);
    for (const other of others) assert.deepEqual(other, first);
    for (const place of places) {
      await opened(place, async (register) => assert.deepEqual(await register.check(['A', 'B-2'], () => {}), []));
    }
  });

  test('every content is there once, and is what it was', () => {
    const contents = (n: number) =>
      readdirSync(at(`files-${n}`), { recursive: true, encoding: 'utf8' })
        .filter((name) => /[0-9a-f]{64}$/.test(name))
        .sort();
    assert.equal(contents(0).length, 4);
    for (const n of [1, 2]) {
      assert.deepEqual(contents(n), contents(0));
      for (const name of contents(n)) {
        const bytes = readFileSync(at(`files-${n}/${name}`));
        assert.equal(digestOf(bytes).toString('hex'), name.split('/').at(-1));
      }
      assert.deepEqual(readdirSync(at(`files-${n}/receiving`)), []);
    }
  });

  test('searches find the same bytes, the new name of a user in them; keys open; numbers go on', async () => {
    const seen = [];
    for (const place of places) {
      seen.push(
        await opened(place, async (register, store) => {
          const found = await searches(store);
          assert.ok(found[0]?.includes('佐藤 花子'));
          const open = (appkey: string) =>
            authenticate(store, new Map([['appcode', 'A'] as const, ['appkey', appkey] as const]), 'use', {
              ...{ lang: 'ja', problems: [], uploads: [] },
            }).caller.id;
          assert.equal(open(KEY), 'sato');
          assert.throws(() => open('revoked'));
          await putRecords(register, 'A', [{ t: '次' }], 'sato');
          const next = await find(store, 'A', { t: '次' }, { revision: true });
          assert.ok(next.kind === 'page');
          return {
            found,
            next: Buffer.from(next.records)
              .toString()
              .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, ''),
          };
        }),
      );
    }
    assert.match(seen[0]?.next ?? '', /"value":"46".*N-046/s);
    for (const other of seen) assert.deepEqual(other, seen[0]);
  });

  test('tar unpacks it, and sha256sum finds all of it right', (t) => {
    const folder = temporaryFolder(t);
    const run = (name: string, ...args: string[]) => {
      const ran = spawnSync(name, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(ran.status, 0, ran.stderr);
      assert.equal(ran.stderr, '');
      return ran.stdout;
    };
    run('tar', 'xzf', at('two.tgz'));
    assert.match(run('sha256sum', '-c', 'SHA256SUMS'), /^manifest\.json: OK\n(?:.+: OK\n)*summary\.json: OK\n$/);
    assert.equal(readFileSync(join(folder, 'apps/A/definition.yaml'), 'utf8'), A);
    const lines = readFileSync(join(folder, 'apps/A/records-00001.jsonl'), 'utf8').split('\n');
    assert.equal(lines.length, 46);
    assert.equal((JSON.parse(lines[0] as string) as MovedRecord).values[2], '二');
    for (const name of readdirSync(join(folder, 'contents'))) {
      assert.equal(digestOf(readFileSync(join(folder, 'contents', name))).toString('hex'), name);
    }
  });
});

describe('one moment', { timeout: 60_000 }, () => {
  test('while another process updates: what is updated together is never apart, and every record has its history', async (t) => {
    const folder = temporaryFolder(t);
    const [place, files] = [join(folder, 'data'), await filesIn(join(folder, 'files'))];
    await opened(place, async (register) => {
      const { app, source } = appOf(A);
      await register.apply(app, source, QUIET);
      await putRecords(
        register,
        'A',
        Array.from({ length: 2_500 }, () => ({ t: '言葉' })),
      );
    });
    const script = `
      import { engineAt } from ${JSON.stringify(join(import.meta.dirname, 'harness/fresh-register.ts'))};
      import { update } from ${JSON.stringify(join(import.meta.dirname, 'contract/asking.ts'))};
      const store = await (await engineAt(process.argv[2])).openStore();
      for (let turn = 1; ; turn++) {
        const keys = Array.from({ length: 20 }, (_, n) => String(1 + ((turn * 20 + n) * 7) % 2500));
        await Promise.all(keys.map((a_primarykey) => update(store, 'A', { a_primarykey, p: 'v' + turn, q: 'v' + turn })));
        if (turn === 5) process.stdout.write('under way');
      }`;
    writeFileSync(join(folder, 'update.mjs'), script);
    const updating = spawn(process.execPath, [join(folder, 'update.mjs'), place], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => updating.kill('SIGKILL'));
    await once(updating.stdout, 'data');
    const file = join(folder, 'a.tar');
    const [from, to] = [{ versions: 0 }, { versions: 0 }];
    const countIn = async (count: { versions: number }) => {
      const source = await (await engineAt(place)).openSource();
      await source.look();
      await source.catalog();
      count.versions = (await source.count(1)).versions;
      await source.close();
    };
    await countIn(from);
    const report = await backup(place, files, file, (source) => ({
      ...source,
      async records(...which) {
        await sleep(30);
        return source.records(...which);
      },
    }));
    await countIn(to);
    updating.kill('SIGKILL');
    assert.ok(from.versions <= report.versions && report.versions < to.versions, JSON.stringify([from, report, to]));
    const restored = join(folder, 'restored');
    await restore(readBackupFile(file), restored, files);
    const { lists } = await carriedOf(restored);
    const versions = new Map<number, number>();
    for (const { place: of } of lists['A/versions'] as MovedVersion[]) versions.set(of, (versions.get(of) ?? 0) + 1);
    for (const { place: of, revision, values } of lists['A/records'] as MovedRecord[]) {
      assert.equal(values[3], values[4]);
      assert.equal(versions.get(of) ?? 0, revision - 1);
    }
  });

  test('a file that is forgotten, and swept, while its content would be read is not in it; one that comes meanwhile is', async (t) => {
    const folder = temporaryFolder(t);
    const [place, files] = [join(folder, 'data'), await filesIn(join(folder, 'files'))];
    await opened(place, (register, store) => fill(register, store, files));
    let reads = 0;
    const meanwhile: FileStore = {
      ...files,
      async read(...which) {
        if (reads++ === 0) {
          await opened(place, async (register) => {
            const { app, source } = appOf(A.replace('  - { id: f, type: file }\n', ''));
            await register.apply(app, source, QUIET);
            await sleep(2);
            const swept = await sweepFiles(register, files, 1);
            assert.equal(swept.contents, 2);
            const file = await receive(files, Buffer.from('後から'), '後.txt');
            const loader = await register.load('A', 'sato', 'later');
            const rows: readonly Values[] = [['後', fileValue(file)]];
            await loader.put(
              [{ line: 1, primaryKey: null, values: new Map(), tables: new Map([['lines', rows]]), files: [file] }],
              1,
            );
            await loader.finish(() => {});
          });
        }
        return files.read(...which);
      },
    };
    const file = join(folder, 'a.tar');
    const { contents, files: named } = await backup(place, meanwhile, file);
    assert.equal(named, 3);
    // Two of the four are gone; one of them, a small one, may have been read beside others before it went.
    assert.ok(contents === 3 || contents === 4, `${contents} contents`);
    const [restored, restoredFiles] = [join(folder, 'restored'), await filesIn(join(folder, 'files-2'))];
    await restore(readBackupFile(file), restored, restoredFiles);
    assert.deepEqual(await carriedOf(restored), await carriedOf(place));
  });

  test('an import into an empty app that is under way has not begun in it', async (t) => {
    const folder = temporaryFolder(t);
    const [place, files] = [join(folder, 'data'), await filesIn(join(folder, 'files'))];
    await opened(place, async (register) => {
      const { app, source } = appOf(A);
      await register.apply(app, source, QUIET);
      const loader = await register.load('A', '', 'half');
      await loader.put([{ line: 1, primaryKey: null, values: new Map(), tables: new Map() }], 1);
      await loader.stop();
    });
    await backup(place, files, join(folder, 'a.tar'));
    const restored = join(folder, 'restored');
    await restore(readBackupFile(join(folder, 'a.tar')), restored, files);
    const { catalog, lists } = await carriedOf(restored);
    assert.deepEqual([catalog.apps[0]?.imports, lists['A/records']], [[], []]);
  });

  test('what was deleted can be looked back at and restored in the register that is made of it', async (t) => {
    const folder = temporaryFolder(t);
    const [place, files] = [join(folder, 'data'), await filesIn(join(folder, 'files'))];
    const primaryKey = 'gone';
    const edit = async (store: Store, change: Edit) => {
      const registered = store.catalog().apps.get('A');
      assert.ok(registered !== undefined);
      return (await store.edit(registered, change, '')).kind;
    };
    await opened(place, async (register, store) => {
      const { app, source } = appOf(A);
      await register.apply(app, source, QUIET);
      await putRecords(register, 'A', [{ [app.primaryKey.id]: primaryKey }]);
      assert.equal(await edit(store, { kind: 'delete', primaryKey, revision: null }), 'deleted');
    });
    await backup(place, files, join(folder, 'a.tar'));
    const restored = join(folder, 'restored');
    await restore(readBackupFile(join(folder, 'a.tar')), restored, files);
    await opened(restored, async (_, store) => {
      const change: Edit = { kind: 'restore', primaryKey, revision: null, version: null };
      assert.equal(await edit(store, change), 'updated');
    });
  });
});

describe('what is not as it was written is refused', { timeout: 120_000 }, () => {
  let parent: string;
  const at = (name: string) => join(parent, name);
  let whole: Buffer;
  const WORDS = /cut off|changed|not a backup|follows its end|lacks|it has \d+ of/;
  const check = (bytes: Uint8Array) => checkBackup(inPieces(bytes), SILENT);
  before(async () => {
    parent = mkdtempSync(join(tmpdir(), 'daicho-test-'));
    const files = await filesIn(at('files'));
    await opened(at('data'), (register, store) => fill(register, store, files, 12));
    for (const name of ['a.tar', 'a.tar.gz', 'a.tar.zst']) await backup(at('data'), files, at(name));
    whole = readFileSync(at('a.tar'));
  });
  after(() => rmSync(parent, { recursive: true }));

  test('a tar cut off anywhere', async () => {
    await check(whole);
    const places = [0, 1, 511, 512, 513, 1_024, whole.length - 1_025, whole.length - 1_024, whole.length - 1];
    for (let n = 0; n < 60; n++) places.push(Math.floor((n / 60) * whole.length));
    for (const length of places) {
      await assert.rejects(check(whole.subarray(0, length)), (error: Error) => {
        assert.equal(error.name, 'Mistake');
        assert.match(error.message, /cut off|not a backup/, String(length));
        return true;
      });
    }
  });

  test('a byte that is another, in headers, lists, contents, what fills up, the end', async () => {
    const places = [whole.length - 1, whole.length - 700];
    for (let at = 0; at < whole.length; at += 512)
      if (whole.toString('latin1', at + 257, at + 262) === 'ustar')
        places.push(at, at + 130, at + 500, at + 520, at + 1_020);
    for (let n = 0; n < 40; n++) places.push(Math.floor((n / 40) * whole.length));
    for (const place of places) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8((bytes[place] as number) ^ 0x11, place);
      await assert.rejects(check(bytes), (error: Error) => {
        assert.equal(error.name, 'Mistake', `${error.stack}`);
        assert.match(error.message, WORDS, String(place));
        return true;
      });
    }
  });

  test('an entry that is missing, twice, or in another place', async () => {
    type Entry = { name: string; bytes: Buffer; comment: string };
    const entries: Entry[] = [];
    for await (const { name, comment, bytes } of readTar(inPieces(whole))) {
      entries.push({ name, comment, bytes: await buffer(bytes) });
    }
    const now = new Date();
    const tarOf = (all: readonly Entry[]) =>
      Buffer.concat([
        ...all.map(({ name, bytes, comment }) =>
          comment === ''
            ? Buffer.concat([tarHeader(name, bytes.length, now), bytes, tarPadding(bytes.length)])
            : tarFile(name, bytes, now, comment),
        ),
        TAR_END,
      ]);
    await check(tarOf(entries));
    for (const [index, entry] of entries.entries()) {
      for (const changed of [
        entries.toSpliced(index, 1),
        entries.toSpliced(index, 0, entry),
        [...entries.toSpliced(index, 1), entry],
      ]) {
        if (changed.every((other, at) => other === entries[at]) && changed.length === entries.length) continue;
        const isSame = changed.length === entries.length + 1 && entry.comment === '';
        // A content that is there twice is no harm.
        if (isSame) continue;
        await assert.rejects(check(tarOf(changed)), WORDS, `${entry.name} ${changed.length}`);
      }
    }
  });

  for (const name of ['a.tar.gz', 'a.tar.zst']) {
    test(`${name}: cut off or changed, it is refused or what it held is all there`, async (t) => {
      const packed = readFileSync(at(name));
      const file = join(temporaryFolder(t), name);
      const { seconds: _, ...right } = await checkBackup(readBackupFile(at(name)), SILENT);
      let refused = 0;
      for (let n = 0; n < 30; n++) {
        const place = Math.floor(((n + 0.5) / 30) * packed.length);
        const changed = Buffer.from(packed);
        changed.writeUInt8((changed[place] as number) ^ 0x20, place);
        for (const bytes of [changed, packed.subarray(0, place)]) {
          writeFileSync(file, bytes);
          const found = await checkBackup(readBackupFile(file), SILENT).catch((error: Error) => error);
          if (found instanceof Error) {
            assert.equal(found.name, 'Mistake', `${found.stack}`);
            refused++;
          } else assert.deepEqual({ ...found, seconds: 0 }, { ...right, seconds: 0 });
        }
      }
      assert.ok(refused > 55, String(refused));
    });
  }

  test('by restore too, before the register can be opened; the right file of the same backup finishes it', async (t) => {
    const folder = temporaryFolder(t);
    const [broken, to] = [join(folder, 'broken.tar'), join(folder, 'data')];
    writeFileSync(broken, whole.subarray(0, whole.length - 2_000));
    const refused = await daicho(['restore', broken, '--data-dir', to]);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(
      refused.err,
      /^daicho: \S+broken\.tar: it is cut off at byte \d+, in \S+; what is in .+ cannot be used\n$/,
    );
    assert.match((await daicho(['app', 'list', '--data-dir', to])).err, /is not finished/);
    assert.match((await daicho(['restore', at('a.tar.gz'), '--data-dir', to])).err, /unfinished/);
    const ran = await daicho(['restore', at('a.tar'), '--data-dir', to]);
    assert.deepEqual([ran.code, ran.err], [0, '']);
    assert.match(ran.out, /^Restored to .+: 2 apps, 17 records, 4 versions in the history, 5 files, as of 20\S+Z /);
    assert.deepEqual(await carriedOf(to), await carriedOf(at('data')));
  });

  test('in PostgreSQL too', async (t) => {
    const folder = temporaryFolder(t);
    const database = await freshDatabase();
    t.after(() => database.drop());
    const files = await filesIn(join(folder, 'files'));
    await assert.rejects(restore(inPieces(whole.subarray(0, whole.length - 2_000)), database.url, files), /cut off/);
    const engine = await engineAt(database.url);
    await assert.rejects(async () => engine.openRegister(), /is not finished/);
    await restore(inPieces(whole), database.url, files);
    assert.deepEqual(await carriedOf(database.url), await carriedOf(at('data')));
  });

  test('a newer format, and what is no backup, in words', async (t) => {
    const file = join(temporaryFolder(t), 'new.tar');
    const manifest = Buffer.from(JSON.stringify({ format: 99, daicho: '9.9' }));
    const digest = digestOf(manifest).toString('hex');
    writeFileSync(file, Buffer.concat([tarFile('manifest.json', manifest, new Date(), digest), TAR_END]));
    const newer = await daicho(['restore', '--check', file]);
    assert.match(
      newer.err,
      /^daicho: \S+: it was made by a newer version of Daicho, 9\.9; restore it with that version\n$/,
    );
    writeFileSync(file, 'x'.repeat(10_000));
    assert.match(
      (await daicho(['restore', '--check', file])).err,
      /^daicho: \S+: it is not a backup, or was changed, at byte 512\n$/,
    );
  });
});

describe('on the command line', { timeout: 120_000, concurrency: 2 }, () => {
  let template: string;
  before(async () => {
    template = mkdtempSync(join(tmpdir(), 'daicho-test-'));
    const files = await filesIn(join(template, 'files'));
    await opened(template, (register, store) => fill(register, store, files));
  });
  after(() => rmSync(template, { recursive: true }));
  function filled(t: TestContext): { folder: string; data: string } {
    const folder = temporaryFolder(t);
    const data = join(folder, 'data');
    cpSync(template, data, { recursive: true });
    return { folder, data };
  }

  test('a place that has a register is refused and stays as it is; a name that says no compression is wrong usage', async (t) => {
    const { folder, data } = filled(t);
    const file = join(folder, 'a.tzst');
    const made = await daicho(['backup', file, '--data-dir', data]);
    assert.deepEqual([made.code, made.err], [0, '']);
    assert.match(
      made.out,
      /^Backed up to .+: 2 apps, 45 records, 4 versions in the history, 5 files; [\d,]+ bytes, as of /,
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const before = await carriedOf(data);
    const refused = await daicho(['restore', file, '--data-dir', data]);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /there is a register already/);
    assert.deepEqual(await carriedOf(data), before);
    const wrong = await daicho(['backup', join(folder, 'a.zip'), '--data-dir', data]);
    assert.deepEqual([wrong.code, wrong.out], [2, '']);
    assert.deepEqual(readdirSync(folder).sort(), ['a.tzst', 'data']);
    const json = JSON.parse((await daicho(['restore', '--check', file, '--json'])).out);
    assert.deepEqual([json.to, json.records, json.contents, json.manifest.format], [null, 45, 4, 1]);
  });

  test('through a pipe, from standard output to standard input', async (t) => {
    const { folder, data } = filled(t);
    const to = join(folder, 'to');
    const start = (stdio: ['ignore' | 'pipe', 'pipe', 'pipe'], ...args: string[]) =>
      spawn(process.execPath, [BIN, ...args], { env: environment(), stdio });
    const making = start(['ignore', 'pipe', 'pipe'], 'backup', '-', '--data-dir', data);
    const restoring = start(['pipe', 'pipe', 'pipe'], 'restore', '-', '--data-dir', to);
    making.stdout?.pipe(restoring.stdin as NodeJS.WritableStream);
    await Promise.all([once(making, 'close'), once(restoring, 'close')]);
    assert.deepEqual([making.exitCode, restoring.exitCode], [0, 0]);
    assert.deepEqual(await carriedOf(to), await carriedOf(data));
    assert.equal((await daicho(['check', '--data-dir', to])).code, 0);
  });

  test('a missing or damaged content: no backup, and the one before stays; with --allow-missing it is made, said, and restored', async (t) => {
    const { folder, data } = filled(t);
    const file = join(folder, 'a.tar');
    writeFileSync(file, 'the one before');
    const contents = readdirSync(join(data, 'files'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /[0-9a-f]{64}$/.test(name),
    );
    const path = (size: (bytes: number) => boolean) =>
      contents.map((name) => join(data, 'files', name)).find((one) => size(statSync(one).size)) as string;
    const [small, large] = [path((size) => size === 3), path((size) => size > 1_000_000)];
    rmSync(small);
    const bytes = readFileSync(large);
    bytes.writeUInt8((bytes[900_000] as number) ^ 1, 900_000);
    writeFileSync(large, bytes);
    const refused = await daicho(['backup', file, '--data-dir', data]);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(
      refused.err,
      /^daicho: .*the content of file [0-9a-f]{32} \(添付 \d\.txt\), [0-9a-f]{64}, is not in .* add --allow-missing\n$/,
    );
    assert.equal(readFileSync(file, 'utf8'), 'the one before');
    assert.deepEqual(readdirSync(folder).sort(), ['a.tar', 'data']);
    const made = await daicho(['backup', file, '--data-dir', data, '--allow-missing', '--json']);
    assert.equal(made.code, 1);
    assert.match(
      made.err,
      /^(?:daicho: A: the content of file [0-9a-f]{32} \(添付 [34]\.txt\) is missing, or damaged\n){2}$/,
    );
    const { missing, contents: kept } = JSON.parse(made.out);
    assert.deepEqual([missing.length, kept], [2, 2]);
    const to = join(folder, 'to');
    const ran = await daicho(['restore', file, '--data-dir', to]);
    assert.equal(ran.code, 0);
    assert.equal(ran.err, 'daicho: 2 contents of files were missing when the backup was made\n');
    assert.deepEqual(await carriedOf(to), await carriedOf(data));
  });

  test('interrupted, a backup leaves nothing; killed, a restore begins again with the same backup', async (t) => {
    const { folder, data } = filled(t);
    const file = join(folder, 'a.tar');
    await opened(data, (register) =>
      putRecords(
        register,
        'A',
        Array.from({ length: 3_000 }, (_, n) => ({ t: `言葉 ${n}` })),
      ),
    );
    const interrupted = spawn(process.execPath, [BIN, 'backup', file, '--data-dir', data], {
      env: environment(),
      stdio: 'ignore',
    });
    while (!readdirSync(folder).some((name) => name.endsWith('.part'))) await sleep(2);
    interrupted.kill('SIGINT');
    await once(interrupted, 'close');
    assert.deepEqual([interrupted.exitCode, readdirSync(folder)], [1, ['data']]);

    await backup(data, await filesIn(join(data, 'files')), file);
    const to = join(folder, 'to');
    const restoring = spawn(process.execPath, [BIN, 'restore', file, '--data-dir', to], {
      env: environment(),
      stdio: 'ignore',
    });
    const closed = once(restoring, 'close');
    for (let records = 0; records === 0 && restoring.exitCode === null; await sleep(3)) {
      if (!existsSync(databaseFile(to))) continue;
      const db = connect(to, { readonly: true });
      try {
        records = db.prepare('select count(*) from app_1_1').pluck().get() as number;
      } catch {
        // Its tables are not there yet.
      } finally {
        db.close();
      }
    }
    restoring.kill('SIGKILL');
    await closed;
    assert.equal(restoring.signalCode, 'SIGKILL');
    assert.match((await daicho(['check', '--data-dir', to])).err, /is not finished/);
    const ran = await daicho(['restore', file, '--data-dir', to]);
    assert.deepEqual([ran.code, ran.err], [0, '']);
    assert.deepEqual(await carriedOf(to), await carriedOf(data));
  });

  test('a content of 200 MB passes through little memory', async (t) => {
    const folder = temporaryFolder(t);
    const [data, file, to] = [join(folder, 'data'), join(folder, 'a.tar'), join(folder, 'to')];
    const files = await filesIn(join(data, 'files'));
    const block = randomBytes(1 << 20);
    await opened(data, async (register) => {
      const { app, source } = appOf(A);
      await register.apply(app, source, QUIET);
      const receiver = await files.receive();
      for (let n = 0; n < 200; n++) await receiver.write(Buffer.from(block));
      const received = await receiver.end();
      const large = await newFile(files, { received, name: '大.bin', contentType: '', image: null });
      await files.drop(received);
      const loader = await register.load('A', '', 'large');
      const values = new Map([['f', fileValue(large)]]);
      await loader.put([{ line: 1, primaryKey: null, values, tables: new Map(), files: [large] }], 1);
      await loader.finish(() => {});
    });
    const most = async (...args: string[]) => {
      const report = `process.on('exit', () => process.stderr.write('most ' + process.resourceUsage().maxRSS))`;
      const { code, err } = await daicho(args, {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}`,
      });
      assert.equal(code, 0, err);
      return Number(/most (\d+)/.exec(err)?.[1]);
    };
    const made = await most('backup', file, '--data-dir', data);
    const restored = await most('restore', file, '--data-dir', to);
    assert.ok(made > 30_000 && made < 190_000, String(made));
    assert.ok(restored > 30_000 && restored < 190_000, String(restored));
    assert.deepEqual(await carriedOf(to), await carriedOf(data));
  });
});

test('a tar has long names, empty files and sizes beyond eight gigabytes', async () => {
  const now = new Date();
  const long = `apps/${'a'.repeat(64)}/${'b'.repeat(40)}`;
  const bytes = Buffer.concat([
    tarFile(long, Buffer.from('x'), now, 'y'),
    tarFile('empty', Buffer.alloc(0), now, 'z'),
    TAR_END,
  ]);
  const read: [string, string, string][] = [];
  for await (const { name, comment, bytes: of } of readTar(inPieces(bytes, 100))) {
    read.push([name, comment, await text(of)]);
  }
  assert.deepEqual(read, [
    [long, 'y', 'x'],
    ['empty', 'z', ''],
  ]);
  const size = 20 * 2 ** 30;
  for await (const entry of readTar(Readable.from([tarHeader('large', size, now)]))) {
    assert.equal(entry.size, size);
    await assert.rejects(buffer(entry.bytes), /cut off at byte 512, in large/);
    break;
  }
});
