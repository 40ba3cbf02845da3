// Inferring a definition from data: columns of text, seen row by row, → a definition of fields that fit them.
import { parseDate } from '../fields/date.ts';
import { parseDatetime } from '../fields/datetime.ts';
import { isStorable } from '../fields/field-type.ts';
import { parseNumber } from '../fields/number.ts';
import { parseTime } from '../fields/time.ts';
import type { FieldTypeName } from './app.ts';
import { type InferredField, writeDefinition } from './definition-text.ts';
import { nameColumns } from './inferred-ids.ts';

/** Takes in rows; memory does not grow with their number. */
export interface Inference {
  /** A row of cells in the order of the header; missing and empty cells say nothing. */
  add(row: readonly string[]): void;
  /** The YAML text of the definition. */
  finish(): string;
}

/** Greatest number of different values, and their greatest length, that look like choices. */
const MAX_CHOICES = 20;
const MAX_CHOICE_LENGTH = 40;
/** Fewer values say too little about whether they are choices. */
const MIN_VALUES_FOR_CHOICES = 50;
/** Longer texts get a field with several lines. */
const MAX_LINE = 200;

interface Shape {
  readonly type: FieldTypeName;
  reads(value: string): boolean;
}

const SHAPES: readonly Shape[] = [
  { type: 'number', reads: isQuantity },
  { type: 'date', reads: (value) => typeof parseDate(padDate(value)) === 'string' },
  { type: 'datetime', reads: (value) => typeof parseDatetime(value) === 'string' },
  { type: 'time', reads: (value) => typeof parseTime(value) === 'string' },
];

/** What is known of one column. */
interface Column {
  shapes: readonly Shape[];
  values: number;
  /** In code points. */
  longest: number;
  hasLineBreaks: boolean;
  /** How often each value was seen; null once they cannot be choices. */
  seen: Map<string, number> | null;
}

/** Begins an inference for the columns of a header row, for an app with the given code. */
export function startInference(header: readonly string[], options: { readonly code: string }): Inference {
  const columns: Column[] = header.map(() => ({
    shapes: SHAPES,
    values: 0,
    longest: 0,
    hasLineBreaks: false,
    seen: new Map(),
  }));
  return {
    add(row) {
      for (const [index, column] of columns.entries()) {
        const value = row[index];
        if (value !== undefined && value !== '') observe(column, value);
      }
    },
    finish() {
      const fields = columns.map(inferField);
      return writeDefinition(options.code, nameColumns(header, fields, options.code));
    },
  };
}

/** `2026/1/5`, as spreadsheets write it, as `2026/01/05`; any other text as it is. */
export function padDate(text: string): string {
  const parts = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})$/.exec(text);
  if (parts === null) return text;
  const [, year = '', separator = '', month = '', day = ''] = parts;
  return [year, month.padStart(2, '0'), day.padStart(2, '0')].join(separator);
}

/** A number, and not a postal code or a telephone number: those begin with 0 or +. */
function isQuantity(value: string): boolean {
  return !/^(?:\+|-?0\d)/.test(value) && typeof parseNumber(value) === 'string';
}

function observe(column: Column, value: string): void {
  column.values++;
  if (column.shapes.length > 0) column.shapes = column.shapes.filter((shape) => shape.reads(value));
  column.hasLineBreaks ||= /[\r\n]/.test(value);
  // A text has no more code points than UTF-16 units.
  if (value.length > column.longest) column.longest = Math.max(column.longest, [...value].length);
  if (column.seen !== null) countChoice(column, column.seen, value);
}

function countChoice(column: Column, seen: Map<string, number>, value: string): void {
  const fits = value.length <= MAX_CHOICE_LENGTH && isChoice(value);
  if (fits) seen.set(value, (seen.get(value) ?? 0) + 1);
  if (!fits || seen.size > MAX_CHOICES) column.seen = null;
}

function isChoice(value: string): boolean {
  return isStorable(value) && value.trim() === value && !/[,\r\n]/.test(value);
}

function inferField(column: Column): InferredField {
  const [shape] = column.values > 0 ? column.shapes : [];
  if (shape !== undefined) return { type: shape.type, search: 'range' };
  if (column.hasLineBreaks || column.longest > MAX_LINE) return { type: 'text_area', search: 'partial' };
  const choices = choicesOf(column);
  if (choices !== undefined) return { type: 'dropdown', search: 'any_of', choices };
  return { type: 'text', search: 'partial', maxLength: Math.max(100, Math.ceil((column.longest * 1.5) / 100) * 100) };
}

/** The values in the order they were first seen, when they are few and each came again. */
function choicesOf({ seen, values }: Column): readonly string[] | undefined {
  if (seen === null || values < MIN_VALUES_FOR_CHOICES) return undefined;
  for (const count of seen.values()) if (count < 2) return undefined;
  return [...seen.keys()];
}
