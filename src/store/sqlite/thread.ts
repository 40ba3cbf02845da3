// Starts a module of this folder as a worker thread.
import { type ResourceLimits, Worker } from 'node:worker_threads';

/** A sibling module as a thread, from the sources or from the build. */
export function startThread(name: string, workerData: unknown, resourceLimits: ResourceLimits = {}): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./${name}.${extension}`, import.meta.url), { workerData, resourceLimits });
}
