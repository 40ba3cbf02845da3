// What every file store must do, wherever it keeps the contents.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileStore, HEAD, type KeptContent, type Received, SMALL } from '../../src/files/file-store.ts';

/** A fresh, empty store. */
export interface FilesBench {
  readonly store: FileStore;
  /** Where contents arrive. */
  readonly filesDir: string;
  /** The file behind what is kept under a name, to make it older than it is. */
  fileOf(name: string): string;
  /** Closes the store and removes the data. */
  remove(): Promise<void>;
}

const MINUTE = 60_000;

export const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Receives the pieces, one after the other. */
export async function receive(store: FileStore, ...pieces: readonly Uint8Array[]): Promise<Received> {
  const receiver = await store.receive();
  for (const piece of pieces) await receiver.write(piece);
  return receiver.end();
}

/** Receives and keeps; gives the name. */
async function keep(store: FileStore, ...pieces: readonly Uint8Array[]): Promise<string> {
  const received = await receive(store, ...pieces);
  await store.keep(received);
  await store.drop(received);
  return received.digest;
}

async function bytesOf(store: FileStore, name: string, range?: { first: number; last: number }): Promise<Buffer> {
  const stream = await store.read(name, range);
  assert.ok(stream, `there is no ${name}`);
  return Buffer.concat(await stream.toArray());
}

export async function pagesOf(store: FileStore): Promise<(readonly KeptContent[])[]> {
  const pages: (readonly KeptContent[])[] = [];
  for await (const page of store.list()) pages.push(page);
  return pages;
}

async function listed(store: FileStore): Promise<KeptContent[]> {
  return (await pagesOf(store)).flat();
}

const arriving = (filesDir: string) => {
  const folder = join(filesDir, 'receiving');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};

function age(file: string, milliseconds: number): void {
  const then = new Date(Date.now() - milliseconds);
  utimesSync(file, then, then);
}

