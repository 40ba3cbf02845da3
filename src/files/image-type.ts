// What an image is by its first bytes.

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif' | 'image/svg+xml';

/** Media type → whether a content that begins so is one. */
const SIGNATURES: readonly (readonly [ImageType, (head: Buffer) => boolean])[] = [
  ['image/png', (head) => has(head, 0, '\x89PNG\r\n\x1a\n')],
  ['image/jpeg', (head) => has(head, 0, '\xff\xd8\xff')],
  ['image/gif', (head) => has(head, 0, 'GIF87a') || has(head, 0, 'GIF89a')],
  ['image/webp', (head) => has(head, 0, 'RIFF') && has(head, 8, 'WEBP')],
  ['image/avif', isAvif],
  ['image/svg+xml', isSvg],
];

/** The media type of an image; null for anything else. `head`: its first bytes, HEAD of them where it has so many. */
export function imageType(head: Uint8Array): ImageType | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  return SIGNATURES.find(([, begins]) => begins(bytes))?.[0] ?? null;
}

function has(head: Buffer, at: number, signature: string): boolean {
  return head.toString('latin1', at, at + signature.length) === signature;
}

/** A file of the ISO base media format that names AVIF among its brands: one of a HEIC photo does not. */
function isAvif(head: Buffer): boolean {
  if (head.length < 16 || !has(head, 4, 'ftyp')) return false;
  const end = Math.min(head.readUInt32BE(0), head.length);
  // The first brand is the major one; a version number stands between it and the others.
  for (let at = 8; at + 4 <= end; at += at === 8 ? 8 : 4) {
    if (has(head, at, 'avif') || has(head, at, 'avis')) return true;
  }
  return false;
}

/** What may stand before the root element: white space, a comment, an instruction, a document type. */
const PROLOG = /\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^[>]*(?:\[.*?\]\s*)?>/sy;
const ROOT = /<svg[\s/>]/y;

function isSvg(head: Buffer): boolean {
  // TextDecoder drops a byte order mark; what is no UTF-8 fits neither expression.
  const text = new TextDecoder().decode(head);
  PROLOG.lastIndex = 0;
  ROOT.lastIndex = 0;
  while (PROLOG.test(text)) ROOT.lastIndex = PROLOG.lastIndex;
  return ROOT.test(text);
}
