// Numbers: plain decimals kept exactly, compared as numbers, shown by the field's format (D6, D37).
import type { Field, NumberFormat } from '../app/app.ts';
import { type FieldType, isStorable, type Unreadable } from './field-type.ts';

/** Greatest number of significant digits (D6). */
export const MAX_DIGITS = 30;
/** Greatest number of digits after the point. */
const MAX_DECIMALS = 400;

const PLAIN = /^[+-]?\d+(?:\.\d+)?$/;
const GROUPED = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

export const number: FieldType = {
  searches: ['exact', 'range'],
  compares: 'order',
  filledBy: 'request',
  parse: parseNumber,
  render(value, field) {
    const shown = field.numberFormat === null ? value : formatNumber(value, field.numberFormat);
    return `{"type":"number","value":"${value}","value_formatted":${JSON.stringify(shown)}}`;
  },
  order: numberOrder,
  bucket: numberBucket,
  buckets: numberBuckets,
  bound(keyword) {
    const value = parseNumber(keyword);
    return typeof value === 'string' ? numberOrder(value) : value;
  },
};

/** Reads a decimal: optional sign, grouping commas dropped, the digits kept as sent, at most 30 significant ones. */
export function parseNumber(sent: string): string | Unreadable {
  if (!isStorable(sent)) return { code: 'bad_character' };
  let text = sent;
  if (text.includes(',')) {
    if (!GROUPED.test(text)) return { code: 'not_a_number' };
    text = text.replaceAll(',', '');
  } else if (!PLAIN.test(text)) return { code: 'not_a_number' };
  if (text.charCodeAt(0) === 43) text = text.slice(1);
  const { digits, point } = significant(text);
  if (digits.length > MAX_DIGITS || point < -MAX_DECIMALS) return { code: 'number_too_long', limit: MAX_DIGITS };
  return text;
}

/** The decimal for which a formula takes a kept value: that of a number, and of a calculation where it reads as one; null for a text. */
export function numberOf(value: string, field: Field): string | null {
  const read = field.type === 'number' || field.type === 'calculation' ? parseNumber(value) : null;
  return typeof read === 'string' ? read : null;
}

/** Digits from the first that is not 0, and where the point stands before (negative: zeros between) or in them. */
function significant(value: string): { digits: string; point: number } {
  let start = value.charCodeAt(0) === 45 ? 1 : 0;
  const dot = value.indexOf('.');
  const whole = dot < 0 ? value.slice(start) : value.slice(start, dot);
  const all = dot < 0 ? whole : whole + value.slice(dot + 1);
  start = 0;
  while (start < all.length && all.charCodeAt(start) === 48) start++;
  return { digits: all.slice(start), point: whole.length - start };
}

/**
 * A text whose code point order is the numeric order, exactly; equal for equal numbers (`1.0`, `01`).
 * Sign, then where the point stands, then the digits; all complemented below zero, with an end mark above every digit.
 */
export function numberOrder(value: string): string {
  const { digits, point } = significant(value);
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--;
  if (end === 0) return '1';
  const body = String(point + 500).padStart(3, '0') + digits.slice(0, end);
  if (value.charCodeAt(0) !== 45) return `2${body}`;
  let complement = '0';
  for (let i = 0; i < body.length; i++) complement += String.fromCharCode(105 - body.charCodeAt(i));
  return `${complement}~`;
}

/** Sign, order of magnitude and two leading digits of an order form. */
function numberBucket(order: string): string {
  return order.slice(0, 6).padEnd(6, '0');
}

/** Most buckets of a range that are asked for one by one. */
const MAX_BUCKETS = 64;

function numberBuckets(from: string, to: string): readonly string[] | null {
  const last = numberBucket(to);
  const buckets: string[] = [];
  // Ranges of positive numbers only: 2, where the point stands, then two digits.
  if (!from.startsWith('2') || from > to) return null;
  let point = Number(from.slice(1, 4));
  let digits = Number(from.slice(4, 6).padEnd(2, '0'));
  for (;;) {
    const bucket = `2${String(point).padStart(3, '0')}${digits}`;
    if (bucket > last) return buckets;
    if (buckets.push(bucket) > MAX_BUCKETS) return null;
    if (++digits === 100) {
      digits = 10;
      point++;
    }
  }
}

/** The number as `value_formatted` shows it: rounded half away from zero, sign, prefix, digits, suffix (D37). */
export function formatNumber(value: string, format: NumberFormat): string {
  if (value === '') return '';
  const negative = value.charCodeAt(0) === 45;
  const unsigned = negative ? value.slice(1) : value;
  let [whole = '', fraction = ''] = unsigned.split('.') as [string, string?];
  if (format.decimals !== null) {
    if (fraction.length > format.decimals) {
      const roundUp = fraction.charCodeAt(format.decimals) >= 53;
      let kept = BigInt(whole + fraction.slice(0, format.decimals));
      if (roundUp) kept += 1n;
      const text = kept.toString().padStart(format.decimals + 1, '0');
      whole = text.slice(0, text.length - format.decimals);
      fraction = text.slice(text.length - format.decimals);
    } else fraction = fraction.padEnd(format.decimals, '0');
  }
  whole = whole.replace(/^0+(?=\d)/, '');
  if (format.grouping) whole = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  const digits = fraction === '' ? whole : `${whole}.${fraction}`;
  const isZero = !/[1-9]/.test(digits);
  return (negative && !isZero ? '-' : '') + format.prefix + digits + format.suffix;
}
