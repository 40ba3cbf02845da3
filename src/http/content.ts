// Replies with a file: whole, a range of it, or that the client has it already (RFC 9110, 13 and 14).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { refuse } from '../errors.ts';
import type { ByteRange } from '../files/file-store.ts';
import type { Content } from '../operations/answer.ts';
import { attachment } from './disposition.ts';
import { release } from './release.ts';

/** Media types are two tokens; none of these is one that a browser would run or render as a page of this server. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
const RUNS = /html|(?:^|[/+.-])(?:xml|xsl)(?:$|[+.-])|(?:java|ecma|j|live|vb)script|^multipart\//i;

/**
 * Resolves when the file is handed over or the client is gone; rejects with what stopped it, before a header was sent or,
 * if midway, with the connection ended. Ranges and conditions count although the method is POST: a download changes nothing,
 * and whoever asks for a file again or for the rest of it knows that it is one.
 */
export async function replyContent(
  request: IncomingMessage,
  response: ServerResponse,
  content: Content,
): Promise<void> {
  const { headers } = request;
  // Answers to the same request differ in who may see them, and a right can be taken away: always asked about, never shared.
  const validators = ['ETag', content.etag, 'Cache-Control', 'private, no-cache'];
  if (names(headers['if-none-match'], content.etag)) {
    response.writeHead(304, validators);
    response.end();
    return;
  }
  const ifRange = headers['if-range'];
  const asked = ifRange === undefined || ifRange === content.etag ? headers.range : undefined;
  const range = rangeOf(asked, content.size);
  if (range === 'not satisfiable') {
    // Goes out with the refusal.
    response.setHeader('Content-Range', `bytes */${content.size}`);
    throw refuse('range_not_satisfiable', { limit: content.size });
  }
  const source = await content.read(range);
  // It went away meanwhile, and no event will say so any more.
  if (response.destroyed) {
    source.destroy();
    return;
  }
  const length = range === undefined ? content.size : range.last - range.first + 1;
  const part = range === undefined ? [] : ['Content-Range', `bytes ${range.first}-${range.last}/${content.size}`];
  response.writeHead(range === undefined ? 200 : 206, [
    ...['Content-Type', typeOf(content.type), 'Content-Length', String(length), 'Accept-Ranges', 'bytes'],
    ...['Content-Disposition', attachment(content.name), 'X-Content-Type-Options', 'nosniff'],
    ...['Content-Security-Policy', 'sandbox'],
    ...validators,
    ...part,
  ]);
  await send(source, response, length);
}

/** The type that is told: one that browsers run, or none at all, is told as bytes. */
function typeOf(type: string): string {
  return MEDIA_TYPE.test(type) && !RUNS.test(type) ? type : 'application/octet-stream';
}

/** Whether If-None-Match names the ETag; weak ones are compared too (RFC 9110, 13.1.2). */
function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || (header.match(/"[^"]*"/g)?.includes(etag) ?? false);
}

/** The one range that is asked for; undefined for the whole: also where several are, or what is no range (RFC 9110, 14.2). */
function rangeOf(header: string | undefined, size: number): ByteRange | 'not satisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? ['', '', ''];
  if (from === '' && to === '') return undefined;
  if (from === '') {
    if (Number(to) === 0) return 'not satisfiable';
    // The last bytes of nothing are all of it.
    return size === 0 ? undefined : { first: Math.max(0, size - Number(to)), last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first < size ? { first, last } : 'not satisfiable';
}

/** Sends the bytes as fast as the client takes them. A source that gives fewer or more than were announced is a fault. */
function send(source: Readable, response: ServerResponse, length: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = length;
    // Bytes whose writing failed may still be in the system's hands.
    const written = (bytes: Uint8Array) => (error?: Error | null) => {
      if (!error) release(bytes);
    };
    // No end that looks like one: the client sees that bytes are missing.
    const fail = (error: Error) => {
      source.destroy();
      response.destroy();
      reject(error);
    };
    source.on('data', (bytes: Uint8Array) => {
      left -= bytes.length;
      if (left < 0) fail(new Error(`a content has more than its ${length} bytes`));
      else if (!response.write(bytes, written(bytes))) source.pause();
    });
    source.on('end', () => {
      if (left === 0) response.end();
      else fail(new Error(`${left} of the ${length} bytes of a content are missing`));
    });
    source.on('error', fail);
    source.on('close', () => {
      if (!source.readableEnded && !response.closed)
        fail(new Error(`${left} of the ${length} bytes of a content are missing`));
    });
    response.on('drain', () => source.resume());
    // Comes when all is handed over, and when the client went away.
    response.on('close', () => {
      source.destroy();
      resolve();
    });
  });
}
