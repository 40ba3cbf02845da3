// A search → SQL: its possible starting points, what each costs, and the query of one page of answers.
import type { Conditions, Search } from '../search/condition.ts';
import { type CompiledCondition, compileCondition, type Lookup } from './conditions.ts';
import { type Dialect, POSTGRES, SQLITE } from './dialect.ts';
import { keyColumn, type Layout, type TableLayout } from './layout.ts';
import type { PairQuery } from './pairs.ts';
import { allOf, quote, raw, type Sql, sql } from './sql.ts';

/** One group of conditions that an index can start from: one condition on the form, or all those on one table. */
export interface Group {
  /** The form's, or a form table's layout. */
  readonly layout: TableLayout;
  readonly conditions: readonly CompiledCondition[];
  /** The test of a record (alias t). */
  readonly test: Sql;
  readonly onTable: boolean;
  /** One condition on the choices of a field. */
  readonly chosen: boolean;
}

/** Where the records of a search are found. */
export type Start =
  | { readonly kind: 'all' }
  /** The pair index of the form, every hit tested; in record order. */
  | { readonly kind: 'pairs'; readonly query: PairQuery }
  /** A stretch of a B-tree with so few records that they are read at once and put in order then. */
  | { readonly kind: 'few'; readonly where: Sql }
  /** One key of a B-tree; in record order. */
  | { readonly kind: 'equal'; readonly index: string; readonly where: Sql }
  /** A set of records, `select … as s`, to be put in order. */
  | { readonly kind: 'set'; readonly records: Sql }
  /** The set that keepSet put into `temp.hits`. */
  | { readonly kind: 'kept' };

/** The conditions of a search, compiled. */
export function compileGroups(dialect: Dialect, layout: Layout, conditions: Conditions): readonly Group[] {
  const groups: Group[] = conditions.form.map((condition) => {
    const compiled = compileCondition(dialect, layout.form, 't', condition);
    return {
      layout: layout.form,
      conditions: [compiled],
      test: compiled.test,
      onTable: false,
      chosen: condition.kind === 'chosen',
    };
  });
  for (const { table, conditions: onRows } of conditions.tables) {
    const rows = layout.tables.find((candidate) => candidate.table.code === table.code) as TableLayout;
    const compiled = onRows.map((condition) => compileCondition(dialect, rows, 'c', condition));
    const tests = allOf(compiled.map((condition) => condition.test));
    const test = sql`exists (select 1 from ${raw(quote(rows.name))} c where c.pms_record = t.pms_seq and ${tests})`;
    groups.push({ layout: rows, conditions: compiled, test, onTable: true, chosen: false });
  }
  return groups;
}

/** How many rows an index holds for a condition, counted up to a bound. */
export function probe(dialect: Dialect, { layout, onTable }: Group, { lookup }: CompiledCondition, bound: number): Sql {
  const alias = raw(onTable ? 'c' : 't');
  if (lookup.kind === 'pairs') {
    const pairs = layout.pairs as string;
    const hits = sql`${raw(quote(pairs))} p where ${dialect.hit(pairs, 'p', lookup.query)}`;
    return sql`select count(*) from (select 1 from ${hits} limit ${bound}) h`;
  }
  const table = sql`${raw(quote(layout.name))} ${alias}${raw(dialect.through(lookup.index))}`;
  return sql`select count(*) from (select 1 from ${table} where ${lookup.where} limit ${bound}) h`;
}

/** The start from one condition of a group. */
export function startFrom(dialect: Dialect, group: Group, condition: CompiledCondition): Start {
  const { lookup } = condition;
  const table = raw(quote(group.layout.name));
  if (!group.onTable) {
    if (lookup.kind !== 'stretch') return lookup;
    const from = sql`${table} t${raw(dialect.through(lookup.index))}`;
    return { kind: 'set', records: sql`select t.pms_seq as s from ${from} where ${lookup.where}` };
  }
  const others = group.conditions.filter((other) => other !== condition || lookup.kind === 'pairs');
  const tests = others.length === 0 ? raw('') : sql` and ${allOf(others.map((other) => other.test))}`;
  return {
    kind: 'set',
    records: sql`select distinct c.pms_record as s ${rowsFrom(dialect, group.layout, lookup)}${tests}`,
  };
}

