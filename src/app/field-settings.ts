// Which settings of a definition a field of each type can have; a row per type.
import type { FieldTypeName } from './app.ts';

export interface FieldSettings {
  readonly maxLength: boolean;
  readonly choices: boolean;
  readonly default: boolean;
  /** It can be made by a formula. */
  readonly formula: boolean;
  /** A field of the form can be unique among the records. */
  readonly unique: boolean;
  /** What `format` describes: how a number is shown, or how an auto number is made. */
  readonly format: 'number' | 'autoNumber' | null;
  /** The field is the primary key: one in an app, in the form. */
  readonly primaryKey: boolean;
  /** An update sends the value as a part of its own, named by the field ID (spec 4.2). */
  readonly upload: boolean;
}

const NONE: FieldSettings = {
  maxLength: false,
  choices: false,
  default: false,
  formula: false,
  unique: false,
  format: null,
  primaryKey: false,
  upload: false,
};
const TEXT: FieldSettings = { ...NONE, maxLength: true, default: true, unique: true };
const CALCULATED: FieldSettings = { ...TEXT, formula: true };
const MOMENT: FieldSettings = { ...NONE, default: true, unique: true };
const CHOICES: FieldSettings = { ...NONE, choices: true, default: true };
const CHOICE: FieldSettings = { ...CHOICES, unique: true };
const UPLOAD: FieldSettings = { ...NONE, upload: true };

export const FIELD_SETTINGS = {
  id: { ...NONE, maxLength: true, primaryKey: true },
  text: TEXT,
  text_area: TEXT,
  date: MOMENT,
  datetime: MOMENT,
  time: MOMENT,
  number: { ...NONE, default: true, unique: true, format: 'number' },
  file: UPLOAD,
  image: UPLOAD,
  dropdown: CHOICE,
  checkbox: CHOICES,
  radio: CHOICE,
  list: CHOICES,
  concatenation: CALCULATED,
  calculation: CALCULATED,
  auto_number: { ...NONE, unique: true, format: 'autoNumber' },
} satisfies Record<FieldTypeName, FieldSettings> as Record<FieldTypeName, FieldSettings>;

/** The types that have a setting, for messages. */
export function typesWith(has: (settings: FieldSettings) => boolean): string {
  const types: string[] = [];
  for (const [type, settings] of Object.entries(FIELD_SETTINGS)) if (has(settings)) types.push(type);
  return types.join(', ');
}
