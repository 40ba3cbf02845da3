// The file stores pass their contract: on disk, and in a service that speaks S3.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSettings, FileStore } from '../../src/files/file-store.ts';
import { openFileStore } from '../../src/files/file-stores.ts';
import { openS3Store } from '../../src/files/s3.ts';
import { type S3Service, startS3 } from '../harness/s3.ts';
import { digestOf, fileStoreContract, pagesOf, receive } from './files.ts';

const ON_DISK = {
  ...{ s3Bucket: '', s3Prefix: '', s3Endpoint: '', s3Region: '', s3AccessKeyId: '', s3SecretAccessKey: '' },
} as const;

const shardOf = (name: string) => join(name.slice(0, 2), name);

function folder(): { readonly filesDir: string; removeFolder(): void } {
  const parent = mkdtempSync(join(tmpdir(), 'daicho-files-'));
  return { filesDir: join(parent, 'not', 'there'), removeFolder: () => rmSync(parent, { recursive: true }) };
}

fileStoreContract('on disk', async () => {
  const { filesDir, removeFolder } = folder();
  const store = await openFileStore({ ...ON_DISK, filesDir });
  return {
    ...{ store, filesDir },
    fileOf: (name) => join(filesDir, shardOf(name)),
    async remove() {
      await store.close();
      removeFolder();
    },
  };
});

fileStoreContract('S3', async () => {
  const { filesDir, removeFolder } = folder();
  const service = await startS3();
  const store = await openFileStore({ ...service.settings, filesDir, s3Prefix: 'under/here/' });
  return {
    ...{ store, filesDir },
    fileOf: (name) => service.fileOf(`under/here/${shardOf(name)}`),
    async remove() {
      await store.close();
      await service.stop();
      removeFolder();
    },
  };
});

