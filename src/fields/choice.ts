// Choices: dropdown, checkbox, radio, list. Any value is accepted, also one that is no choice (spec 4.2); several are
// joined by commas (D36).
import { type FieldType, plainEntry } from './field-type.ts';
import { parseText } from './text.ts';

/** `several`: a value may be several choices, joined by commas. */
function choiceType(type: string, several: boolean): FieldType {
  return {
    searches: ['partial', 'exact', 'prefix', 'suffix', 'any_of'],
    compares: 'choices',
    filledBy: 'request',
    parse: parseText,
    offers(value, { choices }) {
      if (choices.length === 0 || choices.includes(value)) return true;
      return several && splitAtCommas(value).every((part) => choices.includes(part));
    },
    render: (value) => plainEntry(type, value),
  };
}

export const dropdown = choiceType('dropdown', false);
export const checkbox = choiceType('checkbox', true);
export const radio = choiceType('radio', false);
export const list = choiceType('list', true);

/** Texts between commas, trimmed, empty ones dropped: the choices of a value, the keywords of a condition (D16). */
export function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  for (const part of text.split(',')) {
    const trimmed = part.trim();
    if (trimmed !== '') parts.push(trimmed);
  }
  return parts;
}
