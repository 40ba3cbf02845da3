// SQL as text with its values beside it: fragments that can be put together.

export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type SqlValue = string | number;

/** Where a text, or a number, goes into SQL text; the dialect prints them as its engine writes parameters. */
export const TEXT = '\u0001';
export const NUMBER = '\u0002';

/** A template of SQL: `Sql` parts go in as they are, everything else as a value. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  let text = texts[0] ?? '';
  const values: SqlValue[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as Sql | SqlValue;
    if (typeof part === 'object') {
      text += part.text;
      for (const value of part.values) values.push(value);
    } else {
      text += typeof part === 'number' ? NUMBER : TEXT;
      values.push(part);
    }
    text += texts[i + 1];
  }
  return { text, values };
}

/** SQL text that holds no values. */
export function raw(text: string): Sql {
  return { text, values: [] };
}

/** Fragments joined by a separator. */
export function join(fragments: readonly Sql[], separator: string): Sql {
  return {
    text: fragments.map((fragment) => fragment.text).join(separator),
    values: fragments.flatMap((fragment) => fragment.values),
  };
}

/** Fragments of which all must hold, in groups of groups: the engine bounds how deep an expression may be. */
export function allOf(tests: readonly Sql[]): Sql {
  if (tests.length <= GROUP) return join(tests, ' and ');
  const groups: Sql[] = [];
  for (let start = 0; start < tests.length; start += GROUP) {
    groups.push(sql`(${join(tests.slice(start, start + GROUP), ' and ')})`);
  }
  return allOf(groups);
}

const GROUP = 50;

/** An identifier, quoted. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