function rowsFrom(dialect: Dialect, layout: TableLayout, lookup: Lookup): Sql {
  const table = raw(quote(layout.name));
  if (lookup.kind !== 'pairs') {
    return sql`from ${table} c${raw(dialect.through(lookup.index))} where ${lookup.where}`;
  }
  const pairs = layout.pairs as string;
  const joined = raw(`${dialect.join} ${quote(layout.name)} c on ${dialect.isRow}`);
  return sql`from ${raw(quote(pairs))} p ${joined} where ${dialect.hit(pairs, 'p', lookup.query)}`;
}

/** The start from the pair index with the conditions of several groups, whose lists it walks together. */
export function startFromPairs(groups: readonly Group[]): Start {
  return { kind: 'pairs', query: groups.flatMap(({ conditions: [condition] }) => condition?.query ?? []) };
}

/**
 * The whole of a group as a test of a record, for a database that plans by itself: where records are spread, each part of it
 * begins where its own indexes say. Every join is within one record, so that no part needs another.
 */
export function wholeTest(dialect: Dialect, { layout, conditions, onTable }: Group): Sql {
  const tests = conditions.map(({ test, lookup }) => {
    if (lookup.kind !== 'pairs') return lookup.where;
    const pairs = layout.pairs as string;
    const isHit = onTable ? dialect.isRow : `p.${dialect.pairsId} = t.pms_seq`;
    const hit = dialect.hit(pairs, 'p', lookup.query);
    return sql`exists (select 1 from ${raw(quote(pairs))} p where ${raw(isHit)} and ${hit}) and ${test}`;
  });
  if (!onTable) return allOf(tests);
  return sql`exists (select 1 from ${raw(quote(layout.name))} c where c.pms_record = t.pms_seq and ${allOf(tests)})`;
}

/** Whether a group can be part of startFromPairs. */
export function isPaired({ onTable, conditions: [condition] }: Group): boolean {
  return !onTable && condition?.query != null;
}

/** The groups whose lists are walked together: all that can, but choices, of which there are few and each is common. */
export function walkable(groups: readonly Group[]): readonly Group[] {
  const paired = groups.filter(isPaired);
  const selective = paired.filter(({ chosen }) => !chosen);
  return selective.length > 1 ? selective : paired;
}

/** What the best start from a group is. */
export interface Counted {
  readonly group: Group;
  /** The condition of the group that the fewest index rows answer. */
  readonly condition: Group['conditions'][number];
  /** How many those are, counted up to a bound. */
  readonly rows: number;
}

/** The start that the fewest rows answer. */
export function fewest<Some extends Counted>(counted: readonly Some[]): Some {
  return counted.reduce((best, candidate) => (candidate.rows < best.rows ? candidate : best));
}

