// The search methods (spec 4.1 rules 1-3): what each compares, and the condition a keyword makes.
import type { Field, SearchMethod } from '../app/app.ts';
import { splitAtCommas } from '../fields/choice.ts';
import { isStorable, type Unreadable } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';
import type { Condition } from './condition.ts';
import { fold } from './fold.ts';

/** How a condition is answered from an index; `none` for fields that are no condition. */
export type IndexKind = 'ordered' | 'pairs' | 'choices' | 'none';

interface Method {
  index(field: Field): IndexKind;
  /** From a value to what is compared; null where that is the value itself. */
  form(field: Field): ((value: string) => string) | null;
  /** The condition of a keyword; null where it is none (D14). Range is parsed by its two bounds. */
  condition(field: Field, keyword: string): Condition | Unreadable | null;
}

const text = (field: Field) => (field.fold ? fold : null);
const folded = (field: Field, keyword: string) => (field.fold ? fold(keyword) : keyword);
const comparesOrder = (field: Field) => typeOf(field).compares === 'order';
const comparesChoices = (field: Field) => typeOf(field).compares === 'choices';

/** Most keywords of one condition. */
const MAX_KEYWORDS = 1_000;

const METHODS = {
  partial: {
    index: () => 'pairs',
    form: text,
    condition: (field, keyword) => ({ kind: 'contains', field, anyOf: [folded(field, keyword)] }),
  },
  exact: {
    index: () => 'ordered',
    form: (field) => (comparesOrder(field) ? (typeOf(field).order ?? null) : text(field)),
    condition(field, keyword) {
      if (!comparesOrder(field)) return { kind: 'equals', field, text: folded(field, keyword) };
      const from = readBound(field, keyword, 'lower');
      if (typeof from !== 'string') return from;
      const to = readBound(field, keyword, 'upper');
      if (typeof to !== 'string') return to;
      return from === to ? { kind: 'equals', field, text: from } : { kind: 'between', field, from, to };
    },
  },
  prefix: {
    index: () => 'ordered',
    form: text,
    condition: (field, keyword) => ({ kind: 'starts', field, text: folded(field, keyword) }),
  },
  suffix: {
    index: () => 'ordered',
    form: (field) => (field.fold ? (value) => reverse(fold(value)) : reverse),
    condition: (field, keyword) => ({ kind: 'starts', field, text: reverse(folded(field, keyword)) }),
  },
  any_of: {
    index: (field) => (comparesChoices(field) ? 'choices' : 'pairs'),
    form: (field) => (comparesChoices(field) ? (value) => joinChoices(choicesOf(field, value)) : text(field)),
    condition(field, keyword) {
      if (comparesChoices(field)) {
        const anyOf = choicesOf(field, keyword);
        if (anyOf.length > MAX_KEYWORDS) return { code: 'too_many_keywords', limit: MAX_KEYWORDS };
        return anyOf.length === 0 ? null : { kind: 'chosen', field, anyOf };
      }
      const anyOf = [...new Set(splitAtCommas(keyword).map((word) => folded(field, word)))];
      if (anyOf.length > MAX_KEYWORDS) return { code: 'too_many_keywords', limit: MAX_KEYWORDS };
      return anyOf.length === 0 ? null : { kind: 'contains', field, anyOf };
    },
  },
  range: { index: () => 'ordered', form: (field) => typeOf(field).order ?? null, condition: () => null },
  hidden: { index: () => 'none', form: () => null, condition: () => null },
} satisfies Record<SearchMethod, Method>;

/** How the field's search is answered from an index. */
export function indexKind(field: Field): IndexKind {
  return METHODS[field.search].index(field);
}

/** From the field's value to its searched form; null where that is the value itself. */
export function searchedForm(field: Field): ((value: string) => string) | null {
  return METHODS[field.search].form(field);
}

/** From a searched form to a coarse part of it that many values share; null where there is none (sql/pairs.ts). */
export function bucketOf(field: Field): ((form: string) => string) | null {
  if (field.search === 'range') return typeOf(field).bucket ?? null;
  return field.search === 'exact' ? hashed : null;
}

/** The buckets in which all that meets the condition lies; null where they do not help. */
export function bucketsOf(condition: Condition): readonly string[] | null {
  const bucket = bucketOf(condition.field);
  if (bucket === null) return null;
  if (condition.kind === 'equals') return [bucket(condition.text)];
  // A day on an exact field is a range as well, but the buckets of exact fields have no order.
  if (condition.kind !== 'between' || condition.field.search !== 'range') return null;
  if (condition.from === null || condition.to === null) return null;
  return typeOf(condition.field).buckets?.(condition.from, condition.to) ?? null;
}

/** One of 4,096 characters for any text. */
function hashed(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return String.fromCharCode(0xe800 + ((hash ^ (hash >>> 12)) & 0xfff));
}

/** The condition of a keyword on a field that is not searched by range; null where it is none (D14, D16). */
export function keywordCondition(field: Field, keyword: string): Condition | Unreadable | null {
  if (keyword === '') return null;
  if (!isStorable(keyword)) return { code: 'bad_character' };
  return METHODS[field.search].condition(field, keyword);
}

/** The order form of one bound of a range (spec 4.1 rule 3). */
export function readBound(field: Field, keyword: string, side: 'lower' | 'upper'): string | Unreadable {
  return typeOf(field).bound?.(keyword, side) ?? { code: 'field_not_searchable' };
}

/** The choices of a value, or the keywords of a condition, in the form in which they are compared (D16). */
export function choicesOf(field: Field, value: string): string[] {
  const choices = splitAtCommas(value);
  // A comma that folding makes of a full-width one is part of its choice, not the end of it.
  return field.fold ? choices.map((choice) => fold(choice).replaceAll(',', '，')) : choices;
}

/** Choices in the searched form of a choice field: each between commas. */
export function joinChoices(choices: readonly string[]): string {
  return choices.length === 0 ? '' : `,${choices.join(',')},`;
}

/** The text backwards by code points, so that its suffixes are prefixes. */
export function reverse(text: string): string {
  let backwards = '';
  for (const point of text) backwards = point + backwards;
  return backwards;
}
