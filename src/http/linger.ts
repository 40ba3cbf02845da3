// What a refused client still sends: were the connection closed at once, it would be reset before the client reads its answer.
import type { IncomingMessage } from 'node:http';

/** Milliseconds in all: many clients read nothing before they have sent everything. */
const LONGEST = 30_000;
/** Milliseconds in which some of it must come. */
const SILENT = 5_000;
/** Bytes in all, that nobody keeps the server reading on a fast line. */
const MOST = 256 * 1024 * 1024;

/** Reads the rest of a request and throws it away; calls `done` once, at its end, or when it has been long or much enough. */
export function passBy(request: IncomingMessage, done: () => void): void {
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > MOST) end();
    else silent.refresh();
  };
  const end = () => {
    clearTimeout(longest);
    clearTimeout(silent);
    request.off('data', take).off('end', end).off('close', end).pause();
    done();
  };
  const longest = setTimeout(end, LONGEST);
  const silent = setTimeout(end, SILENT);
  request.on('data', take).on('end', end).on('close', end).resume();
}
