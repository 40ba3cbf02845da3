// From what an operation threw to a refused call: its messages, its code, its status (D32-D34).
import { renderRefused } from '../envelope/envelope.ts';
import { type ErrorCode, type Problem, Refusal, STATUS } from '../errors.ts';
import { messageOf } from '../messages/messages.ts';
import { Unavailable } from '../store/store.ts';
import type { Lang } from '../wire.ts';

export interface Refused {
  /** Code of the first problem. */
  readonly code: ErrorCode;
  readonly status: number;
  readonly messages: readonly string[];
  /** The rest of the request is not read: the connection ends. */
  readonly close: boolean;
}

/** Codes after which the connection cannot be used again. */
const CLOSING: ReadonlySet<ErrorCode> = new Set([
  'body_too_large',
  'file_too_large',
  'files_too_large',
  'too_many_files',
  'files_before_credentials',
  'malformed_request',
]);

/** The refusal of a thrown error: a Refusal's problems, or one general message for a fault. */
export function refusedBy(error: unknown, lang: Lang): Refused {
  const problems: readonly Problem[] =
    error instanceof Refusal
      ? error.problems
      : [{ code: error instanceof Unavailable ? 'unavailable' : 'internal_error' }];
  const code = problems[0]?.code ?? 'internal_error';
  return {
    code,
    status: STATUS[code],
    messages: problems.map((problem) => messageOf(problem, lang)),
    close: CLOSING.has(code),
  };
}

/** The body of a refused call. */
export function envelopeOf({ messages }: Refused): string {
  return renderRefused(messages);
}
