// What a language must be able to say: one message for every reason to refuse a request, and "no match" (spec 7, D1).
import type { ErrorCode, Problem } from '../errors.ts';

/** Messages of one language; a code without a message does not compile. */
export type Messages = { readonly [code in ErrorCode]: (problem: Problem) => string } & {
  /** Spec 4.1: the message of a search that finds nothing. */
  readonly no_match: () => string;
  /** A message about a line of a request that has many. */
  readonly on_line: (line: number, text: string) => string;
};
