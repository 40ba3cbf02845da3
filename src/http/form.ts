// A request body → its parameters and files: which content types there are, and urlencoded bodies; UTF-8, none twice (D2-D4).
import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Problem, refuse } from '../errors.ts';
import type { Receiver } from '../files/file-store.ts';
import { type Form, shown, type Upload } from '../operations/request.ts';
import { gather } from './gathered.ts';
import { readMultipart } from './multipart.ts';
import { addParameter } from './parameters.ts';

const REPLACEMENT = '\ufffd';

export type FormType = 'urlencoded' | 'multipart';

const FORM_TYPES: ReadonlyMap<string, FormType> = new Map([
  ['application/x-www-form-urlencoded', 'urlencoded'],
  ['multipart/form-data', 'multipart'],
]);

/** Which of the two content types a request has; refuses any other, other charsets than UTF-8, and compressed bodies (D3). */
export function formTypeOf(headers: IncomingHttpHeaders): FormType {
  const header = headers['content-type'] ?? '';
  if (header === 'application/x-www-form-urlencoded' && headers['content-encoding'] === undefined) return 'urlencoded';
  const [type = '', ...parameters] = header.split(';');
  const formType = FORM_TYPES.get(type.trim().toLowerCase());
  if (formType === undefined) throw refuse('unsupported_media_type', { at: 'Content-Type', sent: shown(header) });
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(text)?.[1]).find(Boolean);
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw refuse('unsupported_media_type', { at: 'Content-Type', sent: shown(header) });
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw refuse('unsupported_media_type', { at: 'Content-Encoding', sent: shown(encoding) });
  }
  return formType;
}

/** What bounds the body of a request, in bytes but for `maxFiles`. */
export interface FormLimits {
  /** A urlencoded body; of a multipart body all that is no content of a file. */
  readonly maxBody: number;
  /** One file. */
  readonly maxFile: number;
  /** Files of a request. */
  readonly maxFiles: number;
  /** All files of a request together. */
  readonly maxUpload: number;
}

/** Where the files of a request go. */
export interface Intake {
  receive(): Promise<Receiver>;
  /**
   * Whether the parameters so far let files in; false while the credentials are not among them. It is asked before each file until
   * it says yes, and rejects to refuse the request early.
   */
  admit(form: Form): Promise<boolean>;
}

/** Refuses a body that is too large by what the request says of it, before any of it is read. */
export function refuseAnnounced(
  type: FormType,
  { headers }: IncomingMessage,
  { maxBody, maxUpload }: FormLimits,
  takesFiles: boolean,
): void {
  const size = Number(headers['content-length'] ?? 0);
  if (size <= maxBody) return;
  if (type === 'urlencoded' || !takesFiles) throw refuse('body_too_large', { limit: maxBody });
  if (size > maxBody + maxUpload) throw refuse('files_too_large', { limit: maxUpload });
}

/**
 * Reads the parameters of a request as its body arrives. Files go to the `intake` and, when they have arrived whole, into
 * `uploads`; without an intake a file is a problem. What is wrong with single parts is added to `problems`; a body that cannot
 * be read, is too large or does not end rejects as soon as that is known, and what is in `uploads` then is the caller's to drop.
 */
export async function readForm(
  type: FormType,
  request: IncomingMessage,
  limits: FormLimits,
  problems: Problem[],
  intake: Intake | null,
  uploads: Upload[],
): Promise<Form> {
  refuseAnnounced(type, request, limits, intake !== null);
  return type === 'urlencoded'
    ? readBody(request, limits.maxBody).then((body) => parseUrlencoded(body, problems))
    : readMultipart(request, limits, problems, intake, uploads);
}

/** The body of a request, whole; refuses one that is larger than `maxBody` bytes as soon as that is known. */
function readBody(request: IncomingMessage, maxBody: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = gather();
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBody) {
        // Whoever answers says what becomes of the rest.
        request.off('data', take).pause();
        reject(refuse('body_too_large', { limit: maxBody }));
      } else body.add(chunk);
    };
    request.on('data', take);
    request.on('end', () => resolve(body.whole()));
    request.on('error', () => reject(refuse('malformed_request')));
    request.on('close', () => {
      if (!request.complete) reject(refuse('malformed_request'));
    });
  });
}

/** `name=value&…`, `+` for a space, percent-encoded UTF-8. */
export function parseUrlencoded(body: Buffer, problems: Problem[]): Form {
  const ascii = isAscii(body);
  const text = body.toString(ascii ? 'latin1' : 'utf8');
  // In a body that is not UTF-8, what was no character has become a replacement character.
  const broken = !ascii && !isUtf8(body);
  const form = new Map<string, string>();
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const equals = text.indexOf('=', start);
    const split = equals < 0 || equals > end ? end : equals;
    const name = decode(text.slice(start, split));
    const isBroken = broken && text.slice(start, end).includes(REPLACEMENT);
    const value = isBroken ? null : split < end ? decode(text.slice(split + 1, end)) : '';
    if (name === null || value === null)
      problems.push({ code: 'bad_encoding', at: shown(name ?? text.slice(start, split)) });
    else if (end > start) addParameter(form, name, value, problems);
    start = end + 1;
  }
  return form;
}

function decode(text: string): string | null {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // The only reason it throws: not the percent-encoding of UTF-8.
    return null;
  }
}