/** What one page is: records after a place, at most so many. */
export interface Page {
  /** Place in the creation order; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** The records of a search in their order: `a`, the answer without its closing brace, and what stands beside it. */
function recordsQuery(
  dialect: Dialect,
  layout: Layout,
  search: Search,
  start: Start,
  tests: readonly Sql[],
  { after, limit }: { readonly after: number; readonly limit: number | null },
  beside: (order: Sql) => Sql,
): Sql {
  const { from, order } = source(dialect, layout, start, tests.length === 0 ? limit : null, after);
  const where = tests.length === 0 ? raw('') : sql` and ${allOf(tests)}`;
  const bounded = limit === null ? raw('') : sql` limit ${limit}`;
  return sql`select ${answer(dialect, layout, search)} as a, ${beside(order)} ${from}${where} order by ${order}${bounded}`;
}

/** Columns of a page's single row: the answers joined (UTF-8), how many they are, and the place of the last. */
export function pageQuery(layout: Layout, search: Search, start: Start, tests: readonly Sql[], page: Page): Sql {
  const rows = recordsQuery(SQLITE, layout, search, start, tests, page, (order) => sql`${order} as s`);
  return sql`select cast(${raw(SQLITE.joined('a', '},'))} as blob), count(*), max(s) from (${rows})`;
}

/** All records of a search after a place, in order, for a cursor: answer and primary key. `limit` null for no bound. */
export function cursorQuery(
  layout: Layout,
  search: Search,
  start: Start,
  tests: readonly Sql[],
  range: { readonly after: number; readonly limit: number | null },
): Sql {
  const key = raw(`t.${quote(keyColumn(layout))} as k`);
  return recordsQuery(POSTGRES, layout, search, start, tests, range, () => key);
}

/**
 * Columns of a page's single row: the version of the catalog, the answers joined, how many records there are, counted up to one
 * more than the page's limit, and the primary key of the last of the page where more follow.
 */
export function versionedPageQuery(
  layout: Layout,
  search: Search,
  start: Start,
  tests: readonly Sql[],
  { after, limit }: Page,
): Sql {
  const rows = cursorQuery(layout, search, start, tests, { after, limit: limit + 1 });
  const counted = sql`select a, k, row_number() over () as n from (${rows}) r`;
  const joined = raw(POSTGRES.joined('a', '},'));
  const page = sql`select ${joined} filter (where n <= ${limit}) as a, count(*) as n, max(k) filter (where n = ${limit}) as k from (${counted}) c`;
  return sql`select ${raw(CATALOG_VERSION)}, a, n, case when n > ${limit} then k end from (${page}) page`;
}

/** The version of the catalog as the database has it. */
export const CATALOG_VERSION = `(select value from settings where name = 'catalog_version')`;

/** How many records follow a place, counted up to the page's limit. */
export function countQuery(
  dialect: Dialect,
  layout: Layout,
  start: Start,
  tests: readonly Sql[],
  { after, limit }: Page,
): Sql {
  const { from, order } = source(dialect, layout, start, tests.length === 0 ? limit : null, after);
  const where = tests.length === 0 ? raw('') : sql` and ${allOf(tests)}`;
  return sql`select count(*) from (select 1 ${from}${where} order by ${order} limit ${limit}) r`;
}

/** Puts the records of a set into a temporary table `hits (s)`, so that page follows page without sorting again. */
export function keepSet(start: Start & { kind: 'set' }): Sql {
  return sql`insert or ignore into temp.hits ${start.records}`;
}

/** `first` is how many of the start's records are needed; null for any number. */
function source(
  dialect: Dialect,
  layout: Layout,
  start: Start,
  first: number | null,
  after: number,
): { from: Sql; order: Sql } {
  const table = raw(quote(layout.form.name));
  switch (start.kind) {
    case 'all':
      return { from: sql`from ${table} t where t.pms_seq > ${after}`, order: raw('t.pms_seq') };
    case 'pairs': {
      const pairs = layout.form.pairs as string;
      const id = `p.${dialect.pairsId}`;
      const hits = sql`from ${raw(quote(pairs))} p`;
      const hit = dialect.hit(pairs, 'p', start.query);
      if (!dialect.hitsInOrder) {
        const records = sql`select ${raw(id)} as s ${hits} where ${hit}`;
        return source(dialect, layout, { kind: 'set', records }, first, after);
      }
      const joined = sql`${raw(dialect.join)} ${table} t on t.pms_seq = ${raw(id)}`;
      return { from: sql`${hits} ${joined} where ${hit} and ${raw(id)} > ${after}`, order: raw(id) };
    }
    case 'few': {
      // An index on the places would be walked for an order by them, and for those after one.
      const place = raw(dialect.placeInIndex);
      return { from: sql`from ${table} t where ${start.where} and ${place} > ${after}`, order: place };
    }
    case 'equal': {
      const from = sql`from ${table} t${raw(dialect.through(start.index))}`;
      const place = raw(dialect.placeInIndex);
      return { from: sql`${from} where ${start.where} and ${place} > ${after}`, order: place };
    }
    case 'set':
    case 'kept': {
      // Without other tests the first of the set are the page; with them any of the set may be.
      const bounded = first === null ? raw(dialect.first) : sql` limit ${first}`;
      const records = start.kind === 'kept' ? raw('temp.hits') : sql`(${start.records}${raw(dialect.first)}) r`;
      const hits = sql`select s from ${records} where s > ${after} order by s${bounded}`;
      const joined = sql`${raw(dialect.join)} ${table} t on t.pms_seq = h.s`;
      return { from: sql`from (${hits}) h ${joined} where true`, order: raw('h.s') };
    }
  }
}

/** One record's answer without its closing brace, with what this search adds to it (D12, D23). */
function answer(dialect: Dialect, layout: Layout, { table, revision }: Search): Sql {
  let text = 't.pms_answer';
  if (table !== null) {
    const rows = layout.tables.find((candidate) => candidate.table.code === table.code) as TableLayout;
    const ordered = `select pms_answer from ${quote(rows.name)} where pms_record = t.pms_seq order by pms_row`;
    text += ` || ',"${table.code}":[' || coalesce((select ${dialect.joined('pms_answer', '},')} || '}' from (${ordered}) r), '') || ']'`;
  }
  if (revision) {
    text += ` || ',"pms_revision":{"type":"pms_revision","value":"' || t.pms_revision || '"}'`;
  }
  return raw(text);
}