export function fileStoreContract(what: string, open: () => FilesBench | Promise<FilesBench>): void {
  describe(`file store: ${what}`, () => {
    let bench: FilesBench;
    let store: FileStore;
    before(async () => {
      bench = await open();
      store = bench.store;
    });
    after(() => bench.remove());

    const large = randomBytes(5 * 1024 * 1024);
    const contents: readonly (readonly [string, readonly Uint8Array[]])[] = [
      ['no bytes', []],
      ['one byte', [Buffer.from('a')]],
      ['one write of 5 MB', [large]],
      ['5 MB in the pieces of a socket', Array.from({ length: 80 }, (_, n) => large.subarray(n << 16, (n + 1) << 16))],
      ['many small writes', Array.from({ length: 20_000 }, (_, n) => randomBytes(1 + (n % 100)))],
      ['empty writes among others', [Buffer.alloc(0), Buffer.from('ab'), Buffer.alloc(0), Buffer.from('c')]],
      ['small and large writes', [randomBytes(10), randomBytes(3_000_000), randomBytes(7), randomBytes(900_000)]],
      ['exactly what is looked at first', [randomBytes(HEAD)]],
      ['exactly a block, and others', [randomBytes(64 * 1024), randomBytes(64 * 1024), randomBytes(640 * 1024)]],
    ];
    for (const [title, pieces] of contents) {
      test(`${title}: comes back byte for byte, with its digest, its size and its first bytes`, async () => {
        const whole = Buffer.concat(pieces);
        const received = await receive(store, ...pieces);
        assert.deepEqual(
          { digest: received.digest, size: received.size, head: Buffer.from(received.head) },
          { digest: digestOf(whole), size: whole.length, head: whole.subarray(0, HEAD) },
        );
        assert.ok(readFileSync(received.path).equals(whole));
        await store.keep(received);
        await store.drop(received);
        assert.equal((await store.find(received.digest))?.size, whole.length);
        assert.ok((await bytesOf(store, received.digest)).equals(whole));
      });
    }

    test('bytes written before there was room for them arrive in order', async () => {
      const receiver = await store.receive();
      const pieces = Array.from({ length: 300 }, (_, n) => Buffer.alloc(30_000, n % 251));
      const waits = pieces.map((piece) => receiver.write(piece));
      assert.ok(waits[0] === undefined && waits.at(-1) !== undefined);
      const received = await receiver.end();
      await Promise.all(waits);
      assert.equal(received.digest, digestOf(Buffer.concat(pieces)));
      assert.ok(readFileSync(received.path).equals(Buffer.concat(pieces)));
      await store.drop(received);
    });

    test('a write waits where more would be kept in memory than a few blocks', async () => {
      const receiver = await store.receive();
      let taken = 0;
      // Nothing is written meanwhile: this does not leave the turn of the event loop.
      for (; taken < 100; taken++) {
        const wait = receiver.write(Buffer.alloc(64 * 1024));
        if (wait === undefined) continue;
        const ended = receiver.end();
        await wait;
        await store.drop(await ended);
        break;
      }
      assert.ok(taken > 0 && taken <= 32, `${taken} pieces of 64 KiB`);
    });

    test('a range gives the bytes from its first to its last', async () => {
      const name = await keep(store, large);
      const end = large.length - 1;
      for (const [first, last] of [
        [0, 0],
        [end, end],
        [0, end],
        [1_000_000, 2_999_999],
        [end - 9, end],
      ] as const) {
        assert.ok((await bytesOf(store, name, { first, last })).equals(large.subarray(first, last + 1)));
      }
    });

    test('what is received and not kept is in no store, and dropping it twice is no error', async () => {
      const received = await receive(store, Buffer.from('not kept'));
      assert.equal(await store.find(received.digest), null);
      assert.equal(await store.read(received.digest), null);
      await store.drop(received);
      await store.drop(received);
      assert.deepEqual(arriving(bench.filesDir), []);
    });

    test('what is aborted leaves nothing, however much had come', async () => {
      const early = await store.receive();
      await early.abort();
      const late = await store.receive();
      // Not waited for: a request that is cut off does not wait either.
      for (let n = 0; n < 100; n++) late.write(Buffer.alloc(50_000, n));
      await late.abort();
      await late.abort();
      assert.equal(late.write(Buffer.from('afterwards')), undefined);
      assert.deepEqual(arriving(bench.filesDir), []);
    });

    test('aborting what has ended does nothing', async () => {
      const receiver = await store.receive();
      await receiver.write(Buffer.from('ended'));
      const received = await receiver.end();
      await receiver.abort();
      assert.equal(readFileSync(received.path, 'utf8'), 'ended');
      await store.drop(received);
    });

    test('what has ended takes no more bytes', async () => {
      const receiver = await store.receive();
      await store.drop(await receiver.end());
      assert.throws(() => receiver.write(Buffer.from('more')), /ended/);
    });

    test('what arrives, and where it arrives, is for nobody else to read', async () => {
      const received = await receive(store, Buffer.from('mine'));
      assert.equal(statSync(received.path).mode & 0o777, 0o600);
      assert.equal(statSync(join(bench.filesDir, 'receiving')).mode & 0o777, 0o700);
      await store.drop(received);
    });

    test('the same content kept twice, and twice at once, is there once', async () => {
      const bytes = randomBytes(100_000);
      const name = await keep(store, bytes);
      assert.equal(await keep(store, bytes), name);
      await Promise.all([keep(store, bytes), keep(store, bytes), keep(store, bytes)]);
      assert.equal((await listed(store)).filter((content) => content.name === name).length, 1);
      assert.ok((await bytesOf(store, name)).equals(bytes));
    });

    test('what was kept can be kept again until it is dropped', async () => {
      const received = await receive(store, Buffer.from('again'));
      await store.keep(received);
      assert.equal(readFileSync(received.path, 'utf8'), 'again');
      await store.keep(received);
      await store.remove([received.digest]);
      await store.keep(received);
      assert.deepEqual(arriving(bench.filesDir), [received.path]);
      await store.drop(received);
      assert.equal(String(await bytesOf(store, received.digest)), 'again');
      assert.deepEqual(arriving(bench.filesDir), []);
    });

    test('a thumbnail lies beside its content, under its name', async () => {
      const name = await keep(store, Buffer.from('an image'));
      assert.equal(await store.find(name + SMALL), null);
      await store.keepSmall(name, Buffer.from('small'));
      await store.keepSmall(name, Buffer.from('smaller'));
      assert.equal((await store.find(name + SMALL))?.size, 7);
      assert.equal(String(await bytesOf(store, name + SMALL)), 'smaller');
      assert.equal(String(await bytesOf(store, name)), 'an image');
      assert.deepEqual(arriving(bench.filesDir), []);
    });

    test('the list has everything that is kept, with its size', async () => {
      const name = await keep(store, Buffer.from('to be listed'));
      await store.keepSmall(name, Buffer.from('tiny'));
      const sizes = new Map((await listed(store)).map((content) => [content.name, content.size]));
      assert.equal(sizes.get(name), 12);
      assert.equal(sizes.get(name + SMALL), 4);
      assert.ok(sizes.get(digestOf(large)) === large.length && sizes.get(digestOf(Buffer.alloc(0))) === 0);
    });

    test('the age counts from when a content was kept last', async () => {
      const bytes = Buffer.from('it grows old');
      const received = await receive(store, bytes);
      // It was long in coming.
      age(received.path, 90 * MINUTE);
      await store.keep(received);
      await store.drop(received);
      const name = received.digest;
      const ageNow = async () => {
        const inList = (await listed(store)).find((content) => content.name === name);
        const found = await store.find(name);
        assert.deepEqual({ ...inList, age: 0 }, { name, size: bytes.length, age: 0 });
        assert.ok(inList && found && Math.abs(inList.age - found.age) < MINUTE);
        return found.age;
      };
      assert.ok((await ageNow()) < MINUTE);
      age(bench.fileOf(name), 90 * MINUTE);
      assert.ok(Math.abs((await ageNow()) - 90 * MINUTE) < MINUTE);
      await keep(store, bytes);
      assert.ok((await ageNow()) < MINUTE);
    });

    test('what is removed is gone; removing what is not there is no error', async () => {
      const names = await Promise.all(Array.from({ length: 20 }, (_, n) => keep(store, Buffer.from(`remove ${n}`))));
      const stays = await keep(store, Buffer.from('stays'));
      await store.remove([...names, digestOf(Buffer.from('never kept'))]);
      await store.remove(names);
      await store.remove([]);
      for (const name of names) assert.equal(await store.find(name), null);
      const left = (await listed(store)).map(({ name }) => name);
      assert.ok(left.includes(stays) && !names.some((name) => left.includes(name)));
    });

    test('what is not there has no size and no bytes', async () => {
      const name = digestOf(Buffer.from('not there'));
      for (const missing of [name, name + SMALL]) {
        assert.equal(await store.find(missing), null);
        assert.equal(await store.read(missing), null);
        assert.equal(await store.read(missing, { first: 0, last: 9 }), null);
      }
    });

    test('only a digest, or that of a thumbnail, is a name', async () => {
      const digest = digestOf(Buffer.from('a name'));
      const names = ['', '..', '../../etc/passwd', digest.slice(1), `${digest}0`, digest.toUpperCase(), `/${digest}`];
      for (const name of [...names, `${digest}.large`, `${digest}${SMALL}${SMALL}`, `${digest}\n`, `../${digest}`]) {
        await assert.rejects(async () => store.find(name), /not the name/, name);
        await assert.rejects(async () => store.read(name), /not the name/, name);
        await assert.rejects(async () => store.remove([name]), /not the name/, name);
        await assert.rejects(async () => store.keepSmall(name, Buffer.from('x')), /not the name/, name);
      }
      assert.deepEqual(arriving(bench.filesDir), []);
    });

    test('local files that nothing was written to for long are removed, younger ones stay', async () => {
      const [old, young] = [await receive(store, Buffer.from('old')), await receive(store, Buffer.from('young'))];
      age(old.path, 90 * MINUTE);
      assert.equal(await store.removeReceived(60 * MINUTE), 1);
      assert.deepEqual(arriving(bench.filesDir), [young.path]);
      await store.drop(young);
      assert.equal(await store.removeReceived(0), 0);
    });

    test('eight contents that come at once do not mix', async () => {
      const receivers = await Promise.all(Array.from({ length: 8 }, () => store.receive()));
      const pieces = receivers.map((_, n) => Array.from({ length: 60 }, () => randomBytes(20_000 + n * 5_000)));
      const all = await Promise.all(
        receivers.map(async (receiver, n) => {
          for (const piece of pieces[n] ?? []) await receiver.write(piece);
          return receiver.end();
        }),
      );
      await Promise.all(all.map((received) => store.keep(received)));
      await Promise.all(all.map((received) => store.drop(received)));
      for (const [n, { digest }] of all.entries()) {
        const whole = Buffer.concat(pieces[n] ?? []);
        assert.equal(digest, digestOf(whole));
        assert.ok((await bytesOf(store, digest)).equals(whole));
      }
    });

    const hasDescriptors = existsSync('/proc/self/fd');
    test('a reader that goes away leaves no file open', { skip: !hasDescriptors }, async () => {
      const name = await keep(store, large);
      const count = () => readdirSync('/proc/self/fd').length;
      const abandon = async (isBegun: boolean) => {
        const stream = await store.read(name);
        if (isBegun) await new Promise((resolve) => stream?.once('readable', resolve));
        stream?.once('error', () => {}).destroy();
      };
      await abandon(true);
      const atFirst = count();
      for (let n = 0; n < 30; n++) await abandon(n % 2 === 0);
      for (let tries = 0; count() > atFirst + 5 && tries < 100; tries++) await sleep(20);
      assert.ok(count() <= atFirst + 5, `${count()} against ${atFirst}`);
    });

    test('the list comes in pages, none of which is long', async () => {
      const names = Array.from({ length: 1_050 }, (_, n) => digestOf(Buffer.from(`many ${n}`)));
      for (const file of names.map(bench.fileOf)) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, 'x');
      }
      const pages = await pagesOf(store);
      assert.ok(pages.length > 1 && pages.every((page) => page.length <= 1_000));
      const found = pages.flat().map(({ name }) => name);
      assert.equal(new Set(found).size, found.length);
      assert.deepEqual(new Set(names).difference(new Set(found)), new Set());
    });
  });
}
