// What formulas calculate with: numbers, texts and conditions; from a field's value, and back to a text.
import type { Field } from '../app/app.ts';
import { numberOf, parseNumber } from '../fields/number.ts';
import { compare, fromDecimal, type Rational, toDecimal } from './rational.ts';
import { Unanswerable } from './unanswerable.ts';

/** Dates and times are texts, as fields keep them; '' is empty. */
export type Value = Rational | string | boolean;

/** Greatest length of a text that a formula reads or makes, in UTF-16 units. */
export const MAX_TEXT = 32_768;

/** The value of a field as its type has it: a number of number fields, and of calculations where it reads as one. */
export function fieldValue(kept: string, field: Field): Value {
  if (kept === '') return '';
  const decimal = numberOf(kept, field);
  return decimal === null ? bounded(kept) : { ...fromDecimal(decimal), written: kept };
}

/** The text, which must not be too long. */
export function bounded(text: string): string {
  boundLength(text.length);
  return text;
}

export function boundLength(length: number): void {
  if (length > MAX_TEXT) throw new Unanswerable(`a text has more than ${MAX_TEXT} characters`);
}

export function asText(value: Value): string {
  if (typeof value === 'object') return value.written ?? toDecimal(value);
  return String(value);
}

/** A number, or a text that reads as one; '' where the value is empty. */
export function asNumber(value: Value): Rational | '' {
  if (typeof value === 'object' || value === '') return value;
  if (typeof value === 'boolean') throw new Unanswerable('a condition stands where a number is needed');
  const decimal = parseNumber(value);
  if (typeof decimal !== 'string') throw new Unanswerable(`${quoted(value)} is no number`);
  return fromDecimal(decimal);
}

/** A condition, or its text as a field keeps it; what is empty does not hold. */
export function asCondition(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  if (value === 'false' || value === '') return false;
  throw new Unanswerable(`${quoted(asText(value))} stands where a condition is needed`);
}

/** Numbers are equal by value, texts character by character; what is empty is equal only to what is empty. */
export function isEqual(a: Value, b: Value): boolean {
  if (a === '' || b === '') return a === b;
  const [one, other] = [numberBeside(a, b), numberBeside(b, a)];
  if (typeof one === 'object' && typeof other === 'object') return compare(one, other) === 0;
  return asText(one) === asText(other);
}

/** Below 0, 0 or above 0; undefined where one is empty. Numbers by value, texts by code point. */
export function order(a: Value, b: Value): number | undefined {
  if (a === '' || b === '') return undefined;
  if (typeof a === 'string' && typeof b === 'string') return orderOfTexts(a, b);
  const [one, other] = [asNumber(a), asNumber(b)];
  return one === '' || other === '' ? undefined : compare(one, other);
}

/** A value, read as a number where it is compared with one and can be. */
function numberBeside(value: Value, other: Value): Value {
  if (typeof other !== 'object' || typeof value !== 'string') return value;
  const decimal = parseNumber(value);
  return typeof decimal === 'string' ? fromDecimal(decimal) : value;
}

export function orderOfTexts(a: string, b: string): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    if (a.charCodeAt(index) === b.charCodeAt(index)) continue;
    return rankOf(a, index) - rankOf(b, index);
  }
  return a.length - b.length;
}

/** Where texts differ in one half of a pair, halves are above every character that needs none. */
function rankOf(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** A text as messages show it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40).toWellFormed()}…`);
}
