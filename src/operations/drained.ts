// Waiting for a stream to take more.
import type { Writable } from 'node:stream';

/** Resolves when a stream that was full takes more, or has ended. */
export async function drained(stream: Writable): Promise<void> {
  if (stream.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
