// Sends a delivery to its webhook: one signed POST, without redirects, and what came of it.
import { createHmac } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { addressIn, isPrivate, judgingLookup, PrivateAddress } from './webhook-address.ts';

/** Milliseconds that a receiver has for its answer. */
export const ANSWER_WITHIN = 10_000;
/** Bytes of an answer that are read. */
const READ_OF_ANSWER = 500;

export interface WebhookRequest {
  readonly url: string;
  readonly secret: string;
  readonly event: string;
  /** ID of the delivery. */
  readonly delivery: number;
  /** JSON. */
  readonly body: string;
  readonly allowPrivate: boolean;
  /** Gives it up. */
  readonly signal?: AbortSignal;
}

export interface WebhookAnswer {
  /** HTTP status; null where there was no answer. */
  readonly status: number | null;
  /** Why it is not delivered; null where it is. */
  readonly error: string | null;
  /** The first bytes of the answer. */
  readonly text: string;
  readonly milliseconds: number;
}

/** `sha256=` and the HMAC-SHA256 of `timestamp.body` in hexadecimal. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/** Delivered is what was answered with 2xx. Never rejects. */
export async function sendWebhook(sent: WebhookRequest): Promise<WebhookAnswer> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(ANSWER_WITHIN);
  const signal = sent.signal === undefined ? timeout : AbortSignal.any([timeout, sent.signal]);
  const took = () => Math.round(performance.now() - started);
  try {
    const response = await post(sent, signal);
    const status = response.statusCode as number;
    const text = await beginningOf(response);
    const error = status >= 200 && status < 300 ? null : `answered ${status}`;
    return { status, error, text, milliseconds: took() };
  } catch (error) {
    const reason = timeout.aborted ? `no answer within ${ANSWER_WITHIN / 1_000} seconds` : messageOf(error);
    return { status: null, error: reason, text: '', milliseconds: took() };
  }
}

function post(
  { url, secret, event, delivery, body, allowPrivate }: WebhookRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const literal = addressIn(target);
    if (!allowPrivate && literal !== null && isPrivate(literal)) throw new PrivateAddress(literal);
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
      method: 'POST',
      // A connection of its own: one that was kept may have been closed by the receiver at this moment.
      agent: false,
      signal,
      ...(!allowPrivate && { lookup: judgingLookup }),
      headers: {
        'Content-Type': 'application/json;charset=UTF-8',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': 'Daicho',
        'Daicho-Event': event,
        'Daicho-Delivery': String(delivery),
        'Daicho-Timestamp': timestamp,
        'Daicho-Signature': signatureOf(secret, timestamp, body),
      },
    });
    request.once('response', resolve);
    // Also after the answer has begun, where the status is what counts.
    request.on('error', reject);
    request.end(body);
  });
}

/** The first bytes of an answer, as far as they come; the rest is not taken. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size >= READ_OF_ANSWER) break;
    }
  } catch {
    // Cut off: the status has come, and it is what counts.
  }
  response.destroy();
  return Buffer.concat(pieces).subarray(0, READ_OF_ANSWER).toString('utf8');
}

function messageOf(error: unknown): string {
  const { message, code, errors } = error as NodeJS.ErrnoException & { errors?: readonly Error[] };
  // Where several addresses of a name were tried, the message is in the errors of each.
  return (message || errors?.[0]?.message || code || String(error)).slice(0, 300);
}
