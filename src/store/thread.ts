// Starts a module as a worker thread.
import { type ResourceLimits, Worker } from 'node:worker_threads';

/** A module beside the one at `from` (its import.meta.url) as a thread, from the sources or from the build. */
export function startThread(
  from: string,
  name: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Worker {
  const extension = from.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./${name}.${extension}`, from), { workerData, resourceLimits });
}
