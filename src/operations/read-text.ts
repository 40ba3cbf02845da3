// A file's text piece by piece, in the encoding it has: UTF-8 with or without BOM, or CP932.
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { Mistake } from '../store/register.ts';

export const ENCODINGS = ['utf-8', 'cp932'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A piece of text, and how many bytes of the file it ends after. */
export interface TextPiece {
  readonly text: string;
  readonly bytes: number;
}

const PIECE = 256 * 1024;

/** The encoding of a file: the one asked for, after proof that it can be, else UTF-8 where the bytes are that, else CP932. */
export async function detectEncoding(file: string, asked?: Encoding): Promise<Encoding> {
  const start = await firstBytes(file, 3);
  const mark = start.toString('hex');
  if (/^(?:fffe|feff)/.test(mark)) {
    throw new Mistake(`${file} is in UTF-16, which is not read; save it as CSV in UTF-8 ("CSV UTF-8" in Excel)`);
  }
  if (asked === 'cp932') return asked;
  if (await isFileUtf8(file)) return 'utf-8';
  if (asked === 'utf-8' || mark === 'efbbbf')
    throw new Mistake(`${file} is not in UTF-8, though it ${asked ? 'was said to be' : 'begins as if it were'}`);
  return 'cp932';
}

/** The text without a byte order mark; bytes that the encoding does not have become U+FFFD. */
export async function* readText(file: string, encoding: Encoding): AsyncGenerator<TextPiece> {
  const decode = decoderOf(encoding);
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: PIECE }) as AsyncIterable<Buffer>) {
    const text = decode(chunk);
    yield { text: bytes === 0 && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, bytes: bytes + chunk.length };
    bytes += chunk.length;
  }
  const text = decode(null);
  if (text !== '') yield { text, bytes };
}

function decoderOf(encoding: Encoding): (chunk: Buffer | null) => string {
  if (encoding === 'utf-8') {
    const decoder = new StringDecoder('utf8');
    return (chunk) => (chunk === null ? decoder.end() : decoder.write(chunk));
  }
  const decoder = new TextDecoder('shift_jis');
  return (chunk) => (chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true }));
}

async function firstBytes(file: string, count: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function isFileUtf8(file: string): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: 4 * PIECE }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = wholeCharacters(bytes);
    if (!isUtf8(bytes.subarray(0, end))) return false;
    rest = bytes.subarray(end);
  }
  return isUtf8(rest);
}

/** Where the last character that may go on in the next chunk begins. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return bytes.length - back;
  }
  return bytes.length;
}
