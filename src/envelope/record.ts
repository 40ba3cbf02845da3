// Values → rendered entries: the JSON text of a record as a search returns it and as an update answers it (spec 2.2).
import type { App, Field, Table } from '../app/app.ts';
import type { RenderContext } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';

/** A record's values: those of the form's fields in their order, then of the system fields in theirs; '' is empty. */
export type Values = readonly string[];

export interface RecordRenderer {
  /** Entries of the fields that lists show, `{` first and without the closing `}`, so that more members can follow. */
  listed(values: Values, context: RenderContext): string;
  /** Entries of every field of the form and of the system fields, without braces. */
  full(values: Values, context: RenderContext): string;
  /** The entry of the primary key alone, without braces. */
  key(values: Values, context: RenderContext): string;
}

/** Renders the records of an app. */
export function recordRenderer(app: App): RecordRenderer {
  const fields = [...app.fields, ...app.system];
  const listed = entriesRenderer(fields, (field) => field.list === 'shown');
  return {
    listed: (values, context) => `{${listed(values, context)}`,
    full: entriesRenderer(fields, () => true),
    key: entriesRenderer(fields, (field) => field === app.primaryKey),
  };
}

/** Renders rows of a table as lists show them: `{` first, without the closing `}`. */
export function rowRenderer(table: Table): (values: Values, context: RenderContext) => string {
  const listed = entriesRenderer(table.fields, (field) => field.list === 'shown');
  return (values, context) => `{${listed(values, context)}`;
}

/** Renders whole records: every field of the form, the system fields, and every table with its rows; without braces. */
export function wholeRenderer(
  app: App,
): (
  record: { readonly values: Values; readonly rows: readonly (readonly Values[])[] },
  context: RenderContext,
) => string {
  const form = entriesRenderer([...app.fields, ...app.system], () => true);
  const tables = app.tables.map(({ code, fields }) => ({ code, row: entriesRenderer(fields, () => true) }));
  return ({ values, rows }, context) => {
    const members = tables.map(
      ({ code, row }, index) => `,"${code}":[${(rows[index] ?? []).map((of) => `{${row(of, context)}}`).join(',')}]`,
    );
    return form(values, context) + members.join('');
  };
}

/** The entry of a record's revision (D23). */
export function revisionEntry(revision: number): string {
  return `"pms_revision":{"type":"pms_revision","value":"${revision}"}`;
}

function entriesRenderer(
  fields: readonly Field[],
  shown: (field: Field) => boolean,
): (values: Values, context: RenderContext) => string {
  const entries = fields.flatMap((field, index) =>
    shown(field) ? [{ index, field, render: typeOf(field).render, key: `"${field.id}":` }] : [],
  );
  return (values, context) => {
    let json = '';
    for (const { index, field, render, key } of entries) {
      json += (json === '' ? '' : ',') + key + render(values[index] ?? '', field, context);
    }
    return json;
  };
}
