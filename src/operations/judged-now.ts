// Judges a request by the catalog of the moment: one that is refused by an earlier catalog is judged again.
import { Refusal } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Call } from './request.ts';

/** What `judge` gives or throws; it is called again, with the call's problems as they were, while its refusals are outdated. */
export async function judgedNow<T>(store: Store, call: Call, judge: () => Promise<T>): Promise<T> {
  const problems = [...call.problems];
  for (;;) {
    const seen = store.catalog();
    try {
      return await judge();
    } catch (error) {
      if (!(error instanceof Refusal) || !(await store.renewed(seen))) throw error;
      call.problems.splice(0, call.problems.length, ...problems);
    }
  }
}
