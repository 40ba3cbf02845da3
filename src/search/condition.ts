// What a search asks for, parsed: conditions on searched forms, joined by AND (D13).
import type { Field, Table } from '../app/app.ts';

/** One condition on one field; its texts are compared with the field's searched form (methods.ts). */
export type Condition =
  | { readonly kind: 'equals'; readonly field: Field; readonly text: string }
  | { readonly kind: 'starts'; readonly field: Field; readonly text: string }
  /** The searched form contains at least one of the texts. */
  | { readonly kind: 'contains'; readonly field: Field; readonly anyOf: readonly string[] }
  /** One of the value's choices is one of the texts. */
  | { readonly kind: 'chosen'; readonly field: Field; readonly anyOf: readonly string[] }
  | { readonly kind: 'between'; readonly field: Field; readonly from: string | null; readonly to: string | null };

/** Conditions that one row of a table meets together (D13). */
export interface TableConditions {
  readonly table: Table;
  readonly conditions: readonly Condition[];
}

/** What was sent, kept for the echo of a search that finds nothing: by field ID, in tables by table code (D21). */
export interface SentConditions {
  readonly form: ReadonlyMap<string, string>;
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface Conditions {
  readonly form: readonly Condition[];
  readonly tables: readonly TableConditions[];
  readonly sent: SentConditions;
}

/** Which records, how many, and what each carries (spec 4.1, D12, D23). */
export interface Search {
  readonly conditions: Conditions;
  /** The table whose rows each record carries; null for none. */
  readonly table: Table | null;
  /** At most so many records; null for all. */
  readonly limit: number | null;
  /** Only records put in after the one with this primary key; null from the first. */
  readonly after: string | null;
  /** Every record carries `pms_revision`. */
  readonly revision: boolean;
}
