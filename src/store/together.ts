// Edits of one transaction, as the engines take them.
import { setImmediate } from 'node:timers/promises';
import type { EditJob } from './changed.ts';
import type { RegisteredApp, TogetherEdits, Written } from './store.ts';

/** What the edits of a transaction are told, and asked. */
export type FollowedEdits = Pick<TogetherEdits, 'written' | 'commits'>;

/** Follows what becomes of edits, whose definition may be another by now. */
export function following({ written, commits }: TogetherEdits): FollowedEdits & { readonly isStale: () => boolean } {
  let stale = false;
  return {
    isStale: () => stale,
    written(results: readonly Written[]) {
      stale ||= results.some(({ kind }) => kind === 'stale');
      if (!stale) written(results);
    },
    commits: () => !stale && commits(),
  };
}

/** The jobs of batches of edits, until one of them meets another definition. */
export async function* jobsOf(
  { app, version }: RegisteredApp,
  userId: string,
  { batches }: TogetherEdits,
  isStale: () => boolean,
): AsyncGenerator<readonly EditJob[]> {
  for await (const edits of ahead(batches)) {
    yield edits.map((edit) => ({ appCode: app.code, version, edit, userId, onlyKey: true }));
    if (isStale()) return;
  }
}

/** What comes, the next of it made while the one before is used. */
async function* ahead<T>(coming: AsyncIterable<T>): AsyncGenerator<T> {
  const from = coming[Symbol.asyncIterator]();
  let next = from.next();
  try {
    for (let item = await next; !item.done; item = await next) {
      // A turn of the event loop later, so that the one before is on its way to whoever uses it.
      next = setImmediate().then(() => from.next());
      // Whoever waits for it gets the error.
      next.catch(() => {});
      yield item.value;
    }
  } finally {
    await next.catch(() => {});
    await from.return?.();
  }
}
