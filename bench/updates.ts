// The updates that the bench measures: every field of a record sent again, its remarks and due date changed.
import { dayText, formValues, orderDayOf } from './records.ts';
import { FORM_FIELDS, type FormField } from './register.ts';

/** Text in an update's remarks in whose place the load tool writes a running number. */
export const STAMP = 'ZZZZZZZZ';

export interface Update {
  readonly n: number;
  /** Values by field ID, as they are sent. */
  readonly values: Readonly<Record<FormField, string>>;
}

/** One update of each of that many records, spread over the register; no search of the bench finds other records after them. */
export function updates(seed: number, records: number, count: number): Update[] {
  return Array.from({ length: Math.min(count, records) }, (_, i) => {
    const n = 1 + ((i * 104_729 + 5) % records);
    const values = Object.fromEntries(FORM_FIELDS.map((id, at) => [id, formValues(seed, n)[at]])) as Record<
      FormField,
      string
    >;
    const remarks = `${values.bench_remarks}\r\n変更 ${STAMP}`.trimStart();
    return { n, values: { ...values, bench_remarks: remarks, bench_due: dayText(orderDayOf(seed, n) + 1) } };
  });
}

/** An update's `param` (spec 4.2). */
export function updateParam(update: Update): string {
  return JSON.stringify(Object.fromEntries(Object.entries(update.values).map(([id, value]) => [id, { value }])));
}
