// What a refused client still sends: were the connection closed at once, it would be reset before the client reads its answer.
import type { Readable } from 'node:stream';

/** Milliseconds in all: many clients read nothing before they have sent everything. */
const LONGEST = 30_000;
/** Milliseconds in which some of it must come. */
const SILENT = 5_000;
/** Bytes in all, that nobody keeps the server reading on a fast line. */
const MOST = 256 * 1024 * 1024;

/** The refused clients of a server that are still sending. */
export interface Lingering {
  /**
   * Reads the rest of a request, or of a connection, and throws it away; calls `done` once, at its end, or when it has been long or
   * much enough.
   */
  passBy(rest: Readable, done: () => void): void;
  /** Calls what is done of all at once, and from now on nobody is waited for. */
  letGo(): void;
}

export function lingering(): Lingering {
  const ends = new Set<() => void>();
  let isOver = false;
  return {
    passBy(rest, done) {
      if (isOver) {
        done();
        return;
      }
      let size = 0;
      const take = (chunk: Buffer) => {
        size += chunk.length;
        if (size > MOST) end();
        else silent.refresh();
      };
      const end = () => {
        ends.delete(end);
        clearTimeout(longest);
        clearTimeout(silent);
        rest.off('data', take).off('end', end).off('close', end).pause();
        done();
      };
      const longest = setTimeout(end, LONGEST);
      const silent = setTimeout(end, SILENT);
      ends.add(end);
      rest.on('data', take).on('end', end).on('close', end).resume();
    },
    letGo() {
      isOver = true;
      for (const end of ends) end();
    },
  };
}
