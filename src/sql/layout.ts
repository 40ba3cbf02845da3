// How an app's records lie in the database: one table per app and one per form table, named here and nowhere else.
import { type App, type Field, searchForm, type Table } from '../app/app.ts';
import { typeOf } from '../fields/field-types.ts';
import { bucketOf, type IndexKind, indexKind, searchedForm } from '../search/methods.ts';

/** A field's column, and the column of its searched form where that is not the value itself. */
export interface Column {
  readonly field: Field;
  readonly name: string;
  /** Column of the searched form; null where `name` serves. */
  readonly formName: string | null;
  /** From the value to the searched form; null where that is the value. */
  readonly form: ((value: string) => string) | null;
  readonly indexKind: IndexKind;
  /** Name of the B-tree index of an ordered search; null where there is none. */
  readonly index: string | null;
  /** Name of the index that sees to it that no two records have the same value; null where the field is not unique. */
  readonly unique: string | null;
  /** From the searched form to the bucket by which the pair index finds it; null where it has none. */
  readonly bucket: ((form: string) => string) | null;
}

export interface TableLayout {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Name of the pair index; null where no column needs one. */
  readonly pairs: string | null;
}

export interface Layout {
  readonly app: App;
  /** Columns: the form's fields in their order, then the system fields in theirs. */
  readonly form: TableLayout;
  readonly tables: readonly (TableLayout & { readonly table: Table })[];
  /** Earlier versions of records; kept from one generation to the next. */
  readonly history: string;
  /**
   * Where the records are spread over several databases: the table of primary keys, which sees to it that each is there once.
   * Null where one index does that.
   */
  readonly keys: string | null;
}

/** Whether the pair index holds tokens of the column. */
export function hasTokens({ indexKind, bucket }: Column): boolean {
  return indexKind === 'pairs' || indexKind === 'choices' || bucket !== null;
}

/** Whether two records or rows differ in a column of which the pair index holds tokens. */
export function tokensDiffer({ columns }: TableLayout, before: readonly string[], after: readonly string[]): boolean {
  return columns.some((column, position) => before[position] !== after[position] && hasTokens(column));
}

/** The column that says whether two records have the same value in a unique field, and what it holds for a value. */
export function uniqueKey(
  { field, name, formName, form }: Column,
  value: string,
): { readonly name: string; readonly value: string } {
  // 1 and 1.0 are one number.
  if (typeOf(field).compares !== 'order' || formName === null) return { name, value };
  return { name: formName, value: form?.(value) ?? value };
}

/** Whether values of a column with an index may be longer than an index entry of every engine. */
export function isLong({ field }: Column): boolean {
  return typeOf(field).compares !== 'order';
}

/** Longest identifier that every engine takes, less what is put behind it. */
const MAX_NAME = 50;

/**
 * The layout of a generation of an app's tables. Columns are named by their field IDs; one whose ID is too long, or equal to
 * another's but for case, gets a short name. Names that begin with `pms_` or hold `~` are never field IDs.
 */
export function layoutOf(app: App, id: number, generation: number, distributed = false): Layout {
  const name = `app_${id}_${generation}`;
  return {
    app,
    form: tableLayout(name, [...app.fields, ...app.system], app.primaryKey),
    tables: app.tables.map((table, index) => ({ table, ...tableLayout(`${name}_t${index + 1}`, table.fields, null) })),
    history: `app_${id}_history`,
    keys: distributed ? `${name}_keys` : null,
  };
}

/** Column of the app's primary key. */
export function keyColumn({ app, form }: Layout): string {
  return form.columns.find(({ field }) => field === app.primaryKey)?.name as string;
}

/** `primaryKey` is that of the form; null for the table of a form, whose columns have no buckets. */
function tableLayout(name: string, fields: readonly Field[], primaryKey: Field | null): TableLayout {
  const taken = new Set<string>();
  const bucketed = primaryKey !== null && searchForm(fields).length > 1;
  const columns = fields.map((field, index) => {
    let column = field.id;
    if (column.length > MAX_NAME || taken.has(column.toLowerCase())) column = `~${index + 1}`;
    taken.add(column.toLowerCase());
    // Numbers and moments are unique by what they mean.
    const form = searchedForm(field) ?? (field.unique ? (typeOf(field).order ?? null) : null);
    const kind = indexKind(field);
    return {
      field,
      name: column,
      formName: form === null ? null : `${column}~form`,
      form,
      indexKind: kind,
      index: kind === 'ordered' ? `${name}_i${index + 1}` : null,
      unique: field.unique ? `${name}_u${index + 1}` : null,
      bucket: bucketed && kind === 'ordered' && field !== primaryKey ? bucketOf(field) : null,
    };
  });
  return { name, columns, pairs: columns.some(hasTokens) ? `${name}_pairs` : null };
}
