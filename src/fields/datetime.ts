// Date-times: written YYYY-MM-DD HH:MM:SS, as the system fields are; a bound may be a date alone, the whole day.
import { monthOf, monthsBetween, parseDate } from './date.ts';
import { type FieldType, isStorable, plainEntry, type Unreadable } from './field-type.ts';
import { parseTime } from './time.ts';

export const datetime: FieldType = {
  searches: ['exact', 'range'],
  compares: 'order',
  filledBy: 'request',
  parse: parseDatetime,
  render: (value) => plainEntry('datetime', value),
  bucket: monthOf,
  buckets: monthsBetween,
  bound: datetimeBound,
};

/** `YYYY-MM-DD HH:MM:SS`; read with `-` or `/`, a space or `T`, with or without seconds. */
export function parseDatetime(sent: string): string | Unreadable {
  if (!isStorable(sent)) return { code: 'bad_character' };
  const between = sent.charAt(10);
  if (between !== ' ' && between !== 'T') return { code: 'not_a_datetime' };
  const day = parseDate(sent.slice(0, 10));
  const time = parseTime(sent.slice(11));
  if (typeof day !== 'string' || typeof time !== 'string') return { code: 'not_a_datetime' };
  return `${day} ${time}`;
}

/** A date-time, or a date alone: its first second as a lower bound, its last as an upper one. */
export function datetimeBound(keyword: string, side: 'lower' | 'upper'): string | Unreadable {
  if (keyword.length !== 10) return parseDatetime(keyword);
  const day = parseDate(keyword);
  if (typeof day !== 'string') return { code: 'not_a_datetime' };
  return side === 'lower' ? `${day} 00:00:00` : `${day} 23:59:59`;
}
