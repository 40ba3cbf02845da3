// From the values of an old definition to those of a new one.
import type { Field } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import type { RenderContext } from '../fields/field-type.ts';
import { convert, isSameType } from '../fields/field-types.ts';
import type { Layout } from '../sql/layout.ts';
import { type Derived, deriver } from './derive.ts';
import { Mistake } from './register.ts';

/** Copies records from one generation of tables to the next. */
export interface Adopter {
  record(values: Values, context: RenderContext): Derived;
  /** By table of the new layout: the old one's position, -1 where there is none, and how its rows are derived. */
  readonly tables: readonly { readonly from: number; row(values: Values, context: RenderContext): Derived }[];
}

/** `lossy` empties values that new types cannot hold; otherwise they are a Mistake. */
export function adopterOf(before: Layout, after: Layout, lossy: boolean): Adopter {
  const fieldsOf = ({ form }: Layout) => form.columns.map(({ field }) => field);
  const adopt = valueAdopter(fieldsOf(before), fieldsOf(after), lossy, [before.app.primaryKey, after.app.primaryKey]);
  const derive = deriver(after, null);
  return {
    record: (values, context) => derive(adopt(values), context),
    tables: after.tables.map(({ table: { code, fields } }, index) => {
      const from = before.tables.findIndex((candidate) => candidate.table.code === code);
      const adoptRow = valueAdopter(before.tables[from]?.table.fields ?? [], fields, lossy);
      const deriveRow = deriver(after, index);
      return { from, row: (values, context) => deriveRow(adoptRow(values), context) };
    }),
  };
}

/** From the values of the old fields to those of the new: by field ID, the primary key by its role. */
function valueAdopter(
  before: readonly Field[],
  after: readonly Field[],
  lossy: boolean,
  [oldKey, newKey]: readonly [Field?, Field?] = [],
): (values: Values) => Values {
  const sources = after.map((field) => ({
    field,
    from: before.findIndex((old) => (field === newKey ? old.id === oldKey?.id : old.id === field.id)),
  }));
  const converts = sources.map(({ field, from }) => from >= 0 && !isSameType(before[from] as Field, field));
  return (values) =>
    sources.map(({ field, from }, position) => {
      const value = values[from] ?? '';
      if (value === '' || !converts[position]) return value;
      const read = convert(value, before[from] as Field, field);
      if (read !== null) return read;
      if (!lossy) throw new Mistake(`"${value.slice(0, 60)}" of field ${field.id} cannot be kept as ${field.type}`);
      return '';
    });
}
