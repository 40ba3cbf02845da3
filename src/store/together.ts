// Edits of one transaction, as the engines take them.
import type { EditJob } from './changed.ts';
import type { RegisteredApp, TogetherEdits, Written } from './store.ts';

/** Follows what becomes of edits, whose definition may be another by now. */
export function following({
  written,
  commits,
}: TogetherEdits): Omit<TogetherEdits, 'batches'> & { readonly isStale: () => boolean } {
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
  for await (const edits of batches) {
    yield edits.map((edit) => ({ appCode: app.code, version, edit, userId }));
    if (isStale()) return;
  }
}
