// A request body → its parameters: urlencoded and multipart, UTF-8, none twice (D2-D4).
import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { type Problem, refuse } from '../errors.ts';
import { type Form, shown } from '../operations/request.ts';

const REPLACEMENT = '\ufffd';
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

/** The parameters of a body; what is wrong with single ones is added to `problems`, a body that cannot be read is refused. */
export function parseForm(
  type: FormType,
  headers: IncomingHttpHeaders,
  body: Buffer,
  problems: Problem[],
): Form | Promise<Form> {
  return type === 'urlencoded' ? parseUrlencoded(body, problems) : parseMultipart(headers, body, problems);
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
    else if (end > start) add(form, name, value, problems);
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

function add(form: Map<string, string>, name: string, value: string, problems: Problem[]): void {
  if (form.has(name)) {
    if (!problems.some(({ at }) => at === shown(name))) problems.push({ code: 'repeated_parameter', at: shown(name) });
  } else if (form.size >= MAX_PARAMETERS) throw refuse('malformed_body', { limit: MAX_PARAMETERS });
  else form.set(name, value);
}

function parseMultipart(headers: IncomingHttpHeaders, body: Buffer, problems: Problem[]): Promise<Form> {
  return new Promise((resolve, reject) => {
    const form = new Map<string, string>();
    const broken = !isUtf8(body);
    const malformed = (limit?: number) => reject(refuse('malformed_body', limit === undefined ? {} : { limit }));
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
        limits: { fieldSize: body.length, parts: MAX_PARAMETERS, fields: MAX_PARAMETERS },
      });
    } catch {
      malformed();
      return;
    }
    // A part can lack a name, whatever the types say.
    parser.on('field', (name: string | undefined, value) => {
      if (name === undefined) return;
      if (broken && (name + value).includes(REPLACEMENT)) problems.push({ code: 'bad_encoding', at: shown(name) });
      else add(form, name, value, problems);
    });
    parser.on('file', (name: string | undefined, stream, filename: string | undefined) => {
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
      });
      stream.on('end', () => {
        // A browser sends such a part for a file field that nothing was chosen for.
        if (size === 0 && !filename) return;
        problems.push({ code: 'file_part_refused', ...(name === undefined ? {} : { at: shown(name) }) });
      });
    });
    parser.on('partsLimit', () => malformed(MAX_PARAMETERS));
    parser.on('error', () => malformed());
    parser.on('finish', () => {
      // What is not UTF-8 may also stand between the parts or in their headers.
      if (broken && problems.length === 0) problems.push({ code: 'bad_encoding' });
      resolve(form);
    });
    parser.end(body);
  });
}
