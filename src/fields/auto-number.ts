// Auto numbers: given by the server, never updated (spec 4.2); a range compares their digits as numbers.
import type { Field } from '../app/app.ts';
import { type FieldType, isStorable, plainEntry } from './field-type.ts';
import { parseText } from './text.ts';

export const autoNumber: FieldType = {
  searches: ['partial', 'exact', 'prefix', 'suffix', 'any_of', 'range'],
  compares: 'text',
  filledBy: 'server',
  parse: parseText,
  render: (value) => plainEntry('auto_number', value),
  order: naturalOrder,
  bound: (keyword) => (isStorable(keyword) ? naturalOrder(keyword) : { code: 'bad_character' }),
};

/** Runs of digits compare as numbers (`A-9` before `A-10`), the rest by code point. */
export function naturalOrder(value: string): string {
  return value.replace(/\d+/g, (run) => {
    const digits = run.replace(/^0+/, '');
    // A run of 999 digits or more has a second, wider count behind the first.
    const wide = digits.length < 999 ? '' : String(digits.length).padStart(15, '0');
    return String(Math.min(digits.length, 999)).padStart(3, '0') + wide + digits;
  });
}

const PART = /\{(YYYY|MM|DD|0+)\}/g;

/** Whether a format is one: text with `{YYYY}`, `{MM}`, `{DD}` and exactly one counter such as `{00000}`. */
export function isAutoNumberFormat(format: string): boolean {
  if (format === '') return true;
  const counters = [...format.matchAll(PART)].filter((part) => part[1]?.startsWith('0'));
  return counters.length === 1 && !/[{}]/.test(format.replace(PART, ''));
}

/** The auto number for a count, put in on a day `YYYY-MM-DD`. */
export function formatAutoNumber(field: Field, count: number, day: string): string {
  if (field.autoNumberFormat === '') return String(count);
  return field.autoNumberFormat.replace(PART, (_, part: string) => {
    if (part === 'YYYY') return day.slice(0, 4);
    if (part === 'MM') return day.slice(5, 7);
    if (part === 'DD') return day.slice(8, 10);
    return String(count).padStart(part.length, '0');
  });
}

/** The count inside an auto number that follows the field's format; null for any other text. */
export function autoNumberCount(field: Field, value: string): number | null {
  const format = field.autoNumberFormat === '' ? '{0}' : field.autoNumberFormat;
  let pattern = '';
  let end = 0;
  for (const part of format.matchAll(PART)) {
    pattern += RegExp.escape(format.slice(end, part.index));
    pattern += part[1]?.startsWith('0') ? '(\\d{1,15})' : part[1] === 'YYYY' ? '\\d{4}' : '\\d{2}';
    end = part.index + part[0].length;
  }
  const match = new RegExp(`^${pattern}${RegExp.escape(format.slice(end))}$`).exec(value);
  return match === null ? null : Number(match[1]);
}
