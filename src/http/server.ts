// The HTTP door: a request to one of the two operations in, an envelope out, whatever comes.
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../config/log.ts';
import { Refusal, refuse } from '../errors.ts';
import type { FileStore } from '../files/file-store.ts';
import { envelopeOf, refusedBy } from '../operations/refused.ts';
import { type Call, requestedLang, shown, type Upload } from '../operations/request.ts';
import { type Store, Unavailable } from '../store/store.ts';
import { begin, endAfterAnswers, isEnding } from './answer-order.ts';
import { BODY_TIME, type BodyTime, inTime } from './body-time.ts';
import { type FormLimits, formTypeOf, type Intake, readForm, refuseAnnounced } from './form.ts';
import { lingering } from './linger.ts';
import { reply, replyRefused } from './reply.ts';
import { type Operation, type RouteOptions, routes } from './routes.ts';

export interface ServerOptions extends RouteOptions, FormLimits {
  /** Every refusal is answered with HTTP status 200 (D33). */
  readonly always200: boolean;
}

/** Milliseconds that a client may take to send a whole request: less than a sweep leaves what has arrived. */
const REQUEST_TIMEOUT = 60 * 60_000;

/** A server over a store and a file store; not yet listening. */
export function createHttpServer(
  store: Store,
  files: FileStore,
  options: ServerOptions,
  log: Log,
  time: BodyTime = BODY_TIME,
): Server {
  const operations = routes(store, files, options);
  const refusedClients = lingering();
  const answer = (request: IncomingMessage, response: ServerResponse, isWaiting = false) => {
    if (!begin(response)) return;
    const started = performance.now();
    const uploads: Upload[] = [];
    const call: Call = { lang: 'ja', problems: [], uploads };
    void handle(request, response, call, uploads, isWaiting).then(
      () => log.debug('answered', () => summary(request, response, started)),
      (error: unknown) => {
        if (!(error instanceof Refusal)) logFault(log, request, error);
        replyRefused(response, refusedBy(error, call.lang), options.always200, refusedClients);
        log.debug('refused', () => summary(request, response, started));
      },
    );
  };
  // What Node would answer itself, without the envelope, comes here too: no Host, an Expect that nobody knows.
  const settings = {
    noDelay: true,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
    requestTimeout: REQUEST_TIMEOUT,
  };
  const server = createServer(settings, (request, response) => answer(request, response));
  server.on('checkExpectation', (request, response) => answer(request, response));
  // The client waits with a large body until it is told to send it, which it is not where it is refused.
  server.on('checkContinue', (request, response) => answer(request, response, true));

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: Call,
    uploads: Upload[],
    isWaiting: boolean,
  ): Promise<void> {
    if (request.headers.host === undefined && request.httpVersion !== '1.0') throw refuse('malformed_request');
    const operation = operationOf(request);
    const type = formTypeOf(request.headers);
    const intake = intakeOf(operation, call);
    if (isWaiting) {
      refuseAnnounced(type, request, options, intake !== null);
      response.writeContinue();
    }
    try {
      const isSmall = type === 'urlencoded' || intake === null;
      const form = await inTime(request, time, isSmall, () =>
        readForm(type, request, options, call.problems, intake, uploads),
      );
      call.lang = requestedLang(form) ?? call.lang;
      const replied = reply(response, await operation.answer(form, call));
      if (replied !== undefined) await replied;
    } finally {
      if (uploads.length > 0) await Promise.all(uploads.map(({ received }) => files.drop(received)));
    }
  }

  function intakeOf({ admit }: Operation, call: Call): Intake | null {
    return admit === null ? null : { receive: () => files.receive(), admit: (form) => admit(form, call) };
  }

  function operationOf(request: IncomingMessage): Operation {
    const path = pathOf(request.url ?? '');
    const operation = operations.get(path);
    if (operation === undefined) throw refuse('unknown_path', { sent: shown(path) });
    if (request.method !== 'POST') throw refuse('wrong_method', { sent: request.method ?? '', limit: 'POST' });
    return operation;
  }

  const endRefused = (socket: Socket, refusal: Refusal) =>
    endAfterAnswers(socket, () => {
      socket.end(rawRefusal(refusal, options.always200));
      refusedClients.passBy(socket, () => socket.destroySoon());
    });
  server.on('connect', ({ method = '' }, socket) => {
    // Node watches it no longer: a client that resets it would stop the server.
    socket.on('error', () => socket.destroy());
    endRefused(socket as Socket, refuse('wrong_method', { sent: method, limit: 'POST' }));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (socket.writable) endRefused(socket as Socket, refuse('malformed_request'));
    else if (!isEnding(socket as Socket)) socket.destroy();
  });
  // Who has an answer is not waited for; no event says that a server begins to end.
  const close = server.close.bind(server);
  server.close = (closed) => {
    refusedClients.letGo();
    return close(closed);
  };
  return server;
}

/** The path of a request target, which may be a whole address (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const address = target.startsWith('/') ? null : URL.parse(target);
  if (address !== null) return address.pathname;
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** The whole answer to what is not HTTP, or not for us, after which the connection ends. */
function rawRefusal(refusal: Refusal, always200: boolean): string {
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
  return `${head.join('\r\n')}\r\n\r\n${body}`;
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
