// The contents of the bench's files: made of the same block again and again, yet no two are the same.
import { createCipheriv, createHash } from 'node:crypto';

const BLOCK = 1 << 20;
const STAMP = 16;

/** Bytes without a pattern, the same in every run. */
const filler = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(BLOCK));

/** A content in pieces, none of which is held; each block begins with the content's number and its own. */
export function* contentOf(number: number, bytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes; at += BLOCK) {
    const length = Math.min(BLOCK, bytes - at);
    const stamp = Buffer.alloc(Math.min(STAMP, length));
    stamp.write(`${number} ${at / BLOCK} `.slice(0, stamp.length), 'latin1');
    yield stamp;
    yield filler.subarray(stamp.length, length);
  }
}

/** SHA-256 of a content in hexadecimal. */
export function digestOf(number: number, bytes: number): string {
  const hash = createHash('sha256');
  for (const piece of contentOf(number, bytes)) hash.update(piece);
  return hash.digest('hex');
}
