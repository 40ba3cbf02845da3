// Texts kept as sent: id, text, text_area, concatenation, calculation (spec 2.2, 4.2, D41).
import type { Field } from '../app/app.ts';
import { type FieldType, isStorable, plainEntry, type Unreadable } from './field-type.ts';

/** Reads a text: storable, and within the field's `maxLength` in code points (D26). */
export function parseText(sent: string, field: Field): string | Unreadable {
  if (!isStorable(sent)) return { code: 'bad_character' };
  const { maxLength } = field;
  // A string has at least half as many code points as UTF-16 units, and never more.
  if (maxLength !== null && sent.length > maxLength && codePoints(sent) > maxLength) {
    return { code: 'text_too_long', limit: maxLength };
  }
  return sent;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function textType(type: string): FieldType {
  return {
    searches: ['partial', 'exact', 'prefix', 'suffix', 'any_of'],
    compares: 'text',
    filledBy: 'request',
    parse: parseText,
    render: (value) => plainEntry(type, value),
  };
}

export const id = textType('id');
export const text = textType('text');
export const textArea = textType('text_area');
/** Written with what was sent: nothing is concatenated by an update (spec 4.2). */
export const concatenation = textType('concatenation');
/** Written with what was sent: nothing is calculated by an update (spec 4.2). */
export const calculation = textType('calculation');
