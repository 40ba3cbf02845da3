// A server that is killed while clients upload: every upload that was answered is there in full, and a sweep leaves nothing else (D28, D31).
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { USELESS_FOR } from '../src/operations/sweep-files.ts';
import { freshRegister } from './harness/fresh-register.ts';
import { onFolder, startServer } from './harness/run-daicho.ts';
import { appOf, putRecords } from './harness/running.ts';
import { age, arriving, contentsIn, download, fileOf, namesIn, upload } from './harness/uploading.ts';

const APP = `
code: K
fields:
  - { id: k_primarykey, type: id, search: exact }
  - { id: k_file, type: file }
  - { id: k_other, type: file }
`;
const CLIENTS = 8;
const RECORDS = 12;
const KILLS = 4;
const UPLOADS = 200;
const LARGEST = 300_000;
const CREDENTIALS = { appcode: 'K', appkey: 'the key', mode: 'merge' };
const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Contents that are sent again and again, among others that nobody has sent before. */
const COMMON = Array.from({ length: 5 }, () => randomBytes(randomInt(1, LARGEST)));
const newContent = () =>
  randomInt(4) === 0 ? (COMMON[randomInt(COMMON.length)] as Buffer) : randomBytes(randomInt(1, LARGEST));

test('a server killed again and again loses no upload that it answered', { timeout: 120_000 }, async (t) => {
  const { place, openRegister, query, remove } = await freshRegister();
  t.after(remove);
  const register = await openRegister();
  const { app, source } = appOf(APP);
  await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await register.grant('K', 'sato', { update: true, edit: false, admin: false });
  await register.addKey('K', 'sato', createHash('sha256').update(CREDENTIALS.appkey).digest(), null);
  await putRecords(
    register,
    'K',
    Array.from({ length: RECORDS }, (_, n) => ({ k_primarykey: String(n) })),
  );
  await register.close();
  const filesDir = join(place, 'files');

  const answered = new Map<string, Buffer>();
  let unanswered = 0;
  const client = async (address: string) => {
    for (;;) {
      const [content, other] = [newContent(), newContent()];
      const key = { k_primarykey: String(randomInt(RECORDS)) };
      const parts = {
        k_file: fileOf(content, 'a.bin'),
        ...(randomInt(3) === 0 && { k_other: fileOf(other, 'b.bin') }),
      };
      const sent = await upload(address, CREDENTIALS, key, parts).catch(() => null);
      if (sent === null) {
        unanswered++;
        return;
      }
      assert.equal(sent.status, 200, sent.text);
      answered.set(sent.json.k_file.value, content);
      if ('k_other' in parts) answered.set(sent.json.k_other.value, other);
    }
  };

  for (let kills = 0; kills < KILLS || answered.size < UPLOADS; kills++) {
    const server = await startServer(t, place);
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => client(server.address)));
    const before = answered.size;
    // Not before it has answered some, then at any moment.
    while (answered.size < before + 10) await Promise.race([sleep(1), clients]);
    await sleep(randomInt(500));
    await server.end('SIGKILL');
    await clients;
  }
  assert.ok(unanswered >= KILLS, 'they were killed while clients uploaded');

  // As long ago as a sweep waits for, so that whatever is of no use goes.
  age(filesDir, USELESS_FOR / 60_000 + 1);
  await query('update files set used_at = 0');
  const { length: left } = arriving(filesDir);
  const run = onFolder(place);
  const swept = await run('sweep', '--json');
  assert.equal(swept.code, 0, swept.err);
  assert.equal(JSON.parse(swept.out).received, left);

  const known = await query('select id, digest from files');
  const digests = new Map(known.map(([id, digest]) => [String(id), String(digest)]));
  for (const [id, content] of answered) assert.equal(digests.get(id), digestOf(content), 'it is named');
  assert.deepEqual(namesIn(filesDir), [...new Set(digests.values())].sort(), 'and nothing else is there');
  for (const [digest, content] of contentsIn(filesDir)) assert.equal(digestOf(content), digest);
  assert.deepEqual(await run('check'), { code: 0, out: 'No problem found (1 apps).\n', err: '' });

  const server = await startServer(t, place);
  for (const [id, content] of answered) {
    const { status, bytes } = await download(server.address, CREDENTIALS, id);
    assert.ok(status === 200 && bytes.equals(content), id);
  }
  assert.equal(await server.end(), 0);
  t.diagnostic(`${answered.size} files of answered uploads, ${unanswered} uploads cut off, ${left} left arriving`);
});
