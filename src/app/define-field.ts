// One field of a definition → Field, every problem with its settings reported.
import { isAutoNumberFormat } from '../fields/auto-number.ts';
import { typeOf } from '../fields/field-types.ts';
import { FIELD_TYPES, type Field, type NumberFormat, plainField } from './app.ts';
import { defineName } from './define-name.ts';
import {
  expectation,
  literalText,
  openSection,
  type Place,
  readBoolean,
  readList,
  readLiteral,
  readText,
  readWhole,
  readWord,
  report,
  type Section,
  show,
  subsection,
} from './definition-section.ts';
import { FIELD_SETTINGS, type FieldSettings, typesWith } from './field-settings.ts';
import { readIdentifier } from './identifier.ts';

const KEYS = [
  'id',
  'type',
  'name',
  'search',
  'list',
  'protected',
  'shownInForm',
  'required',
  'unique',
  'default',
  'maxLength',
  'choices',
  'format',
  'formula',
  'fold',
] as const;

/** A field as far as it could be read, and where it stands. */
export interface DefinedField {
  readonly section: Section;
  /** Undefined when it is missing or no identifier. */
  readonly id: string | undefined;
  /** Undefined when its type could not be read. */
  readonly field: Field | undefined;
  readonly settings: FieldSettings | undefined;
}

/** The field at a place; undefined when there is no map. */
export function defineField(value: unknown, place: Place, appFold: boolean): DefinedField | undefined {
  const section = openSection(value, place, KEYS);
  if (section === undefined) return undefined;
  const id = readIdentifier(section, 'id');
  const type = readWord(section, 'type', FIELD_TYPES);
  if (!section.map.has('type')) report(section, 'type', `missing; expected one of ${FIELD_TYPES.join(', ')}`);
  const plain = plainField(id ?? '', type ?? 'text');
  const shared: Field = {
    ...plain,
    name: defineName(section),
    list: readWord(section, 'list', ['shown', 'hidden']) ?? plain.list,
    protected: readBoolean(section, 'protected') ?? plain.protected,
    shownInForm: readBoolean(section, 'shownInForm') ?? plain.shownInForm,
    required: readBoolean(section, 'required') ?? plain.required,
    fold: readBoolean(section, 'fold') ?? appFold,
  };
  if (type === undefined) return { section, id, field: undefined, settings: undefined };
  const settings: FieldSettings = FIELD_SETTINGS[type];
  return { section, id, field: withTypeSettings(section, shared, settings), settings };
}

/** The field with the settings that depend on its type. */
function withTypeSettings(section: Section, shared: Field, settings: FieldSettings): Field {
  const field: Field = {
    ...shared,
    search: readSearch(section, shared) ?? shared.search,
    maxLength: allowed(section, shared, settings, 'maxLength')
      ? (readWhole(section, 'maxLength', 1, Number.MAX_SAFE_INTEGER) ?? null)
      : null,
    choices: allowed(section, shared, settings, 'choices') ? readChoices(section) : [],
    unique: allowed(section, shared, settings, 'unique') && readBoolean(section, 'unique') === true,
    formula: allowed(section, shared, settings, 'formula') ? readFormula(section) : '',
    ...readFormat(section, shared, settings),
  };
  return allowed(section, field, settings, 'default') ? { ...field, default: readDefault(section, field) } : field;
}

/** The search method of a field, one that its type can have. */
export function readSearch(section: Section, field: Field): Field['search'] | undefined {
  const value = section.map.get('search');
  const possible = [...typeOf(field).searches, 'hidden'] as const;
  const found = possible.find((method) => method === value);
  if (found !== undefined || !section.map.has('search')) return found;
  const expected = possible.length === 1 ? 'hidden' : `one of ${possible.join(', ')}`;
  report(section, 'search', `${show(value)} is not possible for ${field.type}; expected ${expected}`);
  return undefined;
}

function allowed(
  section: Section,
  field: Field,
  settings: FieldSettings,
  key: 'maxLength' | 'choices' | 'default' | 'unique' | 'formula',
): boolean {
  if (!section.map.has(key) || settings[key]) return section.map.has(key);
  report(section, key, `not possible for ${field.type}; expected only for ${typesWith((other) => other[key])}`);
  return false;
}

function readChoices(section: Section): readonly string[] {
  const choices = new Set<string>();
  for (const [index, value] of readList(section, 'choices').entries()) {
    const choice = literalText(value);
    const problem = choice === undefined ? expectation(value, 'a text') : choiceProblem(choice, choices);
    if (problem !== undefined) report(section, 'choices', problem, index);
    else if (choice !== undefined) choices.add(choice);
  }
  return [...choices];
}

/** Several choices in one value are joined by commas and trimmed (D36), so no choice has either. */
function choiceProblem(choice: string, before: ReadonlySet<string>): string | undefined {
  if (choice.trim() === '') return expectation(choice, 'a text that is not empty');
  if (choice.includes(',')) return expectation(choice, 'a text without a comma');
  if (choice.trim() !== choice) return expectation(choice, 'a text without spaces around it');
  return before.has(choice) ? `${show(choice)} is given twice` : undefined;
}

function readFormat(
  section: Section,
  field: Field,
  settings: FieldSettings,
): Pick<Field, 'numberFormat' | 'autoNumberFormat'> {
  const none = { numberFormat: null, autoNumberFormat: '' };
  if (!section.map.has('format')) return none;
  if (settings.format === 'number') return { ...none, numberFormat: readNumberFormat(section) };
  if (settings.format === 'autoNumber') return { ...none, autoNumberFormat: readAutoNumberFormat(section) };
  const types = typesWith((other) => other.format !== null);
  report(section, 'format', `not possible for ${field.type}; expected only for ${types}`);
  return none;
}

function readNumberFormat(section: Section): NumberFormat | null {
  const format = subsection(section, 'format', ['grouping', 'decimals', 'prefix', 'suffix']);
  if (format === undefined) return null;
  const unrounded = format.map.get('decimals') === null;
  return {
    grouping: readBoolean(format, 'grouping') ?? false,
    decimals: unrounded ? null : (readWhole(format, 'decimals', 0, 30) ?? null),
    prefix: readText(format, 'prefix', 'a text') ?? '',
    suffix: readText(format, 'suffix', 'a text') ?? '',
  };
}

function readAutoNumberFormat(section: Section): string {
  const expected = 'a text in quotes with one counter such as {00000}, and {YYYY}, {MM}, {DD} where wanted';
  const format = readText(section, 'format', expected);
  if (format === undefined || isAutoNumberFormat(format)) return format ?? '';
  report(section, 'format', expectation(format, expected));
  return '';
}

/** A formula's text; whether it can be evaluated depends on the other fields. */
function readFormula(section: Section): string {
  const formula = readText(section, 'formula', 'a formula, as a text');
  if (formula?.trim() === '') report(section, 'formula', expectation(formula, 'a formula that is not empty'));
  return formula ?? '';
}

/** The default as the field's type reads it. */
function readDefault(section: Section, field: Field): string {
  const sent = readLiteral(section, 'default');
  if (sent === undefined || sent === '') return '';
  const value = typeOf(field).parse(sent, field);
  if (typeof value === 'string') return value;
  const limit = value.limit === undefined ? '' : `, ${value.limit} at most`;
  report(section, 'default', `${show(sent)} is not possible for ${field.type} (${value.code}${limit})`);
  return '';
}
