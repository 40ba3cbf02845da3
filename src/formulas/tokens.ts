// The text of a formula → its words and signs, each with its place.

export interface Token {
  readonly kind: 'number' | 'name' | 'field' | 'text' | 'sign' | 'end';
  /** Of a text in quotes, the text itself; of a field in brackets, its ID. */
  readonly text: string;
  /** Character at which it begins, from 1. */
  readonly position: number;
}

/** Thrown where a formula cannot be read. */
export class Unreadable extends Error {
  readonly position: number;
  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

const TOKEN =
  /(?<number>\d+(?:\.\d+)?)|(?<name>[A-Za-z_]\w*)|\[(?<field>[^[\]]*)\]|(?<text>"(?:[^"]|"")*"|'(?:[^']|'')*')|(?<sign><=|>=|<>|[-+*/%^&=<>(),])/y;
const SPACE = /\s*/y;

/** The tokens of a formula, the last of kind `end`. */
export function readTokens(formula: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = endOfSpace(formula, 0);
  while (at < formula.length) {
    TOKEN.lastIndex = at;
    const { number, name, field, text, sign } = TOKEN.exec(formula)?.groups ?? {};
    const position = at + 1;
    if (number !== undefined) tokens.push({ kind: 'number', text: number, position });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name, position });
    else if (field !== undefined) tokens.push({ kind: 'field', text: field, position });
    else if (text !== undefined) tokens.push({ kind: 'text', text: unquoted(text), position });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, position });
    else throw new Unreadable(unknown(formula, at), position);
    at = endOfSpace(formula, TOKEN.lastIndex);
  }
  tokens.push({ kind: 'end', text: '', position: formula.length + 1 });
  return tokens;
}

function endOfSpace(formula: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(formula);
  return SPACE.lastIndex;
}

/** A quote inside a text is written twice. */
function unquoted(text: string): string {
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}

function unknown(formula: string, at: number): string {
  const character = String.fromCodePoint(formula.codePointAt(at) ?? 0);
  if (character === '"' || character === "'") return `the text has no closing ${character}`;
  if (character === '[') return 'the field ID has no closing ]';
  return `${JSON.stringify(character)} is not possible`;
}
