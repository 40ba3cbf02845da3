// A text as a name of a file or folder that every system takes: it never leads anywhere, and two texts have two names.
import { createHash } from 'node:crypto';

/** Bytes that a name may have on every file system, less room for a hash. */
const MOST_BYTES = 200;
/** What some system does not take in a name, or not at its ends; `%` because it is what stands for them. */
const UNSAFE = /[\p{Cc}\p{Cs}"%*/:<>?\\|]|^[.~\s-]|[.\s]$/gu;
/** Names of devices on Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Unsafe characters as `%XX` of their UTF-8; a long one is cut before its extension, and has a hash of the whole. */
export function pathPart(text: string): string {
  const safe = (DEVICE.test(text) ? `%${text}` : text).replace(UNSAFE, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  if (safe === '') return '%';
  if (Buffer.byteLength(safe) <= MOST_BYTES) return safe;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(safe)?.[0] ?? '';
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  let start = safe.slice(0, MOST_BYTES - extension.length - hash.length - 2);
  while (Buffer.byteLength(start) > MOST_BYTES - extension.length - hash.length - 2) start = start.slice(0, -1);
  return `${start.toWellFormed()}%${hash}${extension}`;
}
