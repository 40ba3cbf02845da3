// The answers of a connection: whole, in the order of the requests, and none behind the one that says it is the last (RFC 9112, 9.3.2 and 9.6).
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The answer that was begun last on a connection. One entry for a connection, no listener: requests are many. */
const latest = new WeakMap<Socket, ServerResponse>();
/** The one in front of it, where that was not yet written when it was begun. */
const inFront = new WeakMap<Socket, ServerResponse>();
/** Connections that are ended as soon as what is owed on them is answered. */
const ending = new WeakSet<Socket>();

/**
 * Notes that a request is going to be answered. Where it says false, the request is behind the last answer of its connection: it
 * must not be carried out.
 */
export function begin(response: ServerResponse): boolean {
  const { socket } = response.req;
  const before = latest.get(socket);
  if (before !== undefined) {
    if (before.hasHeader('connection')) return false;
    if (!before.closed) inFront.set(socket, before);
  }
  latest.set(socket, response);
  return true;
}

/** Says in its header that an answer is the last of its connection; not where a request behind it is being carried out already. */
export function sayLast(response: ServerResponse): void {
  const last = latest.get(response.req.socket);
  if (last === undefined || last === response) response.setHeader('Connection', 'close');
}

/** Whether a connection is ended already by `endAfterAnswers`, or is going to be. */
export function isEnding(socket: Socket): boolean {
  return ending.has(socket);
}

/**
 * Ends a connection on which no HTTP comes any more: with what `write` writes, after the answers to the requests that came whole.
 * A request that was answered before it came whole gets no second answer.
 */
export function endAfterAnswers(socket: Socket, write: () => void): void {
  // Everything that comes on it is a new error.
  if (ending.has(socket)) return;
  ending.add(socket);
  const last = latest.get(socket);
  const broken = last?.req.complete === false ? last : undefined;
  const owed = broken === undefined ? last : inFront.get(socket);
  const end = () => {
    if (!socket.writable) return;
    if (broken?.headersSent) socket.destroySoon();
    else write();
  };
  if (owed === undefined || owed.closed) end();
  else owed.once('close', end);
}
