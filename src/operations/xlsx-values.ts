// Values of cells of XLSX ↔ texts: numbers as doubles, dates and times as days since an epoch.

/** How a cell's format shows its number. */
export type Shown =
  | { readonly kind: 'number' /** Digits after the point that are always shown. */; readonly decimals: number }
  | { readonly kind: 'date' | 'datetime' | 'time' };

export const PLAIN: Shown = { kind: 'number', decimals: 0 };

/** Digits that Excel keeps of a number. */
const DIGITS = 15;
const SECONDS = 86_400;
/** Day 1 of March 1900: before it programs count differently, since Excel has a 29 February 1900. */
const FIRST_DAY = 61;
/** 9999-12-31. */
const LAST_DAY = 2_958_465;
/** Days from 1899-12-30, the epoch of every day from FIRST_DAY on, to 1970-01-01 and to 1904-01-01. */
const TO_1970 = 25_569;
const TO_1904 = 1_462;

const MOMENT = /^(?:(\d{4})-(\d\d)-(\d\d))?( ?)(?:(\d\d):(\d\d):(\d\d))?$/;

/** A value that compares by order as the number of a cell and how it is shown; null where it has to be a text. */
export function numberOfValue(value: string): { readonly number: number; readonly shown: Shown } | null {
  const moment = MOMENT.exec(value);
  if (moment !== null) return numberOfMoment(moment);
  const number = Number(value);
  const point = value.indexOf('.');
  const shown: Shown = { kind: 'number', decimals: point < 0 ? 0 : value.length - point - 1 };
  return shown.decimals <= DIGITS && textOfNumber(number, shown.decimals) === value ? { number, shown } : null;
}

function numberOfMoment([, year, month, day, space, hour, minute, second]: readonly (string | undefined)[]) {
  const time = Number(hour ?? 0) * 3600 + Number(minute ?? 0) * 60 + Number(second ?? 0);
  if (year === undefined)
    return hour === undefined ? null : { number: time / SECONDS, shown: { kind: 'time' } as const };
  const days = Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000 / SECONDS + TO_1970;
  // Date takes the years 0 to 99 for 1900 to 1999.
  if (days < FIRST_DAY || Number(year) < 1900) return null;
  return { number: days + time / SECONDS, shown: { kind: space === '' ? 'date' : 'datetime' } as const };
}

/** The plain decimal of a number, with the digits that Excel shows at most, and at least so many after the point. */
export function textOfNumber(number: number, decimals: number): string {
  const [whole = '', fraction = ''] = plainNumber(number).split('.');
  return fraction === '' && decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
}

function plainNumber(number: number): string {
  const text = String(number);
  if (text.length <= DIGITS && !text.includes('e')) return text;
  const [mantissa = '', exponent = '0'] = number.toExponential(DIGITS - 1).split('e');
  const digits = mantissa.replace(/^-|\./g, '').replace(/0+$/, '');
  // Where the point stands: after so many digits.
  const point = Number(exponent) + 1;
  const padded = digits.padEnd(point, '0').padStart(digits.length + Math.max(0, 1 - point), '0');
  const at = Math.max(1, point);
  return `${number < 0 ? '-' : ''}${padded.slice(0, at)}${padded.length > at ? `.${padded.slice(at)}` : ''}`;
}

/** What a cell says whose number is shown as a date or time; null where that is none. */
export function textOfMoment(number: number, kind: 'date' | 'datetime' | 'time', is1904: boolean): string | null {
  const seconds = Math.round(number * SECONDS);
  const days = Math.floor(seconds / SECONDS) + (is1904 ? TO_1904 : 0);
  const time = timeOf(seconds - Math.floor(seconds / SECONDS) * SECONDS);
  if (kind === 'time' && seconds >= 0 && seconds < SECONDS) return time;
  if (days < 0 || days > LAST_DAY) return null;
  const date = dateOf(days);
  // What a format leaves out is not lost.
  return kind === 'date' && seconds % SECONDS === 0 ? date : `${date} ${time}`;
}

function timeOf(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** A day as Excel shows it, with its day 60 that never was. */
function dateOf(days: number): string {
  if (days === 0) return '1900-01-00';
  if (days === FIRST_DAY - 1) return '1900-02-29';
  const since = days - TO_1970 + (days < FIRST_DAY ? 1 : 0);
  return new Date(since * SECONDS * 1000).toISOString().slice(0, 10);
}

/** Formats that are known by number; those of East Asian versions are dates too. */
const BUILT_IN: Readonly<Record<number, Shown>> = {
  2: { kind: 'number', decimals: 2 },
  4: { kind: 'number', decimals: 2 },
  ...Object.fromEntries(
    [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, { kind: 'date' }]),
  ),
  ...Object.fromEntries([18, 19, 20, 21, 32, 33, 34, 35, 45, 46, 47, 55, 56].map((id) => [id, { kind: 'time' }])),
  22: { kind: 'datetime' },
};

/** How a format shows numbers; `code` is that of a format which the file describes. */
export function shownBy(id: number, code: string | undefined): Shown {
  if (code === undefined) return BUILT_IN[id] ?? PLAIN;
  const [first = ''] = code.replace(/\\.|[_*].|"[^"]*"/g, ' ').split(';');
  const elapsed = /\[(?:h+|m+|s+)\]/i.test(first);
  const plain = first
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/general|standard|g\/標準/gi, ' ')
    .replace(/e[+-]/gi, ' ');
  const time = elapsed || /[hs]|am\/pm|a\/p/i.test(plain);
  const date = /[ydg]|e|a{3}/i.test(plain.replace(/am\/pm|a\/p/gi, ' ')) || (!time && /m/i.test(plain));
  if (date) return { kind: time ? 'datetime' : 'date' };
  if (time) return { kind: 'time' };
  const decimals = /^\s*(?:#,##)?0\.(0+)\s*$/.exec(plain)?.[1]?.length ?? 0;
  return { kind: 'number', decimals };
}