describe('file store on disk', () => {
  const { filesDir, removeFolder } = folder();
  let store: FileStore;
  before(async () => {
    store = await openFileStore({ ...ON_DISK, filesDir });
  });
  after(removeFolder);

  test('opening it, and asking it, makes no folder', async () => {
    assert.equal(store.place, filesDir);
    assert.equal(await store.find(digestOf(Buffer.from('x'))), null);
    assert.deepEqual(await pagesOf(store), []);
    assert.equal(await store.removeReceived(0), 0);
    assert.ok(!existsSync(filesDir));
  });

  test('keeping again what is being read does not disturb the reader', async () => {
    const bytes = randomBytes(3_000_000);
    const received = await receive(store, bytes);
    await store.keep(received);
    const stream = await store.read(received.digest);
    const again = await receive(store, bytes);
    await store.keep(again);
    assert.ok(Buffer.concat((await stream?.toArray()) ?? []).equals(bytes));
    await Promise.all([store.drop(received), store.drop(again), store.remove([received.digest])]);
  });

  test('what is kept, and where, is for nobody else to read', async () => {
    const received = await receive(store, Buffer.from('mine'));
    await store.keep(received);
    const file = join(filesDir, shardOf(received.digest));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    for (const path of [filesDir, join(file, '..')]) assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  test('what lies there and is no content is neither listed nor touched', async () => {
    const digest = digestOf(Buffer.from('elsewhere'));
    mkdirSync(join(filesDir, 'lost+found'));
    mkdirSync(join(filesDir, 'zz'));
    mkdirSync(join(filesDir, digest.slice(0, 2)), { recursive: true });
    const other = digest.startsWith('ff') ? 'ee' : 'ff';
    mkdirSync(join(filesDir, other), { recursive: true });
    writeFileSync(join(filesDir, '0f'), 'a file, no folder');
    writeFileSync(join(filesDir, digest.slice(0, 2), '.DS_Store'), '');
    writeFileSync(join(filesDir, other, digest), 'in a folder of others');
    const names = (await pagesOf(store)).flat().map(({ name }) => name);
    assert.deepEqual(names, [digestOf(Buffer.from('mine'))]);
    assert.ok(existsSync(join(filesDir, other, digest)));
  });

  test('where the disk takes no more, writing and ending are refused, and nothing is left', () => {
    const place = mkdtempSync(join(filesDir, 'full-'));
    const script = `
      import { openFileStore } from ${JSON.stringify(new URL('../../src/files/file-stores.ts', import.meta.url))};
      const store = await openFileStore(${JSON.stringify({ ...ON_DISK, filesDir: place })});
      const said = [];
      const say = (what) => (error) => said.push(what + ' ' + error.code);
      const streamed = await store.receive();
      for (let n = 0; n < 40 && said.length === 0; n++) await streamed.write(Buffer.alloc(100_000))?.catch(say('write'));
      await streamed.write(Buffer.alloc(1))?.catch(say('write'));
      await streamed.end().catch(say('end'));
      const short = await store.receive();
      short.write(Buffer.alloc(300_000));
      await short.end().catch(say('end'));
      const aborted = await store.receive();
      aborted.write(Buffer.alloc(300_000));
      await aborted.abort();
      await store.keepSmall('${'0'.repeat(64)}', Buffer.alloc(300_000)).catch(say('keepSmall'));
      console.log(said.join(', '));
    `;
    // No file may become larger than 256 blocks of 512 bytes, or of 1,024 where the shell counts so.
    const limited = ['-c', 'ulimit -f 256 && exec "$0" --input-type=module -e "$1"', process.execPath, script];
    const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
    assert.equal(stdout.trim(), 'write EFBIG, write EFBIG, end EFBIG, end EFBIG, keepSmall EFBIG', stderr);
    assert.deepEqual(readdirSync(join(place, 'receiving')), []);
  });

  test('the code of the other store is not loaded', () => {
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const { openFileStore } = await import(${JSON.stringify(new URL('../../src/files/file-stores.ts', import.meta.url))});
      await openFileStore(${JSON.stringify({ ...ON_DISK, filesDir })});
      console.log(loaded.filter((url) => /node_modules|s3/.test(url)).length, loaded.some((url) => /disk.ts$/.test(url)));
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.equal(stdout.trim(), '0 true', stderr);
  });
});

/** A server of one's own that answers as it is told. */
async function answering(listener: RequestListener): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

describe('file store in S3', () => {
  const { filesDir, removeFolder } = folder();
  const secret = 'not-for-anybody';
  let service: S3Service;
  let settings: FileSettings;
  before(async () => {
    service = await startS3();
    settings = { ...service.settings, filesDir, s3Prefix: '' };
  });
  after(async () => {
    await service.stop();
    removeFolder();
  });

  async function withStore(change: Partial<FileSettings>, use: (store: FileStore) => Promise<void>, silence?: number) {
    const store = openS3Store({ ...settings, ...change }, silence);
    try {
      await use(store);
    } finally {
      await store.close();
    }
  }

  const namesOf = async (store: FileStore) => (await pagesOf(store)).flat().map(({ name }) => name);

  /** That everything a store does is refused, saying where and why and nothing secret. */
  async function assertRefused(store: FileStore, why: RegExp): Promise<void> {
    const received = await receive(store, Buffer.alloc(300_000));
    const refused = (error: Error) => {
      assert.ok(error.message.startsWith(`${store.place}: `), error.message);
      assert.match(error.message, why);
      assert.ok(!error.message.includes(secret) && !String(error.cause).includes(secret));
      return true;
    };
    await assert.rejects(store.keep(received), refused);
    await assert.rejects(store.keepSmall(received.digest, Buffer.from('x')), refused);
    await assert.rejects(store.read(received.digest), refused);
    await assert.rejects(namesOf(store), refused);
    await assert.rejects(store.remove([received.digest]), refused);
    await store.drop(received);
  }

  test('the place is that of the bucket, without what is secret', async () => {
    const access = { s3AccessKeyId: 'a', s3SecretAccessKey: secret };
    await withStore(
      { ...access, s3Prefix: 'a/b/', s3Endpoint: 'https://user:word@s3.example.com/' },
      async ({ place }) => assert.equal(place, 's3://contents/a/b at https://s3.example.com'),
    );
    await withStore({ ...access, s3Endpoint: '' }, async ({ place }) => assert.equal(place, 's3://contents'));
  });

  test('what lies before its prefix is nothing to a store', async () => {
    await withStore({ s3Prefix: 'one/' }, async (one) => {
      const received = await receive(one, Buffer.from('of one'));
      await one.keep(received);
      await one.drop(received);
      assert.ok(existsSync(service.fileOf(`one/${shardOf(received.digest)}`)));
      await withStore({ s3Prefix: 'two/' }, async (two) => {
        assert.equal(await two.find(received.digest), null);
        assert.deepEqual(await namesOf(two), []);
        await two.remove([received.digest]);
      });
      // What begins like it but lies elsewhere is no content of the store without a prefix.
      await withStore({ s3Prefix: '' }, async (all) => assert.deepEqual(await namesOf(all), []));
      assert.deepEqual(await namesOf(one), [received.digest]);
    });
  });

  test('a key that the service does not know is refused, with the place and the cause', async () => {
    await withStore({ s3AccessKeyId: 'UNKNOWN', s3SecretAccessKey: secret }, (store) =>
      assertRefused(store, /InvalidAccessKeyId.*HTTP 403/),
    );
  });

  test('a bucket that is not there is refused: it is not a content that is not there', async () => {
    await withStore({ s3Bucket: 'another' }, (store) => assertRefused(store, /NoSuchBucket.*HTTP 404/));
  });

  test('a service that cannot be reached is refused within seconds', async () => {
    const { url, stop } = await answering(() => {});
    await stop();
    const started = performance.now();
    await withStore({ s3Endpoint: url, s3SecretAccessKey: secret }, async (store) => {
      await assertRefused(store, /ECONNREFUSED/);
      await assert.rejects(store.find(digestOf(Buffer.from('x'))), /ECONNREFUSED/);
    });
    assert.ok(performance.now() - started < 10_000);
  });

  test('a service that says nothing is given up, and so is one that falls silent within an answer', async () => {
    const silent = await answering((request) => request.resume());
    await withStore({ s3Endpoint: silent.url }, (store) => assertRefused(store, /no answer|nothing moved/), 100);
    await silent.stop();
    const stuck = await answering((_, response) => void response.writeHead(200, { 'Content-Length': 9 }).write('x'));
    await withStore(
      { s3Endpoint: stuck.url },
      async (store) => {
        const stream = await store.read(digestOf(Buffer.from('x')));
        await assert.rejects(async () => stream?.toArray(), /^Error: s3:.*nothing moved/);
      },
      100,
    );
    await stuck.stop();
  });

  test('who reads slowly is waited for', async () => {
    await withStore(
      {},
      async (store) => {
        const bytes = randomBytes(3_000_000);
        const received = await receive(store, bytes);
        await store.keep(received);
        await store.drop(received);
        const stream = await store.read(received.digest);
        assert.ok(stream);
        const target = new PassThrough({ highWaterMark: 1 });
        stream.pipe(target);
        await sleep(450);
        assert.ok(Buffer.concat(await target.toArray()).equals(bytes));
      },
      100,
    );
  });

  test('a content is sent with its digest, and again from its beginning after a passing fault', async () => {
    const bytes = randomBytes(6_000_000);
    const bodies: { readonly claimed: unknown; readonly digest: string; readonly size: string | undefined }[] = [];
    let requests = 0;
    const flaky = await answering(async (request: IncomingMessage, response) => {
      requests++;
      // First the connection is cut off amid the body, then the service is overloaded.
      if (requests === 1) return void request.once('data', () => request.destroy());
      const body = Buffer.concat(await request.toArray());
      const { 'x-amz-content-sha256': claimed, 'content-length': size, authorization } = request.headers;
      assert.match(authorization ?? '', /SignedHeaders=[^,]*x-amz-content-sha256/);
      bodies.push({ claimed, digest: digestOf(body), size });
      response.writeHead(requests === 2 ? 503 : 200).end();
    });
    await withStore({ s3Endpoint: flaky.url }, async (store) => {
      const received = await receive(store, bytes);
      await store.keep(received);
      await store.drop(received);
      const digest = digestOf(bytes);
      assert.deepEqual(bodies, Array(2).fill({ claimed: digest, digest, size: '6000000' }));
    });
    await flaky.stop();
  });

  test('what was received and is gone before it is kept is no fault of the service', async () => {
    await withStore({}, async (store) => {
      const received = await receive(store, Buffer.from('gone'));
      await store.drop(received);
      await assert.rejects(store.keep(received), /ENOENT/);
      assert.equal(await store.find(received.digest), null);
    });
  });
});
