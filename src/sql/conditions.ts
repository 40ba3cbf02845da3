// Conditions → SQL: the test of one row, and the index that finds the rows that may pass it.
import type { Condition } from '../search/condition.ts';
import type { Column, TableLayout } from './layout.ts';
import { bucketQuery, pairQuery } from './pairs.ts';
import { join, quote, raw, type Sql, sql } from './sql.ts';

/** How an index answers a condition. */
export type Lookup =
  /** The pair index, in record order; hits must pass the test. */
  | { readonly kind: 'pairs'; readonly query: string }
  /** One key of a B-tree: in record order, exact. */
  | { readonly kind: 'equal'; readonly index: string; readonly where: Sql }
  /** A stretch of a B-tree: in key order, exact. */
  | { readonly kind: 'stretch'; readonly index: string; readonly where: Sql };

export interface CompiledCondition {
  /** The test of one row, by its columns alone; never taken for a use of an index. */
  readonly test: Sql;
  readonly lookup: Lookup;
  /** What the pair index has for the condition, to be walked together with others; null where it has nothing. */
  readonly query: string | null;
}

/** More keywords than this are passed as one JSON array, so that the SQL stays bounded. */
export const MAX_LISTED = 8;

/** Compiles a condition on a table whose rows are called `alias`. */
export function compileCondition(layout: TableLayout, alias: string, condition: Condition): CompiledCondition {
  const position = layout.columns.findIndex(({ field }) => field.id === condition.field.id);
  const column = layout.columns[position] as Column;
  const name = `${alias}.${quote(column.formName ?? column.name)}`;
  if (condition.kind === 'contains' || condition.kind === 'chosen') {
    const query = pairQuery(condition, position);
    return { test: containsAny(name, condition), lookup: { kind: 'pairs', query }, query };
  }
  return { ...compileOrdered(name, column, condition), query: bucketQuery(condition, column, position) };
}

function compileOrdered(
  name: string,
  column: Column,
  condition: Exclude<Condition, { kind: 'contains' | 'chosen' }>,
): Omit<CompiledCondition, 'query'> {
  switch (condition.kind) {
    case 'equals':
      return {
        test: sql`${raw(`+${name}`)} = ${condition.text}`,
        lookup: { kind: 'equal', index: column.index as string, where: sql`${raw(name)} = ${condition.text}` },
      };
    case 'starts': {
      const end = afterPrefix(condition.text);
      return stretch(name, column, condition.text, end === null ? null : [end, '<']);
    }
    case 'between':
      return stretch(name, column, condition.from, condition.to === null ? null : [condition.to, '<=']);
  }
}

function stretch(
  name: string,
  column: Column,
  from: string | null,
  to: readonly [bound: string, operator: string] | null,
): Omit<CompiledCondition, 'query'> {
  const bounds = (column: Sql): Sql => {
    const tests: Sql[] = [];
    if (from !== null) tests.push(sql`${column} >= ${from}`);
    if (to !== null) tests.push(sql`${column} ${raw(to[1])} ${to[0]}`);
    return join(tests, ' and ');
  };
  return {
    test: bounds(raw(`+${name}`)),
    lookup: { kind: 'stretch', index: column.index as string, where: bounds(raw(name)) },
  };
}

/** What the searched form is looked through for; a choice stands between commas in it. */
export function soughtTexts({ kind, anyOf }: Condition & { kind: 'contains' | 'chosen' }): readonly string[] {
  return kind === 'chosen' ? anyOf.map((choice) => `,${choice},`) : anyOf;
}

function containsAny(name: string, condition: Condition & { kind: 'contains' | 'chosen' }): Sql {
  const texts = soughtTexts(condition);
  if (texts.length > MAX_LISTED) {
    return sql`exists (select 1 from json_each(${JSON.stringify(texts)}) k where instr(${raw(name)}, k.value) > 0)`;
  }
  const tests = texts.map((text) => sql`instr(${raw(name)}, ${text}) > 0`);
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
