// The parameters both operations share: what is required, what they may be (spec 4.1, 4.2, D1, D4).
import type { Problem } from '../errors.ts';
import type { Received } from '../files/file-store.ts';
import { type JsonObject, MAX_DEPTH, parseJson } from '../json.ts';
import type { Lang } from '../wire.ts';

/** A request's form as http/form.ts reads it: parameter → value; repeated ones are refused there. */
export type Form = ReadonlyMap<string, string>;

/** A file that came in a part of the request, as sent; the server removes it when the request is answered. */
export interface Upload {
  /** Name of the part: a field ID or, in a table, `<field_id>_<row_number>` (spec 4.2). */
  readonly part: string;
  /** '' where the part has none. */
  readonly fileName: string;
  /** Its `Content-Type`; '' where the part has none. */
  readonly contentType: string;
  readonly received: Received;
}

/** What is known of a call while it is answered. */
export interface Call {
  /** Language of its messages (D1). */
  lang: Lang;
  /** What is wrong with it so far; the operation adds to it, so that all of it is reported at once (D18, D26). */
  readonly problems: Problem[];
  /** Files that came with it. */
  readonly uploads: readonly Upload[];
}

const LANGS: ReadonlyMap<string, Lang> = new Map([
  ['0', 'ja'],
  ['1', 'en'],
  ['2', 'zh'],
  ['ja', 'ja'],
  ['en', 'en'],
  ['zh', 'zh'],
]);

/** The language a request asks for; undefined where it names none that exists. */
export function requestedLang(form: Form): Lang | undefined {
  return LANGS.get(form.get('lang') ?? '');
}

/** Parameter that must be there and not empty (D4). */
export function required(form: Form, name: string, problems: Problem[]): string {
  const value = form.get(name) ?? '';
  // One that could not be read has been reported already.
  if (value === '' && !problems.some(({ at }) => at === name)) problems.push({ code: 'missing_parameter', at: name });
  return value;
}

/** Parameter whose value must be one of a list; '' and absent are undefined. */
export function oneOf<T extends string>(
  form: Form,
  name: string,
  values: readonly T[],
  code: Problem['code'],
  problems: Problem[],
): T | undefined {
  const value = form.get(name) ?? '';
  if (value === '') return undefined;
  if (!values.includes(value as T)) problems.push({ code, at: name, sent: shown(value) });
  return value as T;
}

/** Checks `lang` (D1). */
export function checkLang(form: Form, problems: Problem[]): void {
  oneOf(form, 'lang', [...LANGS.keys()], 'bad_lang', problems);
}

const NOTHING: JsonObject = new Map();

/** `param` as one JSON object (D2), an empty one where it is left out (D15); null after adding the problem why it is none. */
export function parseParam(text: string | undefined, problems: Problem[]): JsonObject | null {
  if (text === undefined || text === '') return NOTHING;
  const parsed = parseJson(text);
  if ('value' in parsed) {
    if (parsed.value instanceof Map) return parsed.value as JsonObject;
    problems.push({ code: 'param_not_object', at: 'param' });
  } else if (parsed.fault === 'repeated_key') {
    problems.push({ code: 'param_repeated_key', at: shown(parsed.key ?? ''), limit: parsed.position });
  } else if (parsed.fault === 'too_deep') problems.push({ code: 'param_too_deep', at: 'param', limit: MAX_DEPTH });
  else problems.push({ code: 'param_not_json', at: 'param', limit: parsed.position });
  return null;
}

/** What was sent, cut to a length that a message can show. */
export function shown(text: string): string {
  return text.slice(0, 100).toWellFormed();
}
