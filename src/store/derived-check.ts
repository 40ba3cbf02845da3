// How a check tells what is stored for a record from what its values say.
import type { Values } from '../envelope/record.ts';
import type { TableLayout } from '../sql/layout.ts';
import type { Derived } from './derive.ts';
import type { CheckProblem } from './register.ts';

/** Most problems reported of one table; the rest is counted. */
const MOST = 20;

/** Reports up to MOST problems of a table, then how many more there were (on null). */
export function reporter(app: string, table: string, problems: CheckProblem[]): (message: string | null) => void {
  let count = 0;
  return (message) => {
    if (message === null) {
      if (count > MOST) problems.push({ app, message: `${table}: ${count - MOST} more` });
    } else if (++count <= MOST) problems.push({ app, message: `${table}: ${message}` });
  };
}

/** A record or row with what is derived from it. */
export interface StoredRow {
  readonly id: number;
  readonly answer: string;
  readonly values: Values;
  readonly forms: readonly (string | null)[];
}

/** In what a stored record differs from what its values say; null where it does not. */
export function difference({ columns }: TableLayout, row: StoredRow, derived: Derived): string | null {
  if (row.answer !== derived.answer) return 'the rendered answer is not that of the values';
  const forms = derived.columns.slice(columns.length);
  const wrong = forms.findIndex((form, position) => form !== row.forms[position]);
  if (wrong < 0) return null;
  const names = columns.filter(({ formName }) => formName !== null);
  return `the searched form of ${names[wrong]?.field.id} is not that of the value`;
}
