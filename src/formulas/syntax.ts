// The text of a formula → the tree of what it calculates.
import { nearest } from '../app/nearest.ts';
import { parseNumber } from '../fields/number.ts';
import { type FormulaFunction, FUNCTIONS } from './functions.ts';
import { fromDecimal } from './rational.ts';
import { readTokens, type Token, Unreadable } from './tokens.ts';
import { quoted, type Value } from './value.ts';

export type Operator = '+' | '-' | '*' | '/' | '%' | '^' | '&' | '=' | '<>' | '<' | '<=' | '>' | '>=' | 'and' | 'or';

export type Node =
  | { readonly kind: 'value'; readonly value: Value }
  | FieldNode
  | { readonly kind: 'negated' | 'not'; readonly of: Node }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: Node; readonly right: Node }
  | { readonly kind: 'if'; readonly condition: Node; readonly then: Node; readonly otherwise: Node }
  | { readonly kind: 'call'; readonly called: FormulaFunction; readonly values: readonly Node[] };

export interface FieldNode {
  readonly kind: 'field';
  readonly id: string;
  /** Character of the formula, from 1. */
  readonly position: number;
  /** It stands where a function takes the values of all rows. */
  readonly overRows: boolean;
}

/** Greatest length of a formula, in UTF-16 units. */
export const MAX_LENGTH = 2_000;
/** Greatest depth of parentheses, functions and signs inside one another. */
const MAX_DEPTH = 50;

/** How strongly each operator binds; `not` stands between the conditions and the comparisons, a sign below `^`. */
const STRENGTH: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ['=', 4],
  ['<>', 4],
  ['<', 4],
  ['<=', 4],
  ['>', 4],
  ['>=', 4],
  ['&', 5],
  ['+', 6],
  ['-', 6],
  ['*', 7],
  ['/', 7],
  ['%', 7],
  ['^', 9],
]);
const COMPARISON = 4;
const SIGN = 8;
const POWER = 9;

const WORDS: readonly string[] = ['and', 'or', 'not', 'true', 'false'];

/** Throws `Unreadable` where it is none. */
export function parseFormula(formula: string): Node {
  if (formula.length > MAX_LENGTH) {
    throw new Unreadable(`longer than ${MAX_LENGTH} characters`, MAX_LENGTH + 1);
  }
  const tokens = readTokens(formula);
  let next = 0;
  let depth = 0;

  const peek = (): Token => tokens[next] as Token;
  const take = (): Token => tokens[next++] as Token;
  const isSign = (text: string): boolean => peek().kind === 'sign' && peek().text === text;
  const expect = (sign: string): void => {
    if (isSign(sign)) next++;
    else throw unexpected(peek(), `"${sign}"`);
  };

  function expression(least: number): Node {
    if (++depth > MAX_DEPTH) throw new Unreadable(`nested more than ${MAX_DEPTH} deep`, peek().position);
    let left = operand();
    for (
      let { operator, strength } = operatorOf(peek());
      strength >= least;
      { operator, strength } = operatorOf(peek())
    ) {
      const { position } = take();
      // `^` takes what follows it first: 2 ^ 3 ^ 2 is 2 ^ 9.
      const right = expression(strength === POWER ? POWER : strength + 1);
      left = { kind: 'operation', operator, left, right };
      if (strength === COMPARISON && operatorOf(peek()).strength === COMPARISON) {
        throw new Unreadable(
          `a comparison after another, which begins at character ${position}; expected "and"`,
          peek().position,
        );
      }
    }
    depth--;
    return left;
  }

  function operand(): Node {
    const token = take();
    const { kind, text } = token;
    if (kind === 'number') return literal(token);
    if (kind === 'text') return { kind: 'value', value: text };
    if (kind === 'field') return field(token);
    if (kind === 'name') return isSign('(') && text.toLowerCase() !== 'not' ? call(token) : word(token);
    if (text === '-') return { kind: 'negated', of: expression(SIGN) };
    if (text !== '(') throw unexpected(token, 'a value');
    const inside = expression(0);
    expect(')');
    return inside;
  }

  function word(token: Token): Node {
    const name = token.text.toLowerCase();
    if (!WORDS.includes(name)) return field(token);
    if (name === 'not') return { kind: 'not', of: expression(COMPARISON) };
    if (name === 'true' || name === 'false') return { kind: 'value', value: name === 'true' };
    throw unexpected(token, 'a value');
  }

  function call(token: Token): Node {
    const name = token.text.toLowerCase();
    const called = FUNCTIONS.get(name);
    if (called === undefined && name !== 'if') throw unknownFunction(token);
    expect('(');
    const values: Node[] = [];
    while (values.length === 0 || isSign(',')) {
      if (values.length > 0) next++;
      const value = expression(0);
      values.push(value.kind === 'field' && called?.overRows ? { ...value, overRows: true } : value);
    }
    expect(')');
    const { least, most } = called ?? { least: 3, most: 3 };
    if (values.length < least || values.length > most) throw wrongNumber(token, values.length, least, most);
    if (called !== undefined) return { kind: 'call', called, values };
    const [condition, then, otherwise] = values as [Node, Node, Node];
    return { kind: 'if', condition, then, otherwise };
  }

  const tree = expression(0);
  if (peek().kind !== 'end') throw unexpected(peek(), 'an operator');
  return tree;
}

/** Strength -1 of what is none. */
function operatorOf({ kind, text }: Token): { operator: Operator; strength: number } {
  const operator = kind === 'name' ? text.toLowerCase() : text;
  const strength = kind === 'name' || kind === 'sign' ? STRENGTH.get(operator) : undefined;
  return { operator: operator as Operator, strength: strength ?? -1 };
}

function literal({ text, position }: Token): Node {
  const decimal = parseNumber(text);
  if (typeof decimal !== 'string') throw new Unreadable(`a number of more than ${decimal.limit} digits`, position);
  return { kind: 'value', value: fromDecimal(decimal) };
}

function field({ text, position }: Token): FieldNode {
  return { kind: 'field', id: text, position, overRows: false };
}

function unexpected({ kind, text, position }: Token, expected: string): Unreadable {
  const what = kind === 'end' ? 'the formula ends' : `${quoted(text)} is not possible`;
  return new Unreadable(`${what}; expected ${expected}`, position);
}

function unknownFunction({ text, position }: Token): Unreadable {
  const names = ['if', ...FUNCTIONS.keys()];
  const guess = nearest(text, names);
  const hint = guess === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${guess}?`;
  return new Unreadable(`there is no function ${text.slice(0, 64)}; ${hint}`, position);
}

function wrongNumber({ text, position }: Token, given: number, least: number, most: number): Unreadable {
  const expected = least === most ? `${least}` : `${least} to ${most}`;
  return new Unreadable(`${text} is given ${given} values; expected ${expected}`, position);
}
