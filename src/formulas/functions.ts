// The functions of formulas, by name: how many values each takes, and what it makes of them.
import { formatNumber } from '../fields/number.ts';
import { asMoment, dateText, daysBetween, type Moment, plusDays, plusMonths, readMoment } from './dates.ts';
import {
  add,
  compare,
  divide,
  fromWhole,
  negate,
  type Rational,
  rounded,
  toDecimal,
  wholeOf,
  ZERO,
} from './rational.ts';
import { Unanswerable } from './unanswerable.ts';
import { asNumber, asText, bounded, boundLength, orderOfTexts, quoted, type Value } from './value.ts';

export interface FormulaFunction {
  /** Number of values it takes. */
  readonly least: number;
  readonly most: number;
  /** It takes the values of a table's field over all rows, each as a value of its own. */
  readonly overRows: boolean;
  call(values: readonly Value[]): Value;
}

type Call = FormulaFunction['call'];

/** `if` is not here: it looks at one of two values only. */
export const FUNCTIONS: ReadonlyMap<string, FormulaFunction> = new Map([
  ['sum', overRows((values) => sum(numbersIn(values)))],
  ['avg', overRows(average)],
  ['count', overRows((values) => fromWhole(values.filter((value) => value !== '').length))],
  ['min', overRows((values) => extreme(values, -1))],
  ['max', overRows((values) => extreme(values, 1))],
  ['round', taking(1, 2, rounding('round'))],
  ['floor', taking(1, 2, rounding('floor'))],
  ['ceil', taking(1, 2, rounding('ceil'))],
  [
    'abs',
    taking(
      1,
      1,
      ofNumber((number) => (number.over < 0n ? negate(number) : number)),
    ),
  ],
  ['concat', taking(1, Infinity, (values) => bounded(values.map(asText).join('')))],
  ['len', taking(1, 1, ([text = '']) => fromWhole([...asText(text)].length))],
  ['left', taking(2, 2, ([text = '', count = '']) => part(text, FIRST, count))],
  ['right', taking(2, 2, ([text = '', count = '']) => lastPart(text, count))],
  ['mid', taking(3, 3, ([text = '', start = '', count = '']) => part(text, start, count))],
  ['upper', taking(1, 1, ([text = '']) => bounded(asText(text).toUpperCase()))],
  ['lower', taking(1, 1, ([text = '']) => bounded(asText(text).toLowerCase()))],
  ['trim', taking(1, 1, ([text = '']) => asText(text).trim())],
  ['replace', taking(3, 3, ([text = '', old = '', by = '']) => replaced(asText(text), asText(old), asText(by)))],
  ['text', taking(2, 2, ([number = '', format = '']) => formatted(asNumber(number), asText(format)))],
  [
    'year',
    taking(
      1,
      1,
      ofMoment(({ year }) => fromWhole(year)),
    ),
  ],
  [
    'month',
    taking(
      1,
      1,
      ofMoment(({ month }) => fromWhole(month)),
    ),
  ],
  [
    'day',
    taking(
      1,
      1,
      ofMoment(({ day }) => fromWhole(day)),
    ),
  ],
  ['date', taking(3, 3, dateOf)],
  ['days', taking(2, 2, ([from = '', to = '']) => days(asMoment(from), asMoment(to)))],
  ['adddays', taking(2, 2, ([date = '', count = '']) => moved(asMoment(date), count, plusDays))],
  ['addmonths', taking(2, 2, ([date = '', count = '']) => moved(asMoment(date), count, plusMonths))],
]);

function taking(least: number, most: number, call: Call): FormulaFunction {
  return { least, most, overRows: false, call };
}

function overRows(call: Call): FormulaFunction {
  return { least: 1, most: Infinity, overRows: true, call };
}

function ofNumber(call: (number: Rational) => Value): Call {
  return ([value = '']) => {
    const number = asNumber(value);
    return number === '' ? '' : call(number);
  };
}

function ofMoment(call: (moment: Moment) => Value): Call {
  return ([value = '']) => {
    const moment = asMoment(value);
    return moment === '' ? '' : call(moment);
  };
}

/** Empty ones count as absent. */
function numbersIn(values: readonly Value[]): Rational[] {
  return values.map(asNumber).filter((number) => number !== '');
}

