// Puts the contents of files into a backup, each once, and sees that they are what the register says.
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { FileStore } from '../files/file-store.ts';
import { Mistake } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import { ENTRY } from './backup-format.ts';
import { tarHeader, tarPadding } from './write-tar.ts';

/** Contents of up to so many bytes are read whole, so many at a time: a store far away is slow to begin with each. */
const SMALL = 1 << 20;
const AT_ONCE = 8;

export interface ContentsOptions {
  readonly store: FileStore;
  readonly modified: Date;
  /** Large contents are looked at before they are put in: one that is not what the register says can be left out. */
  readonly leaveOut: boolean;
}

/** Contents that are in the backup. */
export interface Contents {
  readonly digests: ReadonlySet<string>;
  bytes(): number;
  /** Entries of the contents that are not in yet; one that is not in the store as the register says is left out. */
  add(files: readonly StoredFile[]): AsyncGenerator<Uint8Array>;
}

export function contentsOf({ store, modified, leaveOut }: ContentsOptions): Contents {
  const digests = new Set<string>();
  let total = 0;
  const header = ({ digest, size }: StoredFile) => tarHeader(ENTRY.content(digest), size, modified);
  const isIn = ({ digest, size }: StoredFile) => {
    digests.add(digest);
    total += size;
  };

  async function readSmall(file: StoredFile): Promise<Buffer | null> {
    const content = await store.read(file.digest);
    if (content === null) return null;
    const bytes = await buffer(content);
    return sha256(bytes) === file.digest ? bytes : null;
  }

  async function* addLarge(file: StoredFile): AsyncGenerator<Uint8Array> {
    if ((await store.find(file.digest))?.size !== file.size) return;
    if (leaveOut && !(await isWhole(store, file))) return;
    const content = await store.read(file.digest);
    if (content === null) return;
    yield header(file);
    const hash = createHash('sha256');
    let size = 0;
    for await (const bytes of content as AsyncIterable<Buffer>) {
      hash.update(bytes);
      size += bytes.length;
      if (size > file.size) break;
      yield bytes;
    }
    if (size !== file.size || hash.digest('hex') !== file.digest) throw new Mistake(damaged(file, store));
    yield tarPadding(size);
    isIn(file);
  }

  return {
    digests,
    bytes: () => total,
    async *add(files) {
      const byDigest = new Map(files.filter(({ digest }) => !digests.has(digest)).map((file) => [file.digest, file]));
      const small = [...byDigest.values()].filter(({ size }) => size <= SMALL);
      for (let at = 0; at < small.length; at += AT_ONCE) {
        const some = small.slice(at, at + AT_ONCE);
        const read = await Promise.all(some.map(readSmall));
        for (const [index, file] of some.entries()) {
          const bytes = read[index] ?? null;
          if (bytes === null) continue;
          yield Buffer.concat([header(file), bytes, tarPadding(bytes.length)]);
          isIn(file);
        }
      }
      for (const file of byDigest.values()) if (file.size > SMALL) yield* addLarge(file);
    },
  };
}

async function isWhole(store: FileStore, { digest }: StoredFile): Promise<boolean> {
  const hash = createHash('sha256');
  for await (const bytes of (await store.read(digest)) ?? []) hash.update(bytes as Buffer);
  return hash.digest('hex') === digest;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Says that a content is not as the register says, and what can be done. */
export function damaged({ id, name, digest }: StoredFile, { place }: FileStore): string {
  return (
    `the content of file ${id} (${name}), ${digest}, is not in ${place} as the register says; ` +
    'to make the backup without it, add --allow-missing'
  );
}
