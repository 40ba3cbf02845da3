// What differs between the engines' SQL. Everything else in this room is written once for all.
import { type Column, isLong } from './layout.ts';
import { matchText, numberOf, type PairQuery } from './pairs.ts';
import { allOf, join, NUMBER, quote, raw, type Sql, sql, TEXT } from './sql.ts';

export type Comparison = '=' | '>=' | '<' | '<=';

export interface Dialect {
  /** The text of a query with its parameters as the engine writes them. */
  print(text: string): string;
  /** Whether a text holds another. */
  holds(text: string, sought: Sql): Sql;
  /** Whether a test is true of one of the texts, which are passed as one value. */
  someOf(texts: readonly string[], test: (text: Sql) => Sql): Sql;
  /** A column as a row has it: never taken for a use of an index. */
  ofRow(name: string): Sql;
  /** A comparison that the column's index answers, all of it. */
  indexed(column: Column, name: string, comparison: Comparison, text: string): Sql;
  /** Stands behind the name of a table that is to be read through an index. */
  through(index: string): string;
  /** Joins tables in the order in which they are written. */
  readonly join: string;
  /** The place of a record as its B-trees have it; no other index does, so that none is taken for its order. */
  readonly placeInIndex: string;
  /** Column of a pair index that says which record or row a hit is. */
  readonly pairsId: string;
  /** Whether a hit p of the pair index of a form table is the row c. */
  readonly isRow: string;
  /** Whether a row of a pair index, called `alias`, is a hit. */
  hit(pairs: string, alias: string, query: PairQuery): Sql;
  /** Whether hits of the pair index come in the order of the records, so that the first ones are found first. */
  readonly hitsInOrder: boolean;
  /** Stands at the end of a query that is to be done before what it is part of. */
  readonly first: string;
  /** The texts of a column, joined. */
  joined(name: string, separator: string): string;
}

/** Replaces the marks of values. */
const MARKS = new RegExp(`[${TEXT}${NUMBER}]`, 'g');

export const SQLITE: Dialect = {
  // No value is a bare parameter: SQLite looks at the value of one while it plans, and then plans the statement anew for every
  // other value, at five times its cost.
  print: (text) => text.replace(MARKS, (mark) => (mark === NUMBER ? '(? | 0)' : `(? || '')`)),
  holds: (text, sought) => sql`instr(${raw(text)}, ${sought}) > 0`,
  someOf: (texts, test) =>
    sql`exists (select 1 from json_each(${JSON.stringify(texts)}) k where ${test(raw('k.value'))})`,
  ofRow: (name) => raw(`+${name}`),
  indexed: (_, name, comparison, text) => sql`${raw(`${name} ${comparison}`)} ${text}`,
  through: (index) => ` indexed by ${quote(index)}`,
  join: 'cross join',
  placeInIndex: 't.pms_seq',
  pairsId: 'rowid',
  isRow: 'c.pms_id = p.rowid',
  hit: (pairs, alias, query) => sql`${raw(`${alias}.${quote(pairs)}`)} match ${matchText(query)}`,
  hitsInOrder: true,
  first: '',
  joined: (name, separator) => `group_concat(${name}, '${separator}')`,
};

/** Longest text, in characters, of which an index of PostgreSQL holds the whole: an entry has at most 2,704 bytes. */
export const WHOLE_IN_INDEX = 500;

export const POSTGRES: Dialect = {
  print(text) {
    let count = 0;
    return text.replace(MARKS, (mark) => `$${++count}::${mark === NUMBER ? 'bigint' : 'text'}`);
  },
  holds: (text, sought) => sql`strpos(${raw(text)}, ${sought}) > 0`,
  someOf: (texts, test) =>
    sql`exists (select 1 from json_array_elements_text(${JSON.stringify(texts)}::json) k (value) where ${test(raw('k.value'))})`,
  // No stored text is empty, so this is the column; but no index is on it.
  ofRow: (name) => raw(`nullif(${name}, '')`),
  indexed(column, name, comparison, text) {
    const whole = sql`${raw(`${name} ${comparison}`)} ${text}`;
    if (!isLong(column)) return whole;
    const start = comparison === '<' ? '<=' : comparison;
    return sql`(${raw(`left(${name}, ${WHOLE_IN_INDEX}) ${start}`)} left(${text}, ${raw(String(WHOLE_IN_INDEX))}) and ${whole})`;
  },
  through: () => '',
  join: 'join',
  placeInIndex: '(t.pms_seq + 0)',
  pairsId: 'pms_id',
  isRow: 'c.pms_record = p.pms_record and c.pms_id = p.pms_id',
  hit(_, alias, query) {
    const tokens = raw(`${alias}.tokens`);
    const lists = query.map((alternatives) => {
      const numbers = alternatives.map((alternative) => alternative.tokens.map(numberOf));
      if (numbers.every(({ length }) => length === 1)) return sql`${tokens} && ${`{${numbers.join(',')}}`}::int[]`;
      return sql`(${join(
        numbers.map((all) => sql`${tokens} @> ${`{${all.join(',')}}`}::int[]`),
        ' or ',
      )})`;
    });
    return allOf(lists);
  },
  hitsInOrder: false,
  first: ' offset 0',
  joined: (name, separator) => `string_agg(${name}, '${separator}')`,
};
