// Dates: written YYYY-MM-DD, read with - or / (D5).
import { type FieldType, isStorable, plainEntry, type Unreadable } from './field-type.ts';

const DATE = /^(\d{4})([-/])(\d{2})\2(\d{2})$/;

export const date: FieldType = {
  searches: ['exact', 'range'],
  compares: 'order',
  filledBy: 'request',
  parse: parseDate,
  render: (value) => plainEntry('date', value),
  bucket: monthOf,
  buckets: monthsBetween,
  bound: parseDate,
};

/** Most months of a range that are asked for one by one. */
const MAX_MONTHS = 36;

/** The month of a date or date-time. */
export function monthOf(date: string): string {
  return date.slice(0, 7);
}

/** The months that a range of dates or date-times touches; null where they are many. */
export function monthsBetween(from: string, to: string): readonly string[] | null {
  const months: string[] = [];
  let year = Number(from.slice(0, 4));
  let month = Number(from.slice(5, 7));
  for (let next = monthOf(from); next <= monthOf(to); ) {
    if (months.push(next) > MAX_MONTHS) return null;
    month = month === 12 ? 1 : month + 1;
    if (month === 1) year++;
    next = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`;
  }
  return months;
}

/** `YYYY-MM-DD` of a date that exists in the Gregorian calendar, years 0001 to 9999. */
export function parseDate(sent: string): string | Unreadable {
  if (!isStorable(sent)) return { code: 'bad_character' };
  const parts = DATE.exec(sent);
  if (parts === null) return { code: 'not_a_date' };
  const [, year = '', , month = '', day = ''] = parts;
  if (year === '0000' || !dayExists(Number(year), Number(month), Number(day))) return { code: 'not_a_date' };
  return `${year}-${month}-${day}`;
}

function dayExists(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (leap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return day <= days;
}
