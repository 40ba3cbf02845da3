// The load tool: sends prebuilt requests over keep-alive connections, one at a time on each, and prints rates and times as JSON.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';

/** What one run measured; times in milliseconds. */
export interface Measured {
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
  /** Answers that were not 200 or did not begin with the status OK, and connections lost. */
  readonly errors: number;
  /** The first of the errors, or ''. */
  readonly firstError: string;
  /** Bytes of a body, on average. */
  readonly bodyBytes: number;
}

const HOST = '127.0.0.1';
const STATUS_OK = '"rkwa_status":"OK"';
const STATUS_WITHIN = 48;
const RECEIVE_BYTES = 256 << 10;

const { values: options } = parseArgs({
  options: {
    port: { type: 'string' },
    path: { type: 'string', default: '/' },
    /** File of form-encoded bodies, one in a line. */
    bodies: { type: 'string' },
    connections: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '5' },
    warmup: { type: 'string', default: '1' },
    /** Text in the bodies that is replaced by a running number of as many digits, so that no two requests are the same. */
    stamp: { type: 'string', default: '' },
  },
});
const port = Number(options.port);
const requests = prebuilt(readFileSync(String(options.bodies), 'latin1'));

let next = 0;
let stamped = 0;
let ended = false;
let counting = false;
let latencies = new Float64Array(1 << 17);
let completed = 0;
let bodyBytes = 0;
let errors = 0;
let firstError = '';
const sockets = new Set<Socket>();

interface Prebuilt {
  readonly bytes: Buffer;
  /** Where the stamp is, or -1. */
  readonly stampAt: number;
}

function prebuilt(bodies: string): Prebuilt[] {
  return bodies
    .trimEnd()
    .split('\n')
    .map((body) => {
      const head =
        `POST ${options.path} HTTP/1.1\r\nHost: ${HOST}:${port}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`;
      const text = head + body;
      return { bytes: Buffer.from(text, 'latin1'), stampAt: options.stamp === '' ? -1 : text.indexOf(options.stamp) };
    });
}

function takeRequest(): Buffer {
  const request = requests[next] as Prebuilt;
  next = next + 1 === requests.length ? 0 : next + 1;
  if (request.stampAt >= 0) {
    const digits = String(++stamped).padStart(options.stamp.length, '0');
    request.bytes.write(digits, request.stampAt, 'latin1');
  }
  return request.bytes;
}

function record(milliseconds: number, bytes: number): void {
  if (completed === latencies.length) {
    const wider = new Float64Array(latencies.length * 2);
    wider.set(latencies);
    latencies = wider;
  }
  latencies[completed++] = milliseconds;
  bodyBytes += bytes;
}

function failed(reason: string): void {
  errors++;
  if (firstError === '') firstError = reason.slice(0, 400);
}

// What the next byte of a connection belongs to.
const HEAD = 0;
const BODY = 1;
const CHUNK_SIZE = 2;
const CHUNK_DATA = 3;
const CHUNK_END = 4;
const TRAILER = 5;

function openConnection(): void {
  let state = HEAD;
  let headText = '';
  let remaining = 0;
  let chunkSize = '';
  let bodyRead = 0;
  let statusCode = 0;
  let opening = '';
  let sentAt = 0;

  const socket = connect({
    host: HOST,
    port,
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(RECEIVE_BYTES),
      callback: (length, buffer) => {
        receive(buffer as Buffer, length);
        return true;
      },
    },
  });
  sockets.add(socket);
  socket.on('connect', send);
  socket.on('error', (error) => {
    if (!ended) failed(error.message);
  });
  socket.on('close', () => {
    sockets.delete(socket);
    if (ended) return;
    failed(`connection closed in state ${state}: ${headText}`);
    setTimeout(openConnection, 10);
  });

  function send(): void {
    if (ended) return;
    sentAt = performance.now();
    socket.write(takeRequest());
  }

  function finishAnswer(): void {
    const took = performance.now() - sentAt;
    if (statusCode !== 200 || !opening.includes(STATUS_OK)) failed(`${statusCode} ${opening}`);
    else if (counting) record(took, bodyRead);
    state = HEAD;
    send();
  }

  function startBody(head: string): void {
    statusCode = Number(head.slice(9, 12));
    opening = '';
    bodyRead = 0;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length !== null) {
      remaining = Number(length[1]);
      state = BODY;
      if (remaining === 0) finishAnswer();
    } else if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      chunkSize = '';
      state = CHUNK_SIZE;
    } else {
      failed(`answer without a length: ${head}`);
      socket.destroy();
    }
  }

  /** Passes over body bytes; returns where they end. */
  function readBody(buffer: Buffer, at: number, length: number): number {
    const taken = Math.min(remaining, length - at);
    if (opening.length < STATUS_WITHIN) {
      opening += buffer.toString('latin1', at, at + Math.min(taken, STATUS_WITHIN - opening.length));
    }
    bodyRead += taken;
    remaining -= taken;
    return at + taken;
  }

  function receive(buffer: Buffer, length: number): void {
    let at = 0;
    while (at < length && !ended) {
      if (state === HEAD) {
        const before = headText.length;
        headText += buffer.toString('latin1', at, Math.min(length, at + 4096));
        const end = headText.indexOf('\r\n\r\n');
        if (end < 0) {
          at = Math.min(length, at + 4096);
          continue;
        }
        at += end + 4 - before;
        const head = headText.slice(0, end);
        headText = '';
        startBody(head);
      } else if (state === BODY) {
        at = readBody(buffer, at, length);
        if (remaining === 0) finishAnswer();
      } else if (state === CHUNK_DATA) {
        at = readBody(buffer, at, length);
        if (remaining === 0) state = CHUNK_END;
      } else {
        const byte = buffer[at++] as number;
        if (byte === 0x0d) continue;
        if (byte !== 0x0a) {
          chunkSize += String.fromCharCode(byte);
        } else if (state === CHUNK_SIZE) {
          remaining = Number.parseInt(chunkSize, 16);
          state = remaining === 0 ? TRAILER : CHUNK_DATA;
          chunkSize = '';
        } else if (state === CHUNK_END) {
          state = CHUNK_SIZE;
        } else if (chunkSize === '') {
          finishAnswer();
        } else {
          chunkSize = '';
        }
      }
    }
  }
}

const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

for (let i = 0; i < Number(options.connections); i++) openConnection();
await wait(Number(options.warmup));
counting = true;
const from = performance.now();
await wait(Number(options.seconds));
ended = true;
const seconds = (performance.now() - from) / 1000;
for (const socket of sockets) socket.destroy();

const sorted = latencies.subarray(0, completed).sort();
const quantile = (share: number) => sorted[Math.min(completed - 1, Math.floor(completed * share))] ?? 0;
const measured: Measured = {
  requestsPerSecond: completed / seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  requests: completed,
  errors,
  firstError,
  bodyBytes: completed === 0 ? 0 : bodyBytes / completed,
};
console.log(JSON.stringify(measured));
