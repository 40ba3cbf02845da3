// The header of a part of a multipart body: its name, its file name and its type, whatever client wrote them.
import { isUtf8 } from 'node:buffer';
import type { ErrorCode } from '../errors.ts';

/** Header of a part as the parser gives it: names in lower case, values with a character for each byte. */
export type RawHeader = Readonly<Record<string, readonly string[] | undefined>>;

export interface PartHeader {
  /** undefined where the part has none. */
  readonly name: string | undefined;
  /** As sent, never cut to a base name; undefined where the part is a parameter, '' for a file without one. */
  readonly fileName: string | undefined;
  /** `Content-Type` as sent; '' where there is none. */
  readonly contentType: string;
  /** Why the part cannot be taken: a text that is not UTF-8 (D2), or NUL in a name. */
  readonly fault: (ErrorCode & ('bad_encoding' | 'bad_character')) | null;
}

/** What stands before the first `;` of a header value, in lower case, and the parameters behind it. */
export interface HeaderValue {
  readonly value: string;
  /** Name in lower case → value. */
  readonly parameters: ReadonlyMap<string, string>;
}

const OCTETS = 'application/octet-stream';

/** Reads the header of a part; null for one that cannot be read: `Content-Disposition: form-data` has to be in it, once. */
export function readPartHeader(header: RawHeader): PartHeader | null {
  const [disposition, another] = header['content-disposition'] ?? [];
  if (disposition === undefined || another !== undefined) return null;
  const parsed = parseHeaderValue(disposition);
  if (parsed?.value !== 'form-data') return null;
  const rawType = header['content-type']?.[0] ?? '';
  const name = plain(parsed.parameters.get('name'));
  const extended = parsed.parameters.get('filename*');
  const sentName = extended === undefined ? plain(parsed.parameters.get('filename')) : decodeExtended(extended);
  const isOctets = (rawType.split(';')[0] ?? '').trim().toLowerCase() === OCTETS;
  const fileName = sentName ?? (isOctets ? NO_TEXT : undefined);
  const contentType = fromUtf8(Buffer.from(rawType, 'latin1'));
  const isBroken = [name, fileName, contentType].some((text) => text?.broken);
  const hasNul = [name, fileName].some((text) => text?.text.includes('\0'));
  return {
    name: name?.text,
    fileName: fileName?.text,
    contentType: contentType.text,
    fault: isBroken ? 'bad_encoding' : hasNul ? 'bad_character' : null,
  };
}

/**
 * Reads a header value such as `form-data; name="a"` or `multipart/form-data; boundary=x`; null for one that has no such form
 * or a parameter twice. In quotes, `\"` and `\\` are escapes, as curl writes them; where that makes no sense, as in
 * `name="a\"; filename="b"`, backslashes are themselves, as browsers write them.
 */
export function parseHeaderValue(text: string): HeaderValue | null {
  return parse(text, ESCAPED) ?? parse(text, UNESCAPED);
}

// Each text matches in one way only: nothing is tried again, however many backslashes come.
const ESCAPED = /"((?:\\["\\]|[^"\\]|\\(?!["\\]))*)"/y;
const UNESCAPED = /"([^"]*)"/y;
const NAME = /[ \t]*([^\s=;"]+)[ \t]*=[ \t]*/y;
const UNQUOTED = /[^;]*/y;
const END = /[ \t]*(?:;|$)/y;

function parse(text: string, quoted: RegExp): HeaderValue | null {
  const first = text.indexOf(';');
  const end = first < 0 ? text.length : first;
  const parameters = new Map<string, string>();
  for (let at = end + 1; at < text.length; ) {
    const nothing = match(END, text, at);
    if (nothing !== null) {
      at += nothing[0].length;
      continue;
    }
    const named = match(NAME, text, at);
    if (named === null) return null;
    at += named[0].length;
    const inQuotes = match(quoted, text, at);
    const sent = inQuotes ?? (text[at] === '"' ? null : match(UNQUOTED, text, at));
    const ended = sent === null ? null : match(END, text, at + sent[0].length);
    if (sent === null || ended === null) return null;
    at += sent[0].length + ended[0].length;
    const name = named[1]?.toLowerCase() ?? '';
    if (parameters.has(name)) return null;
    const value = inQuotes?.[1] ?? sent[0].trim();
    parameters.set(name, inQuotes !== null && quoted === ESCAPED ? value.replace(/\\(["\\])/g, '$1') : value);
  }
  return { value: text.slice(0, end).trim().toLowerCase(), parameters };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

interface Decoded {
  readonly text: string;
  /** The bytes were no text of their encoding. */
  readonly broken: boolean;
}

const NO_TEXT: Decoded = { text: '', broken: false };

/** What browsers escape in `name` and `filename`, and nothing else, so that any other `%` is itself. */
const BROWSER_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['%22', '"'],
  ['%0D', '\r'],
  ['%0A', '\n'],
]);

function plain(value: string | undefined): Decoded | undefined {
  if (value === undefined) return undefined;
  const { text, broken } = fromUtf8(Buffer.from(value, 'latin1'));
  return { text: text.replace(/%(?:22|0D|0A)/g, (escaped) => BROWSER_ESCAPES.get(escaped) ?? escaped), broken };
}

/** `UTF-8'ja'%e8%a6%8b` (RFC 8187), also in ISO-8859-1. */
function decodeExtended(value: string): Decoded {
  const parts = /^(UTF-8|ISO-8859-1)'[^']*'((?:[^%]|%[0-9a-f]{2})*)$/i.exec(value);
  if (parts === null) return { text: '', broken: true };
  const [, charset = '', encoded = ''] = parts;
  const bytes = encoded.replace(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return charset.toUpperCase() === 'UTF-8' ? fromUtf8(Buffer.from(bytes, 'latin1')) : { text: bytes, broken: false };
}

function fromUtf8(bytes: Buffer): Decoded {
  return { text: bytes.toString('utf8'), broken: !isUtf8(bytes) };
}
