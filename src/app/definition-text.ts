// Writing an inferred definition as YAML.
import type { FieldTypeName, SearchMethod } from './app.ts';

/** What the values of a column say about its field. */
export interface InferredField {
  readonly type: FieldTypeName;
  readonly search: SearchMethod;
  readonly maxLength?: number;
  readonly choices?: readonly string[];
}

export interface NamedField extends InferredField {
  readonly id: string;
  /** Taken as Japanese. */
  readonly name?: string;
}

/** The YAML text of a definition: one line a field. */
export function writeDefinition(code: string, fields: readonly NamedField[]): string {
  return `code: ${scalar(code)}\nfields:\n${fields.map((field) => `  - ${writeField(field)}\n`).join('')}`;
}

function writeField({ id, type, name, maxLength, choices, search }: NamedField): string {
  const settings = [`id: ${scalar(id)}`, `type: ${type}`];
  if (name !== undefined) settings.push(`name: { ja: ${scalar(name)} }`);
  if (maxLength !== undefined) settings.push(`maxLength: ${maxLength}`);
  if (choices !== undefined) settings.push(`choices: [${choices.map(scalar).join(', ')}]`);
  settings.push(`search: ${search}`);
  return `{ ${settings.join(', ')} }`;
}

const PLAIN = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
/** Words that some YAML reader takes for something other than a text. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** Characters that JSON leaves as they are and YAML does not allow, or takes for line breaks. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A text as a YAML scalar: plain where that is safe, else in double quotes, whose escapes are those of JSON. */
function scalar(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  return JSON.stringify(text).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
