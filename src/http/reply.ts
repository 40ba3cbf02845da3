// Writes an answer to the socket: status, headers, bytes (D33-D35).
import type { ServerResponse } from 'node:http';
import type { Answer } from '../operations/answer.ts';
import { drained } from '../operations/drained.ts';
import { envelopeOf, type Refused } from '../operations/refused.ts';
import { sayLast } from './answer-order.ts';
import { replyContent } from './content.ts';
import type { Lingering } from './linger.ts';

/** Exactly this (D35). */
const CONTENT_TYPE = 'application/json;charset=UTF-8';
const LINES_TYPE = 'application/x-ndjson;charset=UTF-8';

/** Writes an answer; a long one is handed over when the promise resolves, which rejects with what stopped it. */
export function reply(response: ServerResponse, answer: Answer): Promise<void> | undefined {
  switch (answer.kind) {
    case 'text':
      replyWith(response, Buffer.from(answer.text));
      return undefined;
    case 'records':
      replyWith(response, join(answer.open, answer.records, answer.close));
      return undefined;
    case 'pages':
      return replyInPages(response, answer);
    case 'lines':
      return replyInLines(response, answer.lines);
    case 'content':
      return replyContent(response.req, response, answer);
  }
}

async function replyInPages(
  response: ServerResponse,
  { open, pages, close }: Answer & { kind: 'pages' },
): Promise<void> {
  response.writeHead(200, ['Content-Type', CONTENT_TYPE]);
  response.write(open);
  for await (const page of pages) {
    if (response.destroyed) return;
    if (!response.write(page)) await drained(response);
  }
  response.end(close());
}

async function replyInLines(response: ServerResponse, lines: AsyncIterable<string | Uint8Array>): Promise<void> {
  response.writeHead(200, ['Content-Type', LINES_TYPE]);
  for await (const some of lines) {
    // What is read on is done all the same: who sent the lines may have gone.
    if (!response.destroyed && !response.write(some)) await drained(response);
  }
  response.end();
}

/**
 * Writes a refusal; the HTTP status is 200 where the operator wants it so (D33). A client that is still sending its request gets
 * the time to read the answer: were the connection closed at once, it would be reset under its hands.
 */
export function replyRefused(
  response: ServerResponse,
  refused: Refused,
  always200: boolean,
  { passBy }: Lingering,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = Buffer.from(envelopeOf(refused));
  const { req: request } = response;
  const headers = ['Content-Type', CONTENT_TYPE, 'Content-Length', String(body.length), 'X-Error-Code', refused.code];
  if (refused.code === 'wrong_method') headers.push('Allow', 'POST');
  const isSending = (request.readableDidRead || refused.close) && !request.complete;
  if (refused.close || isSending) sayLast(response);
  response.writeHead(always200 ? 200 : refused.status, headers);
  if (!isSending) {
    response.end(body);
    return;
  }
  response.write(body);
  passBy(request, () => response.end());
}

function replyWith(response: ServerResponse, body: Uint8Array): void {
  response.writeHead(200, ['Content-Type', CONTENT_TYPE, 'Content-Length', String(body.length)]);
  response.end(body);
}

function join(open: string, records: Uint8Array, close: string): Buffer {
  const openLength = Buffer.byteLength(open);
  const whole = Buffer.allocUnsafe(openLength + records.length + Buffer.byteLength(close));
  whole.write(open, 0);
  whole.set(records, openLength);
  whole.write(close, openLength + records.length);
  return whole;
}
