// Exact numbers: fractions of whole numbers, so that nothing is rounded before the result is written.
import { Unanswerable } from './unanswerable.ts';

export interface Rational {
  readonly over: bigint;
  /** Above 0. */
  readonly under: bigint;
  /** The digits as a field keeps them, of a number that was not calculated. */
  readonly written?: string;
}

/** Significant digits of a result; more are rounded half away from zero, after the point only. */
export const RESULT_DIGITS = 30;
/** Digits after the point of a result, at most. */
const RESULT_DECIMALS = 400;

/** A fraction with a part of more digits than this (1,000) is rounded at the 400th digit after the point. */
const LONG = 10n ** 1_000n;
const FINEST = 10n ** 400n;
const GREATEST = 10n ** 500n;
const GREATEST_EXPONENT = 1_000_000;

/** The fraction of two whole numbers; throws where it is too great to go on with. */
function rational(over: bigint, under: bigint): Rational {
  if (under < 0n) return rational(-over, -under);
  if (over < LONG && over > -LONG && under < LONG) return { over, under };
  const rounded = quotient(over * FINEST, under);
  if (magnitude(rounded) > GREATEST * FINEST) throw new Unanswerable('a number has more than 500 digits');
  return { over: rounded, under: FINEST };
}

/** The number of a plain decimal, as number fields keep it. */
export function fromDecimal(text: string): Rational {
  const point = text.indexOf('.');
  if (point < 0) return rational(BigInt(text), 1n);
  return rational(BigInt(text.slice(0, point) + text.slice(point + 1)), powerOfTen(text.length - point - 1));
}

export function fromWhole(whole: number): Rational {
  return { over: BigInt(whole), under: 1n };
}

export const ZERO = fromWhole(0);

export function add(a: Rational, b: Rational): Rational {
  if (a.under === b.under) return rational(a.over + b.over, a.under);
  // Sums of decimals keep the longer one's places, so that long sums stay short.
  const [fine, coarse] = a.under > b.under ? [a, b] : [b, a];
  if (fine.under % coarse.under === 0n) {
    return rational(fine.over + coarse.over * (fine.under / coarse.under), fine.under);
  }
  return rational(a.over * b.under + b.over * a.under, a.under * b.under);
}

export function negate(a: Rational): Rational {
  return { over: -a.over, under: a.under };
}

export function subtract(a: Rational, b: Rational): Rational {
  return add(a, negate(b));
}

export function multiply(a: Rational, b: Rational): Rational {
  return rational(a.over * b.over, a.under * b.under);
}

export function divide(a: Rational, b: Rational): Rational {
  if (b.over === 0n) throw new Unanswerable('division by zero');
  return rational(a.over * b.under, a.under * b.over);
}

/** What is left of `a` after whole times `b`; its sign is that of `b`. */
export function remainder(a: Rational, b: Rational): Rational {
  return subtract(a, multiply(rounded(divide(a, b), 0, 'floor'), b));
}

/** `a` to a whole exponent. */
export function power(a: Rational, exponent: Rational): Rational {
  const times = wholeOf(exponent);
  if (times === undefined || Math.abs(times) > GREATEST_EXPONENT) {
    throw new Unanswerable(`an exponent is no whole number from -${GREATEST_EXPONENT} to ${GREATEST_EXPONENT}`);
  }
  let result = fromWhole(1);
  let square = times < 0 ? divide(result, a) : a;
  for (let left = Math.abs(times); left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(result, square);
    if (left > 1) square = multiply(square, square);
  }
  return result;
}

/** Below 0, 0 or above 0, as `a` is less than `b`, equal or greater. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.over * b.under - b.over * a.under;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The whole number, where it is one that is exact as a JavaScript number. */
export function wholeOf(a: Rational): number | undefined {
  if (a.over % a.under !== 0n) return undefined;
  const whole = Number(a.over / a.under);
  return Number.isSafeInteger(whole) ? whole : undefined;
}

const ROUNDINGS = {
  round: quotient,
  floor: quotientBelow,
  ceil: (over: bigint, under: bigint) => -quotientBelow(-over, under),
};

/** `a` with so many digits after the point, before it where they are negative; `round` rounds half away from zero. */
export function rounded(a: Rational, digits: number, how: keyof typeof ROUNDINGS): Rational {
  const scale = powerOfTen(Math.abs(digits));
  if (digits >= 0) return rational(ROUNDINGS[how](a.over * scale, a.under), scale);
  return rational(ROUNDINGS[how](a.over, a.under * scale) * scale, 1n);
}

/** A plain decimal of at most 30 significant digits, without zeros at its end; throws where more stand before the point. */
export function toDecimal(a: Rational): string {
  const over = magnitude(a.over);
  const whole = digitsOf(over / a.under);
  const places = Math.min(RESULT_DIGITS - (whole > 0 ? whole : -zerosBehindPoint(over, a.under)), RESULT_DECIMALS);
  const units = places < 0 ? 0n : quotient(over * powerOfTen(places), a.under);
  if (places < 0 || (places === 0 && digitsOf(units) > RESULT_DIGITS)) {
    throw new Unanswerable(`the result has more than ${RESULT_DIGITS} digits before the point`);
  }
  const digits = units.toString().padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = digits.slice(point).replace(/0+$/, '');
  const text = fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`;
  return a.over < 0n && units > 0n ? `-${text}` : text;
}

/** Zeros between the point and the first other digit of a fraction below 1. */
function zerosBehindPoint(over: bigint, under: bigint): number {
  if (over === 0n) return 0;
  const shift = digitsOf(under) - digitsOf(over);
  return over * powerOfTen(shift) >= under ? shift - 1 : shift;
}

/** Digits of a whole number; 0 has none. */
function digitsOf(whole: bigint): number {
  return whole === 0n ? 0 : whole.toString().length;
}

/** The quotient rounded half away from zero; `under` is above 0. */
function quotient(over: bigint, under: bigint): bigint {
  const above = (2n * magnitude(over) + under) / (2n * under);
  return over < 0n ? -above : above;
}

/** The greatest whole number that is not above the quotient; `under` is above 0. */
function quotientBelow(over: bigint, under: bigint): bigint {
  const towardsZero = over / under;
  return over < 0n && towardsZero * under !== over ? towardsZero - 1n : towardsZero;
}

function magnitude(whole: bigint): bigint {
  return whole < 0n ? -whole : whole;
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}
