// The thread that writes: takes what has gathered, commits it at once, answers (see writer.ts).
import { parentPort, workerData } from 'node:worker_threads';
import type { EditJob, JobResult, UpdateJob } from '../changed.ts';
import { connect, isUnavailable } from './connection.ts';
import { writerOn } from './writer.ts';

export interface WriterOptions {
  readonly dataDir: string;
}

/** To the thread: a batch of updates, edits of one long transaction and its end, uses of keys to note, or the end of all. */
export type WriterRequest =
  | { readonly kind: 'updates'; readonly jobs: readonly (UpdateJob | EditJob)[] }
  | { readonly kind: 'together'; readonly jobs: readonly EditJob[] }
  | { readonly kind: 'end'; readonly commits: boolean }
  | { readonly kind: 'keys-used'; readonly uses: ReadonlyMap<number, string> }
  | { readonly kind: 'close' };

/** From the thread: results in the order of the jobs, or why none was committed. */
export type WriterReply =
  | { readonly kind: 'results'; readonly results: readonly JobResult[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly unavailable: boolean };

const port = parentPort;
if (port === null) throw new Error('writer-thread.ts runs as a worker thread');
const db = connect((workerData as WriterOptions).dataDir, { cacheMiB: 32 });
const writer = writerOn(db);

port.on('message', (request: WriterRequest) => {
  if (request.kind === 'close') {
    db.close();
    port.close();
    return;
  }
  port.postMessage(answer(request));
});

function answer(request: Exclude<WriterRequest, { kind: 'close' }>): WriterReply {
  try {
    if (request.kind === 'updates') return { kind: 'results', results: writer.run(request.jobs) };
    if (request.kind === 'together') return { kind: 'results', results: writer.runOn(request.jobs) };
    if (request.kind === 'end') writer.end(request.commits);
    else writer.keysUsed(request.uses);
    return { kind: 'results', results: [] };
  } catch (error) {
    return { kind: 'failed', error, unavailable: isUnavailable(error) };
  }
}
