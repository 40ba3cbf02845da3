// What an error of an S3-compatible service means.
import { Unavailable } from '../errors.ts';
import { hasCode } from './error-code.ts';

/** HTTP status of the answer; undefined where none came. */
function statusOf(error: unknown): number | undefined {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** Whether the object is not there; a bucket that is not there is another matter. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket';
}

const NETWORK = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined) return hasCode(error, ...NETWORK) || (error as Error).name === 'TimeoutError';
  return status >= 500 || status === 429 || status === 408 || (error as Error).name === 'RequestTimeout';
}

/** The error to throw: it names the place and the cause. */
export function faultOf(place: string, error: unknown): Error {
  const { name, message, code } = error as Error & { readonly code?: string };
  const status = statusOf(error);
  const parts = [
    ...(['Error', 'AggregateError', 'Unknown', 'UnknownError'].includes(name) ? [] : [name]),
    message === '' || message === 'UnknownError' ? (code ?? 'no reason was given') : message,
    ...(status === undefined ? [] : [`HTTP ${status}`]),
  ];
  const text = `${place}: ${parts.join(', ')}`;
  return isPassing(error) ? new Unavailable(text, { cause: error }) : new Error(text, { cause: error });
}
