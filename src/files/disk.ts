// The store on disk: a file for each content, in a folder for each two first digits.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { link, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { contentPath, isContentName } from './content-path.ts';
import { hasCode } from './error-code.ts';
import { type ByteRange, type FileStore, type KeptContent, type Received, SMALL } from './file-store.ts';
import { makeFolder, namesIn, syncFolder } from './folder.ts';
import { receivingIn } from './receiving.ts';

/** Contents in a page of the list. */
const PAGE = 1_000;
/** Bytes read at a time. */
const READ = 256 * 1024;

/** The store in a folder, which need not be there yet. */
export function openDiskStore(folder: string): FileStore {
  const filesDir = resolve(folder);
  const receiving = receivingIn(filesDir, true);
  /** Makes a file that is on the disk the content of that name. */
  const put = async (file: string, name: string) => {
    const path = join(filesDir, contentPath(name));
    const shard = dirname(path);
    await makeFolder(shard);
    // A content that was long in coming is as young as any other from here on.
    const now = new Date();
    await utimes(file, now, now);
    // It gets a second name, for the first is there until it is dropped.
    const second = `${file}-${randomBytes(4).toString('hex')}`;
    try {
      await link(file, second);
      await rename(second, path);
    } finally {
      // Where the file has that name already, renaming does nothing.
      await rm(second, { force: true });
    }
    await syncFolder(shard);
  };

  return {
    ...receiving,
    place: filesDir,

    keep: ({ path, digest }: Received) => put(path, digest),

    async keepSmall(digest, bytes) {
      const receiver = await receiving.receive();
      await receiver.write(bytes);
      const received = await receiver.end();
      try {
        await put(received.path, digest + SMALL);
      } finally {
        await receiving.drop(received);
      }
    },

    find: async (name) => look(filesDir, name),

    async read(name: string, range?: ByteRange) {
      const stream = createReadStream(join(filesDir, contentPath(name)), {
        highWaterMark: READ,
        ...(range && { start: range.first, end: range.last }),
      });
      try {
        await once(stream, 'open');
        return stream;
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return null;
        throw error;
      }
    },

    async *list() {
      const page: string[] = [];
      for (const shard of await namesIn(filesDir)) {
        if (!/^[0-9a-f]{2}$/.test(shard)) continue;
        for (const name of await namesIn(join(filesDir, shard))) {
          if (!isContentName(name) || !name.startsWith(shard)) continue;
          page.push(name);
          if (page.length === PAGE) yield await lookAtAll(filesDir, page.splice(0));
        }
      }
      if (page.length > 0) yield await lookAtAll(filesDir, page);
    },

    async remove(names) {
      for (const path of names.map(contentPath)) await rm(join(filesDir, path), { force: true });
    },

    async close() {},
  };
}

async function look(filesDir: string, name: string): Promise<KeptContent | null> {
  try {
    const { size, mtimeMs } = await stat(join(filesDir, contentPath(name)));
    return { name, size, age: Math.max(0, Date.now() - mtimeMs) };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Without those that were removed meanwhile. */
async function lookAtAll(filesDir: string, names: readonly string[]): Promise<KeptContent[]> {
  const contents = await Promise.all(names.map((name) => look(filesDir, name)));
  return contents.filter((content) => content !== null);
}
