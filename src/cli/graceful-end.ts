// Ends a server without cutting off the requests that are in flight.
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Watches a server; what it gives stops accepting and resolves when all requests in flight are answered. */
export function gracefulEnd(server: Server): () => Promise<void> {
  const inFlight = new Set<ServerResponse>();
  let isEnding = false;
  const close = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  const watch = (_: unknown, response: ServerResponse) => {
    inFlight.add(response);
    if (isEnding) close(response);
    response.once('close', () => {
      inFlight.delete(response);
      // An answer whose header had gone out could not say that the connection ends with it.
      if (isEnding) setImmediate(() => server.closeIdleConnections());
    });
  };
  server.prependListener('request', watch).prependListener('checkContinue', watch);
  return () =>
    new Promise((resolve) => {
      isEnding = true;
      // The answer that says it is the last of its connection must be: others may be in flight behind it.
      const last = new Map<Socket, ServerResponse>();
      for (const response of inFlight) last.set(response.req.socket, response);
      for (const response of last.values()) close(response);
      server.close(() => resolve());
      server.closeIdleConnections();
    });
}
