// Dates: written YYYY-MM-DD, read with - or / (D5).
import { type FieldType, isStorable, plainEntry, type Unreadable } from './field-type.ts';

const DATE = /^(\d{4})([-/])(\d{2})\2(\d{2})$/;

export const date: FieldType = {
  searches: ['exact', 'range'],
  compares: 'order',
  filledBy: 'request',
  parse: parseDate,
  render: (value) => plainEntry('date', value),
  bound: parseDate,
};

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
