// The pair index: which tokens a record has, and the query that finds the records that may contain a text.
import type { Condition } from '../search/condition.ts';
import { bucketsOf, choicesOf } from '../search/methods.ts';
import { type Column, hasTokens } from './layout.ts';

// A token is the column's tag and two neighbouring characters of its searched form, or a whole choice, or, for columns with a
// B-tree, the bucket of the form, so that several common conditions can be met by walking their lists together. ASCII is moved into
// the private use area, where the tokenizer neither splits nor changes it; the last character is paired with an end mark, so
// that a prefix of tag and character finds every text that holds the character.
const MOVED = 0xe000;
const END = '\ue080';
const CHOICE = '\ue081';
const BUCKET = '\ue082';
const TAG = 0xe100;

/** Longest token, in characters: the engine cuts longer ones somewhere; the rest is left to the recheck. */
const MAX_TOKEN = 1_000;

/** Pairs of a long keyword that a query asks for; the rest is left to the recheck. */
const MAX_PAIRS = 12;

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(MOVED + code));

function moved(character: string): string {
  return ASCII[character.charCodeAt(0)] ?? character;
}

function tagOf(position: number): string {
  return String.fromCharCode(TAG + position);
}

/** The tokens of one value, each followed by a space; `position` is that of the column in its table. */
export function tokensOf(column: Column, position: number, value: string): string {
  if (value === '') return '';
  const tag = tagOf(position);
  let tokens = '';
  if (column.indexKind === 'choices') {
    for (const choice of choicesOf(column.field, value)) tokens += `${wholeToken(tag + CHOICE, choice)} `;
    return tokens;
  }
  const text = column.form === null ? value : column.form(value);
  if (column.bucket !== null) return `${wholeToken(tag + BUCKET, column.bucket(text))} `;
  let before = '';
  for (const character of text) {
    const next = moved(character);
    if (before !== '') tokens += `${tag + before + next} `;
    before = next;
  }
  return `${tokens + tag + before + END} `;
}

/** The tokens of a record or row; '' where its columns have none. */
export function tokensOfRow(columns: readonly Column[], value: (position: number) => string): string {
  let tokens = '';
  for (let position = 0; position < columns.length; position++) {
    const column = columns[position] as Column;
    if (hasTokens(column)) tokens += tokensOf(column, position, value(position));
  }
  return tokens;
}

/** The query for what may meet a `contains` or `chosen` condition; every hit must be checked against the text. */
export function pairQuery(condition: Condition & { kind: 'contains' | 'chosen' }, position: number): string {
  const tag = tagOf(position);
  const alternatives = condition.anyOf.map((text) =>
    condition.kind === 'chosen' ? `"${wholeToken(tag + CHOICE, text)}"` : containsQuery(tag, text),
  );
  return `(${[...new Set(alternatives)].join(' OR ')})`;
}

/** The query for what may meet a condition on a column with a B-tree; null where its buckets do not help. */
export function bucketQuery(condition: Condition, column: Column, position: number): string | null {
  const buckets = column.bucket === null ? null : bucketsOf(condition);
  if (buckets === null || buckets.length === 0) return null;
  return `(${buckets.map((bucket) => `"${wholeToken(tagOf(position) + BUCKET, bucket)}"`).join(' OR ')})`;
}

function wholeToken(start: string, text: string): string {
  let token = start;
  const characters = text.length > MAX_TOKEN ? Array.from(text).slice(0, MAX_TOKEN) : text;
  for (const character of characters) token += moved(character);
  return token;
}

function containsQuery(tag: string, text: string): string {
  const characters = Array.from(text, moved);
  if (characters.length === 1) return `"${tag}${characters[0]}" *`;
  const pairs = new Set<string>();
  for (let i = 1; i < characters.length && pairs.size < MAX_PAIRS; i++) {
    pairs.add(`"${tag}${characters[i - 1]}${characters[i]}"`);
  }
  return pairs.size === 1 ? [...pairs].join('') : `(${[...pairs].join(' AND ')})`;
}
