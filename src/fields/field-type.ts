// What a field type is: how a sent value is read, kept, rendered and compared (spec 2.2). One file per kind of type.
import type { Field, SearchMethod } from '../app/app.ts';
import type { ErrorCode } from '../errors.ts';

/** A value that the type cannot read: the refusal it leads to. */
export interface Unreadable {
  readonly code: ErrorCode;
  /** What the message says was allowed. */
  readonly limit?: number;
}

/** What rendering needs to know beyond the record itself. */
export interface RenderContext {
  /** Current name of a user (D40); '' for an ID that no user has. */
  userName(userId: string): string;
}

export interface FieldType {
  /** The search methods the type can have; every type can be `hidden`. */
  readonly searches: readonly SearchMethod[];
  /** What is compared: the text itself, its choices one by one, or its order form (numbers, dates, times). */
  readonly compares: 'text' | 'choices' | 'order';
  /** Who gives the value: a request, or only the server (system fields, auto numbers). */
  readonly filledBy: 'request' | 'server';
  /** What the value is the ID of, where it is one: it comes in a part of its own, or names a file that is there (spec 4.2). */
  readonly holds?: 'file' | 'image';
  /** The value kept for what was sent; '' is never passed, it is the empty value of every type. */
  parse(sent: string, field: Field): string | Unreadable;
  /** Whether a form of the field could give the value, which is not empty; left out where it could give any. */
  offers?(value: string, field: Field): boolean;
  /** JSON text of the entry: `{"type":…,"value":…}`. */
  render(value: string, field: Field, context: RenderContext): string;
  /** A text whose code point order is the order of the values; left out where that is the value itself. */
  order?(value: string): string;
  /** A coarse part of an order form that many values share, for finding ranges together with other conditions. */
  bucket?(order: string): string;
  /** The buckets that a range touches; null where they are too many to help. */
  buckets?(from: string, to: string): readonly string[] | null;
  /** The order form of a range's bound or of an exact keyword (spec 4.1 rules 1 and 3). */
  bound?(keyword: string, side: 'lower' | 'upper'): string | Unreadable;
}

/** The entry of a type that has no members but `type` and `value`. */
export function plainEntry(type: string, value: string): string {
  return `{"type":"${type}","value":${value === '' ? '""' : JSON.stringify(value)}}`;
}

/** Text that UTF-8 and every database can hold: no NUL, no lone surrogate (D41). */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
