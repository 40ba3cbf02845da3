// The load tool for files: uploads contents that it makes as it sends them, or downloads one, and prints the times as JSON.
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { contentOf } from './content.ts';

interface Requests {
  readonly port: number;
  readonly path: string;
  /** Form parameters of each client, all of which send at once, each its next request when it has its answer. */
  readonly clients: readonly Readonly<Record<string, string>>[];
  /** Requests of a client that are measured, and those before. */
  readonly requests: number;
  readonly warmup: number;
  /** Size of a content. */
  readonly bytes: number;
}

export type Transfer =
  | (Requests & {
      readonly kind: 'upload';
      /** Name of the part that is the file. */
      readonly part: string;
      /** Number of the first content; the others count on. */
      readonly first: number;
      /** Text that must be in every answer. */
      readonly expected: string;
    })
  | (Requests & {
      readonly kind: 'download';
      /** SHA-256 that every content must have; null where only its size is looked at. */
      readonly digest: string | null;
    });

/** What was measured after the warm-up. */
export interface Transferred {
  readonly seconds: number;
  /** Of each request, from its first byte sent to the end of its answer. */
  readonly milliseconds: readonly number[];
  /** Of each client: the last answer to an upload. */
  readonly answers: readonly string[];
}

const HOST = '127.0.0.1';
const BOUNDARY = 'daicho-bench-3f1c9a7e5b2d';
const RECEIVE_BYTES = 256 << 10;

interface Answer {
  readonly status: number;
  readonly bytes: number;
  /** Of an upload. */
  readonly text: string;
  /** Of a download whose digest is asked for. */
  readonly digest: string | null;
}

interface Client {
  /** Sends pieces as fast as they are taken and resolves with the answer. */
  ask(pieces: Iterable<Buffer>): Promise<Answer>;
  close(): void;
}

const transfer = JSON.parse(process.argv[2] ?? '') as Transfer;
let contents = transfer.kind === 'upload' ? transfer.first : 0;

function* requestOf(parameters: Readonly<Record<string, string>>): Generator<Buffer> {
  const head = (type: string, length: number) =>
    `POST ${transfer.path} HTTP/1.1\r\nHost: ${HOST}:${transfer.port}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
  if (transfer.kind === 'download') {
    const body = new URLSearchParams(parameters).toString();
    yield Buffer.from(head('application/x-www-form-urlencoded', body.length) + body);
    return;
  }
  const fields = Object.entries(parameters).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${transfer.part}"; filename="bench.bin"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n';
  const before = Buffer.from(fields.join('') + file);
  const after = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const length = before.length + transfer.bytes + after.length;
  yield Buffer.concat([Buffer.from(head(`multipart/form-data; boundary=${BOUNDARY}`, length)), before]);
  yield* contentOf(contents++, transfer.bytes);
  yield after;
}

function openClient(): Client {
  let head = '';
  let remaining: number | null = null;
  let bytes = 0;
  let text = '';
  let hash: Hash | null = null;
  let settle: PromiseWithResolvers<Answer> | null = null;

  const socket = connect({
    host: HOST,
    port: transfer.port,
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(RECEIVE_BYTES),
      callback: (length, buffer) => {
        receive((buffer as Buffer).subarray(0, length));
        return true;
      },
    },
  });
  socket.on('error', (error) => settle?.reject(error));
  socket.on('close', () => settle?.reject(new Error(`connection closed ${bytes} bytes into the answer ${head}`)));

  function receive(received: Buffer): void {
    let body = received;
    if (remaining === null) {
      const before = head.length;
      head += received.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      head = head.slice(0, end);
      remaining = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
      if (Number.isNaN(remaining)) {
        socket.destroy(new Error(`answer without a length: ${head}`));
        return;
      }
      body = received.subarray(end + 4 - before);
    }
    remaining -= body.length;
    bytes += body.length;
    if (transfer.kind === 'upload') text += body.toString('latin1');
    hash?.update(body);
    if (remaining > 0) return;
    settle?.resolve({ status: Number(head.slice(9, 12)), bytes, text, digest: hash?.digest('hex') ?? null });
  }

  async function send(pieces: Iterable<Buffer>): Promise<void> {
    // Small pieces go together with the next large one.
    socket.cork();
    for (const piece of pieces) {
      if (socket.write(piece)) continue;
      socket.uncork();
      await once(socket, 'drain');
      socket.cork();
    }
    socket.uncork();
  }

  const ask = async (pieces: Iterable<Buffer>) => {
    head = '';
    text = '';
    bytes = 0;
    remaining = null;
    hash = transfer.kind === 'download' && transfer.digest !== null ? createHash('sha256') : null;
    settle = Promise.withResolvers();
    const { promise } = settle;
    await Promise.all([send(pieces), promise]);
    settle = null;
    return promise;
  };
  return { ask, close: () => socket.destroy() };
}

/** Throws where an answer is not what it must be. */
function check(answer: Answer): void {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  if (transfer.kind === 'upload') {
    if (!answer.text.includes(transfer.expected)) throw new Error(`no ${transfer.expected} in ${answer.text}`);
    return;
  }
  if (answer.bytes !== transfer.bytes) throw new Error(`${answer.bytes} bytes instead of ${transfer.bytes}`);
  if (answer.digest !== transfer.digest) throw new Error(`content ${answer.digest} instead of ${transfer.digest}`);
}

const milliseconds: number[] = [];
const answers: string[] = [];
const clients = transfer.clients.map((parameters) => ({ parameters, client: openClient() }));

async function askAll(requests: number): Promise<void> {
  const each = clients.map(async ({ parameters, client }, i) => {
    for (let n = 0; n < requests; n++) {
      const from = performance.now();
      const answer = await client.ask(requestOf(parameters));
      milliseconds.push(performance.now() - from);
      check(answer);
      answers[i] = answer.text;
    }
  });
  await Promise.all(each);
}

await askAll(transfer.warmup);
milliseconds.length = 0;
const from = performance.now();
await askAll(transfer.requests);
const seconds = (performance.now() - from) / 1000;
const transferred: Transferred = { seconds, milliseconds, answers };
console.log(JSON.stringify(transferred));
for (const { client } of clients) client.close();
