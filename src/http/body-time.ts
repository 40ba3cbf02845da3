// The time that a client may take to send the body of a request.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** In milliseconds. */
export interface BodyTime {
  /** In which some of a body must come. */
  readonly silent: number;
  /** For the whole of a body that may hold no files; as large as MAX_BODY usually lets it be, it comes even through a slow line. */
  readonly small: number;
}

export const BODY_TIME: BodyTime = { silent: 2 * 60_000, small: 10 * 60_000 };

/** The request whose body is waited for on a connection: the next one may begin before the one in front of it is read. */
const awaited = new WeakMap<Socket, IncomingMessage>();

/** What `read` gives of the body of a request. A client that takes longer is cut off without an answer, and `read` is to reject. */
export async function inTime<T>(
  request: IncomingMessage,
  { silent, small }: BodyTime,
  isSmall: boolean,
  read: () => Promise<T>,
): Promise<T> {
  const end = () => void request.destroy();
  let timer: NodeJS.Timeout | undefined;
  let isTimed = false;
  // Most bodies come with their head and are read by then: timers for each would cost as much as reading it.
  const late = setImmediate(() => {
    isTimed = !request.complete;
    if (!isTimed) return;
    awaited.set(request.socket, request);
    request.setTimeout(silent, end);
    if (isSmall) timer = setTimeout(end, small);
  });
  try {
    const body = await read();
    // What is done with it may take longer.
    if (isTimed && awaited.get(request.socket) === request) request.setTimeout(0);
    return body;
  } finally {
    clearImmediate(late);
    clearTimeout(timer);
  }
}
