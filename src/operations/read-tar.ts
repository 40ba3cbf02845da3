// Reads a tar of regular files as it comes: every byte of it is looked at, and what is not as it was written is refused.
import { Mistake } from '../store/register.ts';
import { ABOUT_NEXT, checksumOf, HEADER, REGULAR, TAR_BLOCK, USTAR } from './write-tar.ts';

export interface TarEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** What `tarFile` was given; '' for none. */
  readonly comment: string;
  /** Read once, before the next entry is asked for. */
  readonly bytes: AsyncIterable<Buffer>;
}

/** The files of a tar, in order. Throws a `Mistake` where it is cut off or not one. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const pieces = piecesOf(source);
  let before = '';
  let comment = '';
  const inside = () => `at byte ${pieces.at()}${before === '' ? '' : `, behind ${before}`}`;
  const changed = () => new Mistake(`it is not a backup, or was changed, ${inside()}`);
  for (;;) {
    const header = await pieces.take(TAR_BLOCK);
    if (header.length < TAR_BLOCK) throw new Mistake(`it is cut off ${inside()}`);
    if (isZero(header)) break;
    const entry = readHeader(header);
    if (entry === null) throw changed();
    const { name, size, kind } = entry;
    const cutOff = () => new Mistake(`it is cut off at byte ${pieces.at()}, in ${name}`);
    if (kind === ABOUT_NEXT) {
      const about = size > TAR_BLOCK ? null : await pieces.take(size);
      comment = /^\d\d comment=(.*)\n$/.exec(about?.toString('latin1') ?? '')?.[1] ?? '';
      if (comment === '') throw changed();
    } else {
      let left = size;
      const bytes = async function* () {
        while (left > 0) {
          const piece = await pieces.next(left);
          if (piece.length === 0) throw cutOff();
          left -= piece.length;
          yield piece;
        }
      };
      yield { name, size, comment, bytes: bytes() };
      if (left > 0) throw new Error(`${name} was not read to its end`);
      comment = '';
      before = name;
    }
    const padding = await pieces.take((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
    if ((size + padding.length) % TAR_BLOCK !== 0) throw cutOff();
    if (!isZero(padding)) throw changed();
  }
  // A second empty block; a tape's worth of them is fine.
  const second = await pieces.take(TAR_BLOCK);
  if (second.length < TAR_BLOCK) throw new Mistake(`it is cut off ${inside()}`);
  if (!isZero(second)) throw changed();
  for (let piece = await pieces.next(TAR_BLOCK); piece.length > 0; piece = await pieces.next(TAR_BLOCK)) {
    if (!isZero(piece)) throw new Mistake(`something else follows its end, ${inside()}`);
  }
}

function readHeader(header: Buffer): (Pick<TarEntry, 'name' | 'size'> & { readonly kind: string }) | null {
  const textOf = ([offset, length]: readonly [number, number]) =>
    header.toString('latin1', offset, offset + length).split('\0', 1)[0] as string;
  if (header.toString('latin1', HEADER.magic[0], HEADER.magic[0] + USTAR.length) !== USTAR) return null;
  const kind = textOf(HEADER.kind);
  if (kind !== REGULAR && kind !== ABOUT_NEXT) return null;
  if (Number.parseInt(textOf(HEADER.checksum), 8) !== checksumOf(header)) return null;
  const prefix = textOf(HEADER.prefix);
  const isBinary = header[HEADER.size[0]] === 0x80;
  const size = isBinary ? Number(header.readBigUInt64BE(HEADER.size[0] + 4)) : Number.parseInt(textOf(HEADER.size), 8);
  if (!Number.isSafeInteger(size)) return null;
  return { name: `${prefix === '' ? '' : `${prefix}/`}${textOf(HEADER.name)}`, size, kind };
}

/** Bytes of a stream by number. */
function piecesOf(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  const next = async (most: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const { done, value } = await iterator.next();
      if (done === true) return rest;
      rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const piece = rest.subarray(0, most);
    rest = rest.subarray(piece.length);
    at += piece.length;
    return piece;
  };
  return {
    /** How many were taken. */
    at: () => at,
    /** At most so many; none only at the end. */
    next,
    /** So many; fewer only at the end. */
    async take(count: number): Promise<Buffer> {
      const taken: Buffer[] = [];
      for (let left = count; left > 0; ) {
        const piece = await next(left);
        if (piece.length === 0) break;
        left -= piece.length;
        taken.push(piece);
      }
      return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken);
    },
  };
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
