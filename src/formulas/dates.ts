// Calculating with dates, as fields keep them: YYYY-MM-DD, alone or before a time.
import { parseDate } from '../fields/date.ts';
import { parseDatetime } from '../fields/datetime.ts';
import { parseTime } from '../fields/time.ts';
import { Unanswerable } from './unanswerable.ts';
import { asText, quoted, type Value } from './value.ts';

export interface Moment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** ` HH:MM:SS` of a date-time, '' of a date. */
  readonly time: string;
}

/** The date or date-time of a value; '' where it is empty. */
export function asMoment(value: Value): Moment | '' {
  const text = asText(value);
  if (text === '') return '';
  const read = text.length > 10 ? parseDatetime(text) : parseDate(text);
  if (typeof read !== 'string') throw new Unanswerable(`${quoted(text)} is no date`);
  return {
    year: Number(read.slice(0, 4)),
    month: Number(read.slice(5, 7)),
    day: Number(read.slice(8, 10)),
    time: read.slice(10),
  };
}

/** A date, date-time or time in the one way it is kept, and which of them it is; undefined for anything else. */
export function readMoment(value: Value): { readonly kind: string; readonly text: string } | undefined {
  if (typeof value !== 'string') return undefined;
  for (const [kind, parse] of Object.entries({ parseDate, parseDatetime, parseTime })) {
    const text = parse(value);
    if (typeof text === 'string') return { kind, text };
  }
  return undefined;
}

/** The text of a date that exists. */
export function dateText({ year, month, day, time }: Moment): string {
  const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  if (typeof parseDate(text) !== 'string') throw new Unanswerable(`${text} is no date`);
  return text + time;
}

/** So many days later, earlier where they are negative. */
export function plusDays(moment: Moment, days: number): string {
  return dateText({ ...dateOfDay(dayNumber(moment) + days), time: moment.time });
}

/** So many months later; a day that the month does not have becomes its last. */
export function plusMonths(moment: Moment, months: number): string {
  const count = moment.year * 12 + moment.month - 1 + months;
  const year = Math.floor(count / 12);
  const month = count - year * 12 + 1;
  const begin = dayNumber({ ...moment, year, month, day: 1 });
  const [nextYear, nextMonth] = month === 12 ? [year + 1, 1] : [year, month + 1];
  const days = dayNumber({ ...moment, year: nextYear, month: nextMonth, day: 1 }) - begin;
  return dateText({ ...moment, year, month, day: Math.min(moment.day, days) });
}

/** Days from one date to another, whatever their times. */
export function daysBetween(from: Moment, to: Moment): number {
  return dayNumber(to) - dayNumber(from);
}

/** Days since 1 March of the year 0. Years begin in March here, so that the leap day is a year's last. */
function dayNumber({ year, month, day }: Moment): number {
  const monthFromMarch = (month + 9) % 12;
  return firstDay(monthFromMarch >= 10 ? year - 1 : year) + daysBefore(monthFromMarch) + day - 1;
}

function dateOfDay(number: number): { year: number; month: number; day: number } {
  // 400 years have 146,097 days; the guess is a year too late at most.
  let year = Math.floor((number * 400 + 591) / 146_097);
  if (firstDay(year) > number) year--;
  const inYear = number - firstDay(year);
  const monthFromMarch = Math.floor((inYear * 100 + 52) / 3_060);
  const isNextYear = monthFromMarch >= 10;
  return {
    year: isNextYear ? year + 1 : year,
    month: isNextYear ? monthFromMarch - 9 : monthFromMarch + 3,
    day: inYear - daysBefore(monthFromMarch) + 1,
  };
}

function firstDay(year: number): number {
  return 365 * year + Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
}

/** Days of a year before a month; five months from March on have 153 days, and so have the next five. */
function daysBefore(monthFromMarch: number): number {
  return Math.floor((monthFromMarch * 153 + 2) / 5);
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
