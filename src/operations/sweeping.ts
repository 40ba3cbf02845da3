// Sweeps files and the history once a day while a server runs (D28, D29, P18).
import type { Worker } from 'node:worker_threads';
import type { Log } from '../config/log.ts';
import { typeOf } from '../fields/field-types.ts';
import type { Catalog } from '../store/store.ts';
import { startThread } from '../store/thread.ts';
import type { SweepReport } from './sweep-files.ts';
import type { SweepSettings } from './sweep-thread.ts';

/** Milliseconds from the start of a server to its first sweep, which finds what an interrupted one left; then from one to the next. */
const FIRST_AFTER = 60_000;
const EVERY = 24 * 60 * 60_000;

/** Sweeps where an app has a field for files, or the history is kept for a time; what it gives ends that. */
export function startSweeping(catalog: () => Catalog, settings: SweepSettings, log: Log): () => Promise<void> {
  let thread: Worker | null = null;
  const sweep = () => {
    timer = setTimeout(sweep, EVERY);
    timer.unref();
    if (thread !== null || (settings.historyDays === 0 && !hasFileFields(catalog()))) return;
    thread = startThread(import.meta.url, 'sweep-thread', settings);
    thread.on('message', (report: SweepReport) => log.info('swept', () => ({ ...report })));
    thread.on('error', (error: Error) => log.error('sweeping failed', () => ({ error: error.stack ?? String(error) })));
    thread.on('exit', () => {
      thread = null;
    });
  };
  let timer = setTimeout(sweep, FIRST_AFTER);
  timer.unref();
  return async () => {
    clearTimeout(timer);
    await thread?.terminate();
  };
}

function hasFileFields({ apps }: Catalog): boolean {
  return apps
    .values()
    .some(({ app: { fields, tables } }) =>
      [...fields, ...tables.flatMap((table) => table.fields)].some((field) => typeOf(field).holds !== undefined),
    );
}
