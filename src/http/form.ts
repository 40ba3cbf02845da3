// A request body → its parameters: urlencoded and multipart, UTF-8, none twice (D2-D4).
import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { type Problem, Refusal, refuse } from '../errors.ts';
import { type Form, shown } from '../operations/request.ts';

/** Most parameters a request may have. */
const MAX_PARAMETERS = 1_000;

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

/** The parameters of a body, or the Refusal of what is wrong with it. */
export async function parseForm(type: FormType, headers: IncomingHttpHeaders, body: Buffer): Promise<Form> {
  return type === 'urlencoded' ? parseUrlencoded(body) : parseMultipart(headers, body);
}

/** `name=value&…`, `+` for a space, percent-encoded UTF-8. */
export function parseUrlencoded(body: Buffer): Form {
  const text = isAscii(body) ? body.toString('latin1') : isUtf8(body) ? body.toString('utf8') : null;
  if (text === null) throw refuse('bad_encoding');
  const form = new Map<string, string>();
  const problems: Problem[] = [];
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const equals = text.indexOf('=', start);
    const split = equals < 0 || equals > end ? end : equals;
    const name = decode(text.slice(start, split));
    const value = split < end ? decode(text.slice(split + 1, end)) : '';
    if (name === null || value === null) problems.push({ code: 'bad_encoding', at: shown(name ?? text.slice(start, split)) });
    else if (end > start) add(form, name, value, problems);
    start = end + 1;
  }
  if (problems.length > 0) throw new Refusal(problems);
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

function add(form: Map<string, string>, name: string, value: string, problems: Problem[]): void {
  if (form.has(name)) {
    if (!problems.some(({ at }) => at === shown(name))) problems.push({ code: 'repeated_parameter', at: shown(name) });
  } else if (form.size >= MAX_PARAMETERS) throw refuse('malformed_body', { limit: `more than ${MAX_PARAMETERS} parameters` });
  else form.set(name, value);
}

function parseMultipart(headers: IncomingHttpHeaders, body: Buffer): Promise<Form> {
  return new Promise((resolve, reject) => {
    const form = new Map<string, string>();
    const problems: Problem[] = [];
    const malformed = (reason: string) => reject(refuse('malformed_body', { limit: reason }));
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
        limits: { fieldSize: body.length, parts: MAX_PARAMETERS, fields: MAX_PARAMETERS },
      });
    } catch {
      malformed('the Content-Type has no usable boundary');
      return;
    }
    parser.on('field', (name, value) => add(form, name, value, problems));
    parser.on('file', (name, stream) => {
      problems.push({ code: 'file_part_refused', at: shown(name) });
      stream.resume();
    });
    parser.on('partsLimit', () => malformed(`more than ${MAX_PARAMETERS} parts`));
    parser.on('error', () => malformed('the parts cannot be told apart'));
    parser.on('finish', () => {
      if (problems.length > 0) reject(new Refusal(problems));
      else if (!isUtf8(body)) reject(refuse('bad_encoding'));
      else resolve(form);
    });
    parser.end(body);
  });
}
