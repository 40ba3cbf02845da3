// A ZIP archive on disk: its directory, and its files as streams.
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { Mistake } from '../store/register.ts';

export interface ZipArchive {
  has(name: string): boolean;
  /** A file's content; `onRead` is told what share of it has been read by then. */
  read(name: string, onRead?: (share: number) => void): AsyncIterable<Buffer>;
}

interface Entry {
  readonly packed: number;
  readonly offset: number;
  readonly method: number;
  readonly isEncrypted: boolean;
}

/** The end of an archive with the longest comment it can have. */
const END = 22;
const LONGEST_END = END + 0xffff;
const HEAD = 30;
const STORED = 0;
const DEFLATED = 8;
/** Bytes of a directory; one of more is none of a workbook. */
const MOST_DIRECTORY = 64 << 20;

/** Reads the directory of an archive; a Mistake where it cannot. */
export async function openZip(path: string): Promise<ZipArchive> {
  const handle = await open(path);
  try {
    const entries = await readDirectory(handle, path);
    return {
      has: (name) => entries.has(name),
      read: (name, onRead = () => {}) => readEntry(path, name, entries.get(name), onRead),
    };
  } finally {
    await handle.close();
  }
}

const broken = (path: string, what: string) => new Mistake(`${path} is not a whole XLSX file: ${what}`);

async function readDirectory(handle: FileHandle, path: string): Promise<ReadonlyMap<string, Entry>> {
  const { size } = await handle.stat();
  const start = Math.max(0, size - LONGEST_END);
  const tail = await bytesAt(handle, start, size - start, path);
  const at = tail.lastIndexOf('PK\x05\x06', tail.length - END, 'latin1');
  if (at < 0) throw broken(path, 'it has no directory');
  const end = tail.subarray(at);
  let [length, offset] = [end.readUInt32LE(12), end.readUInt32LE(16)];
  if (offset === 0xffff_ffff || length === 0xffff_ffff) {
    // Where numbers of 32 bits are too small, a locator before the end says where the larger ones are.
    const locator = at < 20 ? -1 : tail.indexOf('PK\x06\x07', at - 20, 'latin1');
    if (locator !== at - 20) throw broken(path, 'its directory is nowhere');
    const large = await bytesAt(handle, Number(tail.readBigUInt64LE(locator + 8)), 56, path);
    [length, offset] = [Number(large.readBigUInt64LE(40)), Number(large.readBigUInt64LE(48))];
  }
  if (length > MOST_DIRECTORY) throw broken(path, 'its directory is too large');
  return entriesOf(await bytesAt(handle, offset, length, path), path);
}

function entriesOf(directory: Buffer, path: string): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw broken(path, 'its directory is damaged');
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) =>
      directory.readUInt16LE(at + place),
    ) as [number, number, number];
    const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
    const sizes = [24, 20, 42].map((place) => directory.readUInt32LE(at + place));
    const [, packed, offset] = largeSizes(sizes, extra) as [number, number, number];
    const name = directory.toString('utf8', at + 46, at + 46 + nameLength).replaceAll('\\', '/');
    const isEncrypted = (directory.readUInt16LE(at + 8) & 1) === 1;
    entries.set(name, { packed, offset, method: directory.readUInt16LE(at + 10), isEncrypted });
    at += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

/** Sizes and place; those that have no room in 32 bits stand in the extra field, in this order. */
function largeSizes(sizes: readonly number[], extra: Buffer): readonly number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let from = at + 4;
    return sizes.map((size) => {
      if (size !== 0xffff_ffff || from + 8 > extra.length) return size;
      from += 8;
      return Number(extra.readBigUInt64LE(from - 8));
    });
  }
  return sizes;
}

async function* readEntry(
  path: string,
  name: string,
  entry: Entry | undefined,
  onRead: (share: number) => void,
): AsyncGenerator<Buffer> {
  if (entry === undefined) throw broken(path, `${name} is missing`);
  const { packed, offset, method, isEncrypted } = entry;
  if (isEncrypted || (method !== STORED && method !== DEFLATED))
    throw broken(path, `${name} is encrypted, or packed in a way that is not read`);
  const handle = await open(path);
  const head = await bytesAt(handle, offset, HEAD, path).finally(() => handle.close());
  const start = offset + HEAD + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (packed === 0) return;
  const source = createReadStream(path, { start, end: start + packed - 1, highWaterMark: 1 << 17 });
  const content = method === STORED ? source : source.pipe(createInflateRaw({ chunkSize: 1 << 17 }));
  source.on('error', (error) => content.destroy(error));
  try {
    for await (const piece of content as AsyncIterable<Buffer>) {
      onRead(source.bytesRead / packed);
      yield piece;
    }
  } catch (error) {
    throw broken(path, `${name}: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

async function bytesAt(handle: FileHandle, position: number, length: number, path: string): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw broken(path, 'it ends too early');
  return buffer;
}
