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

/** Tokens that a record must all have; `prefix` where it is enough that one of its tokens begins with the only one. */
export interface PairAlternative {
  readonly tokens: readonly string[];
  readonly prefix: boolean;
}

/** What the pair index is asked for: of each of the lists, one alternative. */
export type PairQuery = readonly (readonly PairAlternative[])[];

/** The query for what may meet a `contains` or `chosen` condition; every hit must be checked against the text. */
export function pairQuery(condition: Condition & { kind: 'contains' | 'chosen' }, position: number): PairQuery {
  const tag = tagOf(position);
  const texts = [...new Set(condition.anyOf)];
  return [texts.map((text) => (condition.kind === 'chosen' ? whole(tag + CHOICE, text) : pairsIn(tag, text)))];
}

/** The query for what may meet a condition on a column with a B-tree; null where its buckets do not help. */
export function bucketQuery(condition: Condition, column: Column, position: number): PairQuery | null {
  const buckets = column.bucket === null ? null : bucketsOf(condition);
  if (buckets === null || buckets.length === 0) return null;
  return [buckets.map((bucket) => whole(tagOf(position) + BUCKET, bucket))];
}

function whole(start: string, text: string): PairAlternative {
  return { tokens: [wholeToken(start, text)], prefix: false };
}

function wholeToken(start: string, text: string): string {
  let token = start;
  const characters = text.length > MAX_TOKEN ? Array.from(text).slice(0, MAX_TOKEN) : text;
  for (const character of characters) token += moved(character);
  return token;
}

function pairsIn(tag: string, text: string): PairAlternative {
  const characters = Array.from(text, moved);
  if (characters.length === 1) return { tokens: [`${tag}${characters[0]}`], prefix: true };
  const pairs = new Set<string>();
  for (let i = 1; i < characters.length && pairs.size < MAX_PAIRS; i++) {
    pairs.add(`${tag}${characters[i - 1]}${characters[i]}`);
  }
  return { tokens: [...pairs], prefix: false };
}

/** A query in the language of FTS5. */
export function matchText(query: PairQuery): string {
  return query.map((list) => `(${[...new Set(list.map(matchAlternative))].join(' OR ')})`).join(' AND ');
}

function matchAlternative({ tokens, prefix }: PairAlternative): string {
  if (prefix) return `"${tokens[0]}" *`;
  return tokens.length === 1 ? `"${tokens[0]}"` : `(${tokens.map((token) => `"${token}"`).join(' AND ')})`;
}

/**
 * The tokens of a record as whole numbers, each once, for engines that index lists of numbers: one for each token; one for its
 * tag and first character, so that a single character is found without a prefix; and one for the block of neighbouring records
 * that a `place` lies in, so that the first hits of a common keyword are found without the others (null for rows of a
 * form table). Different tokens may have one number.
 */
export function tokenNumbers(tokens: string, place: number | null): readonly number[] {
  const numbers = new Set<number>();
  for (const token of tokens.split(' ')) {
    if (token === '') continue;
    numbers.add(numberOf(characterOf(token)));
    numbers.add(numberOf(token));
  }
  if (place !== null) numbers.add(numberOf(blockToken(blockOf(place))));
  return [...numbers];
}

/** Records in a block. */
export const BLOCK = 4_096;

function blockOf(place: number): number {
  return Math.floor(place / BLOCK);
}

/** No tag is a digit. */
function blockToken(block: number): string {
  return String(block);
}

/** A query for those hits only that lie in the blocks of the places from `first` to `last`. */
export function withinBlocks(query: PairQuery, first: number, last: number): PairQuery {
  const blocks: PairAlternative[] = [];
  for (let block = blockOf(first); block <= blockOf(last); block++) {
    blocks.push({ tokens: [blockToken(block)], prefix: false });
  }
  return [...query, blocks];
}

/** The tag of a token and its first character. */
function characterOf(token: string): string {
  return token.slice(0, 1 + String.fromCodePoint(token.codePointAt(1) as number).length);
}

/** A whole number of 32 bits, with its sign, for any token. */
export function numberOf(token: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < token.length; i++) hash = Math.imul(hash ^ token.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) | 0;
}
