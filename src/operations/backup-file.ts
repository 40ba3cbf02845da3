// The file of a backup: comes to be there whole or not at all; compressed as its name says, read as its first bytes say.
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { syncFolder } from '../files/folder.ts';

export type Compression = 'none' | 'gzip' | 'zstd';

/** How a file of that name is compressed; null where its name does not say it. */
export function compressionOf(file: string): Compression | null {
  if (file === '-' || file.endsWith('.tar')) return 'none';
  if (/\.(?:tar\.gz|tgz)$/.test(file)) return 'gzip';
  return /\.(?:tar\.zst|tzst)$/.test(file) ? 'zstd' : null;
}

/** Bytes that may wait to be compressed: the next part is read meanwhile. */
const WAITING = 8 << 20;

function compressor(compression: Exclude<Compression, 'none'>) {
  const usual = { writableHighWaterMark: WAITING, chunkSize: 1 << 18 };
  if (compression === 'gzip') return createGzip({ ...usual, level: 6 } as object);
  const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
  return createZstdCompress({ ...usual, params } as object);
}

/** Writes a backup. The file is there, past all caches, when this resolves; where it throws nothing has changed. */
export async function writeBackupFile(
  file: string,
  compression: Compression,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<{ readonly size: number }> {
  const path = resolve(file);
  const arriving = `${path}.${randomBytes(4).toString('hex')}.part`;
  const handle = await open(arriving, 'wx', 0o600);
  let size = 0;
  const sink = new Writable({
    highWaterMark: 1 << 20,
    write(chunk: Buffer, _, done) {
      size += chunk.length;
      handle.writeFile(chunk).then(() => done(), done);
    },
  });
  try {
    try {
      if (compression === 'none') await pipeline(bytes, sink, { signal });
      else await pipeline(bytes, compressor(compression), sink, { signal });
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(arriving, path);
  } catch (error) {
    await rm(arriving, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
  return { size };
}

/** Bytes of the first four, by which compressed files are known. */
const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The bytes of a backup, decompressed; `-` is standard input. */
export async function* readBackupFile(file: string): AsyncGenerator<Uint8Array> {
  const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 18 });
  const iterator = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < ZSTD.length) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    head = Buffer.concat([head, value as Buffer]);
  }
  const all = async function* () {
    yield head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value as Buffer;
  };
  try {
    if (head.subarray(0, 2).equals(GZIP)) yield* decompressed(all(), createGunzip({ chunkSize: 1 << 18 }));
    else if (head.subarray(0, 4).equals(ZSTD)) yield* decompressed(all(), createZstdDecompress({ chunkSize: 1 << 18 }));
    else yield* all();
  } finally {
    source.destroy();
  }
}

async function* decompressed(
  bytes: AsyncIterable<Buffer>,
  decompressor: ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>,
): AsyncGenerator<Buffer> {
  const feeding = pipeline(bytes, decompressor);
  // Whoever reads gets its error.
  feeding.catch(() => {});
  for await (const piece of decompressor) yield piece as Buffer;
  await feeding;
}
