// What an app is: its form of typed fields, its tables, and how each field is searched and listed (spec 1, 2.1).
import type { Lang } from '../wire.ts';

/** How a field is searched (spec 4.1 rules 1-4); `hidden` fields cannot be used as a condition. */
export const SEARCH_METHODS = ['partial', 'exact', 'prefix', 'suffix', 'any_of', 'range', 'hidden'] as const;
export type SearchMethod = (typeof SEARCH_METHODS)[number];

/** Types of the fields that a definition declares (spec 2.2, D36). */
export const FIELD_TYPES = [
  'id',
  'text',
  'text_area',
  'date',
  'datetime',
  'time',
  'number',
  'file',
  'image',
  'dropdown',
  'checkbox',
  'radio',
  'list',
  'concatenation',
  'calculation',
  'auto_number',
] as const;
export type FieldTypeName = (typeof FIELD_TYPES)[number];

/** The fields every record has without being declared; each is its own type (spec 2.2). */
export const SYSTEM_FIELDS = ['pms_i_usr', 'pms_i_ymd', 'pms_u_usr', 'pms_u_ymd'] as const;
export type SystemFieldId = (typeof SYSTEM_FIELDS)[number];

/** State of an app; outside production only its administrators get in (D9). */
export const APP_STATES = ['production', 'maintenance', 'preparation'] as const;
export type AppState = (typeof APP_STATES)[number];

/** A name in the languages it was given in. */
export type Name = { readonly [lang in Lang]?: string };

/** How a number is shown in `value_formatted` (D37). */
export interface NumberFormat {
  readonly grouping: boolean;
  /** Digits after the point, 0-30; null keeps those of the value. */
  readonly decimals: number | null;
  readonly prefix: string;
  readonly suffix: string;
}

export interface Field {
  /** Letters, digits, `_`, `-`, up to 64; unique in the app, tables included. */
  readonly id: string;
  readonly type: FieldTypeName | SystemFieldId;
  readonly name: Name;
  readonly search: SearchMethod;
  /** Hidden fields are absent from the records a search returns (spec 4.1). */
  readonly list: 'shown' | 'hidden';
  /** Data-protected: a submitted value is ignored (spec 4.2). */
  readonly protected: boolean;
  /** Fields the form does not show are not emptied when absent from an update (D25). */
  readonly shownInForm: boolean;
  readonly required: boolean;
  /** No two records have the same value. */
  readonly unique: boolean;
  /** By which a form computes the value; '' for a value that is given. */
  readonly formula: string;
  /** Value of the field in a record put in without it; '' for none. */
  readonly default: string;
  /** Greatest length of a text in code points; null for no limit. */
  readonly maxLength: number | null;
  readonly choices: readonly string[];
  readonly numberFormat: NumberFormat | null;
  /** Pattern of an auto number, such as `ORD-{YYYY}-{00000}`; '' for the bare number. */
  readonly autoNumberFormat: string;
  /** Letter case, width and kana make no difference in a search (D17). */
  readonly fold: boolean;
}

/** Repeating rows of a form (spec 2.1). */
export interface Table {
  readonly code: string;
  readonly name: Name;
  readonly fields: readonly Field[];
}

export interface App {
  readonly code: string;
  readonly name: Name;
  /** Member that holds the records of a search without `tablecode` (D11). */
  readonly recordsKey: string;
  readonly state: AppState;
  /** Every user may search and update (D7). */
  readonly everyone: boolean;
  /** The declared fields of the form, in its order; the primary key is among them. */
  readonly fields: readonly Field[];
  readonly primaryKey: Field;
  readonly tables: readonly Table[];
  /** The four system fields, in the order of SYSTEM_FIELDS. */
  readonly system: readonly Field[];
}

/** A field with every setting at its default. */
export function plainField(id: string, type: Field['type']): Field {
  return {
    id,
    type,
    name: {},
    search: 'hidden',
    list: 'shown',
    protected: false,
    shownInForm: true,
    required: false,
    unique: false,
    formula: '',
    default: '',
    maxLength: null,
    choices: [],
    numberFormat: null,
    autoNumberFormat: '',
    fold: false,
  };
}

/** The fields of the search form: those not hidden in the search settings, in the form's order, system fields last where given. */
export function searchForm(fields: readonly Field[]): readonly Field[] {
  return fields.filter((field) => field.search !== 'hidden');
}
