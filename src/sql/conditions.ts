// Conditions → SQL: the test of one row, and the index that finds the rows that may pass it.
import type { Condition } from '../search/condition.ts';
import type { Comparison, Dialect } from './dialect.ts';
import type { Column, TableLayout } from './layout.ts';
import { bucketQuery, type PairQuery, pairQuery } from './pairs.ts';
import { allOf, join, quote, raw, type Sql, sql } from './sql.ts';

/** How an index answers a condition. */
export type Lookup =
  /** The pair index, in record order; hits must pass the test. */
  | { readonly kind: 'pairs'; readonly query: PairQuery }
  /** One key of a B-tree: in record order, exact. */
  | { readonly kind: 'equal'; readonly index: string; readonly where: Sql }
  /** A stretch of a B-tree: in key order, exact. */
  | { readonly kind: 'stretch'; readonly index: string; readonly where: Sql };

export interface CompiledCondition {
  /** The test of one row, by its columns alone; never taken for a use of an index. */
  readonly test: Sql;
  readonly lookup: Lookup;
  /** What the pair index has for the condition, to be walked together with others; null where it has nothing. */
  readonly query: PairQuery | null;
}

/** More keywords than this are passed as one JSON array, so that the SQL stays bounded. */
export const MAX_LISTED = 8;

/** Compiles a condition on a table whose rows are called `alias`. */
export function compileCondition(
  dialect: Dialect,
  layout: TableLayout,
  alias: string,
  condition: Condition,
): CompiledCondition {
  const position = layout.columns.findIndex(({ field }) => field.id === condition.field.id);
  const column = layout.columns[position] as Column;
  const name = `${alias}.${quote(column.formName ?? column.name)}`;
  if (condition.kind === 'contains' || condition.kind === 'chosen') {
    const query = pairQuery(condition, position);
    return { test: containsAny(dialect, name, condition), lookup: { kind: 'pairs', query }, query };
  }
  const bounds = boundsOf(condition);
  const index = column.index as string;
  return {
    test: allOf(bounds.map(([comparison, text]) => sql`${dialect.ofRow(name)} ${raw(comparison)} ${text}`)),
    lookup: {
      kind: condition.kind === 'equals' ? 'equal' : 'stretch',
      index,
      where: allOf(bounds.map(([comparison, text]) => dialect.indexed(column, name, comparison, text))),
    },
    query: bucketQuery(condition, column, position),
  };
}

function boundsOf(
  condition: Exclude<Condition, { kind: 'contains' | 'chosen' }>,
): readonly (readonly [Comparison, string])[] {
  switch (condition.kind) {
    case 'equals':
      return [['=', condition.text]];
    case 'starts': {
      const end = afterPrefix(condition.text);
      return end === null
        ? [['>=', condition.text]]
        : [
            ['>=', condition.text],
            ['<', end],
          ];
    }
    case 'between': {
      const { from, to } = condition;
      return [...(from === null ? [] : [['>=', from] as const]), ...(to === null ? [] : [['<=', to] as const])];
    }
  }
}

/** What the searched form is looked through for; a choice stands between commas in it. */
export function soughtTexts({ kind, anyOf }: Condition & { kind: 'contains' | 'chosen' }): readonly string[] {
  return kind === 'chosen' ? anyOf.map((choice) => `,${choice},`) : anyOf;
}

function containsAny(dialect: Dialect, name: string, condition: Condition & { kind: 'contains' | 'chosen' }): Sql {
  const texts = soughtTexts(condition);
  if (texts.length > MAX_LISTED) return dialect.someOf(texts, (text) => dialect.holds(name, text));
  const tests = texts.map((text) => dialect.holds(name, sql`${text}`));
  return tests.length === 1 ? (tests[0] as Sql) : sql`(${join(tests, ' or ')})`;
}

/** The least text above every text that starts with the prefix, by code points; null where there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    // Surrogates are no characters; after U+10FFFF comes nothing.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}
