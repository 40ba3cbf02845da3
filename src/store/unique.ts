// Values that must be unique and are not: found before a field becomes unique, and told of a load.
import type { App, Field } from '../app/app.ts';
import { convert, isSameType } from '../fields/field-types.ts';
import { type Column, type Layout, uniqueKey } from '../sql/layout.ts';
import { Mistake } from './register.ts';
import type { DerivedRecord } from './source-records.ts';

/** The columns of a definition whose values have to be looked at because they become unique, with the fields that they are of now. */
export function becomingUnique(
  before: App,
  after: Layout,
): readonly { readonly column: Column; readonly field: Field }[] {
  return after.form.columns.flatMap((column) => {
    const field = before.fields.find(({ id }) => id === column.field.id);
    const isNew = column.unique !== null && field !== undefined && !(field.unique && isSameType(field, column.field));
    return isNew ? [{ column, field }] : [];
  });
}

/** Takes the values of a field that becomes unique, record by record; throws a Mistake at the first that is there already. */
export function uniqueValues(column: Column, from: Field): (value: string, primaryKey: string) => void {
  const seen = new Map<string, string>();
  return (value, primaryKey) => {
    const converted = isSameType(from, column.field) ? value : (convert(value, from, column.field) ?? '');
    if (converted === '') return;
    const { value: key } = uniqueKey(column, converted);
    const other = seen.get(key);
    if (other !== undefined) {
      throw new Mistake(
        `${column.field.id} cannot be unique: the records ${other} and ${primaryKey} have the same value ("${value.slice(0, 60)}")`,
      );
    }
    seen.set(key, primaryKey);
  };
}

/** Refuses a load for a record with a value that another record has; `fieldId` is null where it is not known which. */
export function refuseClash({ primaryKey, record }: DerivedRecord, { form }: Layout, fieldId: string | null): never {
  const position = form.columns.findIndex(({ field }) => field.id === fieldId);
  const what = position < 0 ? 'a value' : `"${(record.columns[position] ?? '').slice(0, 60)}" in ${fieldId}`;
  throw new Mistake(
    `record ${primaryKey} has ${what} that another record has, and that must be unique; change it in one of them`,
  );
}
