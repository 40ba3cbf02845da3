// The thread that writes a load, seen from the one that makes its records.
import type { Loaded } from '../register.ts';
import { startThread } from '../thread.ts';
import type { LoadBatch, LoadOptions, LoadReply } from './load-thread.ts';

/** The records of a batch live until it is written: room for them, so that they are not moved about before. */
const YOUNG = { maxYoungGenerationSizeMb: 128 };

export interface LoadThread {
  /** Resolves when the batch is committed; one at a time. */
  write(batch: LoadBatch): Promise<Loaded>;
  close(): Promise<void>;
}

export function startLoadThread(options: LoadOptions): LoadThread {
  const worker = startThread(import.meta.url, 'load-thread', options, YOUNG);
  let answer: ((reply: LoadReply) => void) | null = null;
  worker.on('message', (reply: LoadReply) => answer?.(reply));
  worker.on('error', (error) => answer?.({ kind: 'failed', error }));
  return {
    write: (batch) =>
      new Promise((resolve, reject) => {
        answer = (reply) => (reply.kind === 'failed' ? reject(reply.error) : resolve(reply.loaded));
        worker.postMessage(batch, [batch.batch.buffer]);
      }),
    close: () =>
      new Promise((resolve) => {
        worker.once('exit', () => resolve());
        worker.postMessage(null);
      }),
  };
}
