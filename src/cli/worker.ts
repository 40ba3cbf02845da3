// One of several workers: a process that workers.ts starts, and that answers requests until it is told to end.
import cluster from 'node:cluster';
import { createLog, type Log } from '../config/log.ts';
import { startAnswering } from './answering.ts';
import { reasonOf } from './context.ts';
import { firstSignal } from './first-signal.ts';
import type { FromWorker, StartWorker, ToWorker } from './workers.ts';

const { worker } = cluster;
if (worker === undefined) throw new Error('worker.ts runs as a worker of a cluster');

worker.once('message', (start: StartWorker) => {
  const told = new Promise<void>((resolve) => {
    worker.on('message', ({ kind }: ToWorker) => {
      if (kind === 'end') resolve();
    });
  });
  // A terminal sends its signals to the workers too, and a person may mean one of them.
  void run(start, Promise.race([told, firstSignal()]));
});

async function run({ config, number, resumes }: StartWorker, toEnd: Promise<unknown>): Promise<void> {
  try {
    const { end } = await startAnswering(config, numbered(createLog(config.logLevel), number), resumes);
    tell({ kind: 'listening' });
    await toEnd;
    await end();
    worker?.disconnect();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    tell({ kind: 'failed', reason }, () => process.exit(1));
  }
}

function tell(message: FromWorker, told?: () => void): void {
  worker?.process.send?.(message, told);
}

/** A log whose lines end with the worker's number. */
function numbered(log: Log, number: number): Log {
  const withNumber =
    (write: Log['info']): Log['info'] =>
    (message, facts) =>
      write(message, () => ({ ...facts?.(), worker: number }));
  const { error, warn, info, debug } = log;
  return { error: withNumber(error), warn: withNumber(warn), info: withNumber(info), debug: withNumber(debug) };
}
