// Every field type by its name (spec 2.2, D36); the only place that goes from a field's type to what it does.
import type { Field } from '../app/app.ts';
import { autoNumber } from './auto-number.ts';
import { checkbox, dropdown, list, radio } from './choice.ts';
import { date } from './date.ts';
import { datetime } from './datetime.ts';
import type { FieldType } from './field-type.ts';
import { file, image } from './file.ts';
import { number } from './number.ts';
import { creatingUser, creationTime, updateTime, updatingUser } from './system.ts';
import { calculation, concatenation, id, text, textArea } from './text.ts';
import { time } from './time.ts';

export const fieldTypes = {
  id,
  text,
  text_area: textArea,
  date,
  datetime,
  time,
  number,
  file,
  image,
  dropdown,
  checkbox,
  radio,
  list,
  concatenation,
  calculation,
  auto_number: autoNumber,
  pms_i_usr: creatingUser,
  pms_i_ymd: creationTime,
  pms_u_usr: updatingUser,
  pms_u_ymd: updateTime,
} satisfies Record<Field['type'], FieldType>;

/** What a field's type does. */
export function typeOf(field: Field): FieldType {
  return fieldTypes[field.type];
}

/** A value that a field keeps, as a field of another type keeps it, at any length; null where it cannot. A file is only ever a file. */
export function convert(value: string, from: Field, to: Field): string | null {
  if (typeOf(from).holds !== undefined && typeOf(to).holds === undefined) return null;
  const read = typeOf(to).parse(value, { ...to, maxLength: null });
  return typeof read === 'string' ? read : null;
}

/** Whether two fields are of one type. */
export function isSameType(one: Field, other: Field): boolean {
  return one.type === other.type;
}
