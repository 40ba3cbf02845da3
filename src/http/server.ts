// The HTTP door: a request to one of the two operations in, an envelope out, whatever comes.
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../config/log.ts';
import { Refusal, refuse } from '../errors.ts';
import { envelopeOf, refusedBy } from '../operations/refused.ts';
import { type Call, requestedLang, shown } from '../operations/request.ts';
import { type Store, Unavailable } from '../store/store.ts';
import { formTypeOf, parseForm } from './form.ts';
import { reply, replyRefused } from './reply.ts';
import { type Operation, type RouteOptions, routes } from './routes.ts';

export interface ServerOptions extends RouteOptions {
  /** Greatest size of a request body in bytes. */
  readonly maxBody: number;
  /** Every refusal is answered with HTTP status 200 (D33). */
  readonly always200: boolean;
}

/** A server over a store; not yet listening. */
export function createHttpServer(store: Store, options: ServerOptions, log: Log): Server {
  const operations = routes(options);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const started = performance.now();
    const call: Call = { lang: 'ja', problems: [] };
    void handle(request, response, call).then(
      () => log.debug('answered', () => summary(request, response, started)),
      (error: unknown) => {
        if (!(error instanceof Refusal)) logFault(log, request, error);
        replyRefused(response, refusedBy(error, call.lang), options.always200);
        log.debug('refused', () => summary(request, response, started));
      },
    );
  };
  // What Node would answer itself, without the envelope, comes here too: no Host, an Expect that nobody knows.
  const server = createServer({ noDelay: true, keepAliveTimeout: 65_000, requireHostHeader: false }, answer);
  server.on('checkExpectation', answer);

  async function handle(request: IncomingMessage, response: ServerResponse, call: Call): Promise<void> {
    if (request.headers.host === undefined && request.httpVersion !== '1.0') throw refuse('malformed_request');
    const operation = operationOf(request);
    const type = formTypeOf(request.headers);
    const body = await readBody(request, options.maxBody);
    const parsed = parseForm(type, request.headers, body, call.problems);
    const form = parsed instanceof Promise ? await parsed : parsed;
    call.lang = requestedLang(form) ?? call.lang;
    const answer = await operation(store, form, call);
    const replied = reply(response, answer);
    if (replied !== undefined) await replied;
  }

  function operationOf(request: IncomingMessage): Operation {
    const path = pathOf(request.url ?? '');
    const operation = operations.get(path);
    if (operation === undefined) throw refuse('unknown_path', { sent: shown(path) });
    if (request.method !== 'POST') throw refuse('wrong_method', { sent: request.method ?? '', limit: 'POST' });
    return operation;
  }

  server.on('connect', ({ method = '' }, socket) => {
    refuseConnection(refuse('wrong_method', { sent: method, limit: 'POST' }), socket as Socket, options.always200);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuseConnection(refuse('malformed_request'), socket as Socket, options.always200);
  });
  return server;
}

/** The path of a request target, which may be a whole address (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const address = target.startsWith('/') ? null : URL.parse(target);
  if (address !== null) return address.pathname;
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** The body of a request, whole; refuses one that is larger than `maxBody` bytes as soon as that is known. */
function readBody(request: IncomingMessage, maxBody: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => refuse('body_too_large', { limit: maxBody });
    if (Number(request.headers['content-length'] ?? 0) > maxBody) {
      reject(tooLarge());
      return;
    }
    let first: Buffer | null = null;
    let more: Buffer[] | null = null;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBody) {
        request.pause();
        reject(tooLarge());
      } else if (first === null) first = chunk;
      else {
        more ??= [first];
        more.push(chunk);
      }
    });
    request.on('end', () => resolve(more !== null ? Buffer.concat(more) : (first ?? Buffer.alloc(0))));
    request.on('error', () => reject(refuse('malformed_request')));
    request.on('close', () => {
      if (!request.complete) reject(refuse('malformed_request'));
    });
  });
}

/** Answers what is not HTTP, or not for us, then ends the connection. */
function refuseConnection(refusal: Refusal, socket: Socket, always200: boolean): void {
  const refused = refusedBy(refusal, 'ja');
  const body = envelopeOf(refused);
  const status = always200 ? 200 : refused.status;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...(refused.code === 'wrong_method' ? ['Allow: POST'] : []),
    'Content-Type: application/json;charset=UTF-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Error-Code: ${refused.code}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function logFault(log: Log, request: IncomingMessage, error: unknown): void {
  const path = (request.url ?? '').split('?')[0] ?? '';
  const { message, cause } = error as Error;
  if (error instanceof Unavailable) log.warn(message, () => ({ path, cause: String(cause) }));
  else log.error('a request failed', () => ({ path, error: (error as Error).stack ?? String(error) }));
}

/** What the log says of a request: nothing that was sent in it but its method and path. */
function summary(request: IncomingMessage, response: ServerResponse, started: number): Record<string, unknown> {
  return {
    method: request.method,
    path: (request.url ?? '').split('?')[0],
    status: response.statusCode,
    milliseconds: Math.round((performance.now() - started) * 100) / 100,
  };
}