function sum(numbers: readonly Rational[]): Rational {
  return numbers.reduce(add, ZERO);
}

function average(values: readonly Value[]): Value {
  const numbers = numbersIn(values);
  return numbers.length === 0 ? '' : divide(sum(numbers), fromWhole(numbers.length));
}

/** The least or the greatest of numbers, or of dates, date-times or times; empty where all are empty. */
function extreme(values: readonly Value[], sign: -1 | 1): Value {
  const given = values.filter((value) => value !== '');
  const moments = given.map(readMoment);
  const [first] = moments;
  const texts = moments.flatMap((moment) =>
    moment?.kind === first?.kind && moment !== undefined ? [moment.text] : [],
  );
  if (texts.length > 0 && texts.length === given.length) {
    return texts.reduce((best, text) => (orderOfTexts(text, best) * sign > 0 ? text : best));
  }
  const numbers = numbersIn(given);
  return numbers.length === 0 ? '' : numbers.reduce((best, one) => (compare(one, best) * sign > 0 ? one : best));
}

const MOST_DIGITS = 400;

function rounding(how: Parameters<typeof rounded>[2]): Call {
  return ([value = '', digits = ZERO]) => {
    const number = asNumber(value);
    const places = whole(digits, -MOST_DIGITS, MOST_DIGITS);
    return number === '' || places === '' ? '' : rounded(number, places, how);
  };
}

const MOST_CHARACTERS = 1_000_000;
/** The place of a text's first character. */
const FIRST = fromWhole(1);

/** Characters are code points; the first is 1. */
function part(text: Value, start: Value, count: Value): Value {
  const [from, length] = [whole(start, 1, MOST_CHARACTERS), whole(count, 0, MOST_CHARACTERS)];
  if (from === '' || length === '') return '';
  return [...asText(text)].slice(from - 1, from - 1 + length).join('');
}

function lastPart(text: Value, count: Value): Value {
  const length = whole(count, 0, MOST_CHARACTERS);
  if (length === '') return '';
  const characters = [...asText(text)];
  return characters.slice(Math.max(0, characters.length - length)).join('');
}

/** Every `old` in a text becomes `by`; nothing does where `old` is empty. */
function replaced(text: string, old: string, by: string): string {
  if (old === '') return text;
  const parts = text.split(old);
  // Before it is made: the text may become thousands of times as long.
  boundLength(text.length + (parts.length - 1) * (by.length - old.length));
  return parts.join(by);
}

/** Text, `#,##` for commas between groups, `0`, zeros behind the point, text. */
const FORMAT = /^([^0#]*)(#,##)?0(?:\.(0+))?([^0#]*)$/;

function formatted(number: Rational | '', format: string): string {
  const parts = FORMAT.exec(format);
  const [, prefix = '', grouping, decimals = '', suffix = ''] = parts ?? [];
  if (parts === null || decimals.length > 30) {
    throw new Unanswerable(`${quoted(format)} is no format; expected one such as #,##0.00`);
  }
  if (number === '') return '';
  const settings = { grouping: grouping !== undefined, decimals: decimals.length, prefix, suffix };
  return formatNumber(toDecimal(number), settings);
}

function dateOf(values: readonly Value[]): Value {
  const [year = '', month = '', day = ''] = values.map((value) => whole(value, 0, 9_999));
  return year === '' || month === '' || day === '' ? '' : dateText({ year, month, day, time: '' });
}

function days(from: Moment | '', to: Moment | ''): Value {
  return from === '' || to === '' ? '' : fromWhole(daysBetween(from, to));
}

/** More days than there are from the first date that can be to the last. */
const MOST_DAYS = 4_000_000;

function moved(moment: Moment | '', count: Value, move: (moment: Moment, count: number) => string): Value {
  const by = whole(count, -MOST_DAYS, MOST_DAYS);
  return moment === '' || by === '' ? '' : move(moment, by);
}

/** A whole number in bounds; '' where the value is empty. */
function whole(value: Value, least: number, greatest: number): number | '' {
  const number = asNumber(value);
  if (number === '') return '';
  const found = wholeOf(number);
  if (found !== undefined && found >= least && found <= greatest) return found;
  throw new Unanswerable(`${quoted(asText(value))} is no whole number from ${least} to ${greatest}`);
}
