// Files → a ZIP archive as a stream: sizes stand behind each file, since they are known only then.
import { crc32, createDeflateRaw } from 'node:zlib';
import { Mistake } from '../store/register.ts';
import { drained } from './drained.ts';
import type { Piece } from './exported.ts';

/** A file of an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly content: AsyncIterable<Piece> | Iterable<Piece>;
}

/** Sizes and places have 32 bits; what needs more is an extension that not every program reads. */
const MOST_BYTES = 0xffff_ffff;
/** 1980-01-01 as MS-DOS writes it: an archive of the same files is the same. */
const DAY = 0x21;
/** Version 2.0, deflated, sizes behind the content, names in UTF-8. */
const VERSION = 20;
const FLAGS = 0x0808;
const DEFLATED = 8;
/** Higher levels take longer than all else of an export, and make sheets hardly smaller. */
const LEVEL = 3;

interface Entry {
  readonly name: Buffer;
  readonly offset: number;
  crc: number;
  size: number;
  packed: number;
}

/** The archive, piece by piece; files are asked for their content in order. */
export async function* zipped(files: readonly ZippedFile[]): AsyncGenerator<Buffer> {
  const entries: Entry[] = [];
  let offset = 0;
  for (const { name, content } of files) {
    const entry: Entry = { name: Buffer.from(name), offset, crc: 0, size: 0, packed: 0 };
    entries.push(entry);
    const head = headOf(entry);
    yield head;
    for await (const piece of deflated(content, entry)) {
      entry.packed += piece.length;
      yield piece;
    }
    const tail = numbers([0x08074b50, 4], [entry.crc, 4], [entry.packed, 4], [entry.size, 4]);
    yield tail;
    offset += head.length + entry.packed + tail.length;
    if (Math.max(entry.size, offset) > MOST_BYTES)
      throw new Mistake('the file would be larger than 4 GiB; write CSV, or a part of the records with --where');
  }
  const directory = Buffer.concat(entries.map(directoryOf));
  yield directory;
  const count = entries.length;
  yield numbers([0x06054b50, 4], [0, 4], [count, 2], [count, 2], [directory.length, 4], [offset, 4], [0, 2]);
}

/** The content deflated; its sum and size are noted in the entry. */
async function* deflated(content: ZippedFile['content'], entry: Entry): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw({ level: LEVEL, chunkSize: 1 << 17 });
  const feed = async () => {
    for await (const piece of content) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      entry.crc = crc32(bytes, entry.crc);
      entry.size += bytes.length;
      if (!deflate.write(bytes)) await drained(deflate);
      if (deflate.destroyed) return;
    }
    deflate.end();
  };
  // An error of the content ends the stream, and comes out where it is read.
  feed().catch((error: Error) => deflate.destroy(error));
  yield* deflate as AsyncIterable<Buffer>;
}

function headOf({ name }: Entry): Buffer {
  return Buffer.concat([
    numbers([0x04034b50, 4], [VERSION, 2], [FLAGS, 2], [DEFLATED, 2], [0, 2], [DAY, 2]),
    numbers([0, 4], [0, 4], [0, 4], [name.length, 2], [0, 2]),
    name,
  ]);
}

function directoryOf({ name, offset, crc, size, packed }: Entry): Buffer {
  return Buffer.concat([
    numbers([0x02014b50, 4], [VERSION, 2], [VERSION, 2], [FLAGS, 2], [DEFLATED, 2], [0, 2], [DAY, 2]),
    numbers([crc, 4], [packed, 4], [size, 4], [name.length, 2], [0, 2], [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]),
    name,
  ]);
}

/** Numbers one after the other, each of so many bytes. */
function numbers(...list: readonly (readonly [number: number, bytes: number])[]): Buffer {
  const buffer = Buffer.alloc(list.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [number, bytes] of list) at = buffer.writeUIntLE(number, at, bytes);
  return buffer;
}
