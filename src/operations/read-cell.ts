// A cell of a CSV file → the value its field keeps; spreadsheets' ways of writing dates and numbers are allowed for.
import type { Field } from '../app/app.ts';
import { padDate } from '../app/infer.ts';
import type { Problem } from '../errors.ts';
import { typeOf } from '../fields/field-types.ts';

/** Reads the cells of one column; a cell that is not empty → its value, or the problem with it. */
export type CellReader = (cell: string) => string | Problem;

/** `at` names the field in problems. */
export function cellReader(field: Field, at: string): CellReader {
  const { parse, compares } = typeOf(field);
  return (cell) => {
    const value = parse(cell, field);
    if (typeof value === 'string') return value;
    if (compares === 'order') {
      const lenient = parse(plainly(cell), field);
      if (typeof lenient === 'string') return lenient;
    }
    return { ...value, at, sent: cell.slice(0, 100).toWellFormed() };
  };
}

/** Full-width digits and signs narrowed, parts of dates and times with one digit padded. */
function plainly(cell: string): string {
  const narrow = cell.normalize('NFKC').replaceAll('\u2212', '-');
  const [day = '', ...times] = narrow.split(' ');
  if (times.length > 1) return narrow;
  return [day, ...times].map((part) => padTime(padDate(part))).join(' ');
}

/** `9:05` as `09:05`. */
function padTime(text: string): string {
  if (!/^\d{1,2}(?::\d{1,2}){1,2}$/.test(text)) return text;
  return text.replace(/(?<!\d)\d(?!\d)/g, '0$&');
}
