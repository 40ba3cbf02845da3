// Everything that is stored for a record beside its values: searched forms, the rendered answer, the tokens of the pair index.

import { recordRenderer, rowRenderer, type Values } from '../envelope/record.ts';
import type { RenderContext } from '../fields/field-type.ts';
import type { Layout, TableLayout } from '../sql/layout.ts';
import { tokensOfRow } from '../sql/pairs.ts';

/** A record as stored; values as envelope/record.ts has them. */
export interface StoredRecord {
  /** Place in the creation order. */
  readonly seq: number;
  readonly revision: number;
  readonly values: Values;
}

/** What is written for a record or row: its columns, its answer and its pairs. */
export interface Derived {
  readonly answer: string;
  /** Values, then searched forms; null is empty. */
  readonly columns: readonly (string | null)[];
  readonly tokens: string;
}

/** Everything derived from the values of a record (`table` null) or of a row of a form table. Pure. */
export type Derive = (values: Values, context: RenderContext) => Derived;

/** How records of the form, or rows of the table at `index`, are derived. */
export function deriver(layout: Layout, index: number | null): Derive {
  const rows = index === null ? null : (layout.tables[index] as Layout['tables'][number]);
  const table: TableLayout = rows ?? layout.form;
  const render = rows === null ? recordRenderer(layout.app).listed : rowRenderer(rows.table);
  const forms = table.columns.flatMap(({ form }, position) => (form === null ? [] : [{ form, position }]));
  return (values, context) => {
    const columns: (string | null)[] = [];
    for (let position = 0; position < table.columns.length; position++) columns.push(values[position] || null);
    for (const { form, position } of forms) {
      const value = values[position];
      columns.push(value ? form(value) || null : null);
    }
    return {
      answer: render(values, context),
      columns,
      tokens: table.pairs === null ? '' : tokensOfRow(table.columns, (position) => values[position] ?? ''),
    };
  };
}
