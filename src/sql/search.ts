// A search → SQL: its possible starting points, what each costs, and the query of one page of answers.
import type { Conditions, Search } from '../search/condition.ts';
import { type CompiledCondition, compileCondition, type Lookup } from './conditions.ts';
import type { Layout, TableLayout } from './layout.ts';
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
  | { readonly kind: 'pairs'; readonly query: string }
  /** One key of a B-tree; in record order. */
  | { readonly kind: 'equal'; readonly index: string; readonly where: Sql }
  /** A set of records, `select … as s`, to be put in order. */
  | { readonly kind: 'set'; readonly records: Sql }
  /** The set that keepSet put into `temp.hits`. */
  | { readonly kind: 'kept' };

/** The conditions of a search, compiled. */
export function compileGroups(layout: Layout, conditions: Conditions): readonly Group[] {
  const groups: Group[] = conditions.form.map((condition) => {
    const compiled = compileCondition(layout.form, 't', condition);
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
    const compiled = onRows.map((condition) => compileCondition(rows, 'c', condition));
    const tests = allOf(compiled.map((condition) => condition.test));
    const test = sql`exists (select 1 from ${raw(quote(rows.name))} c where c.pms_record = t.pms_seq and ${tests})`;
    groups.push({ layout: rows, conditions: compiled, test, onTable: true, chosen: false });
  }
  return groups;
}

/** How many rows an index holds for a condition, counted up to a bound. */
export function probe({ layout, onTable }: Group, { lookup }: CompiledCondition, bound: number): Sql {
  const alias = raw(onTable ? 'c' : 't');
  if (lookup.kind === 'pairs') {
    const pairs = raw(quote(layout.pairs as string));
    return sql`select count(*) from (select 1 from ${pairs} where ${pairs} match ${lookup.query} limit ${bound})`;
  }
  const table = sql`${raw(quote(layout.name))} ${alias} indexed by ${raw(quote(lookup.index))}`;
  return sql`select count(*) from (select 1 from ${table} where ${lookup.where} limit ${bound})`;
}

/** The start from one condition of a group. */
export function startFrom(group: Group, condition: CompiledCondition): Start {
  const { lookup } = condition;
  const table = raw(quote(group.layout.name));
  if (!group.onTable) {
    if (lookup.kind !== 'stretch') return lookup;
    const from = sql`${table} t indexed by ${raw(quote(lookup.index))}`;
    return { kind: 'set', records: sql`select t.pms_seq as s from ${from} where ${lookup.where}` };
  }
  const others = group.conditions.filter((other) => other !== condition || lookup.kind === 'pairs');
  const tests = others.length === 0 ? raw('') : sql` and ${allOf(others.map((other) => other.test))}`;
  return {
    kind: 'set',
    records: sql`select distinct c.pms_record as s ${rowsFrom(group.layout, lookup)}${tests}`,
  };
}

function rowsFrom(layout: TableLayout, lookup: Lookup): Sql {
  const table = raw(quote(layout.name));
  if (lookup.kind !== 'pairs') {
    return sql`from ${table} c indexed by ${raw(quote(lookup.index))} where ${lookup.where}`;
  }
  const pairs = raw(quote(layout.pairs as string));
  return sql`from ${pairs} p cross join ${table} c on c.pms_id = p.rowid where p.${pairs} match ${lookup.query}`;
}

/** The start from the pair index with the conditions of several groups, whose lists it walks together. */
export function startFromPairs(groups: readonly Group[]): Start {
  return { kind: 'pairs', query: groups.map(({ conditions: [condition] }) => condition?.query).join(' AND ') };
}

/** Whether a group can be part of startFromPairs. */
export function isPaired({ onTable, conditions: [condition] }: Group): boolean {
  return !onTable && condition?.query != null;
}

/** What one page is: records after a place, at most so many. */
export interface Page {
  /** Place in the creation order; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** Columns of a page's single row: the answers joined (UTF-8), how many they are, and the place of the last. */
export function pageQuery(layout: Layout, search: Search, start: Start, tests: readonly Sql[], page: Page): Sql {
  const { from, order } = source(layout, start, tests.length === 0, page);
  const where = tests.length === 0 ? raw('') : sql` and ${allOf(tests)}`;
  const rows = sql`select ${answer(layout, search)} as a, ${order} as s ${from}${where} order by ${order} limit ${page.limit}`;
  return sql`select cast(group_concat(a, '},') as blob), count(*), max(s) from (${rows})`;
}

/** How many records follow a place, counted up to the page's limit. */
export function countQuery(layout: Layout, start: Start, tests: readonly Sql[], page: Page): Sql {
  const { from, order } = source(layout, start, tests.length === 0, page);
  const where = tests.length === 0 ? raw('') : sql` and ${allOf(tests)}`;
  return sql`select count(*) from (select 1 ${from}${where} order by ${order} limit ${page.limit})`;
}

/** Puts the records of a set into a temporary table `hits (s)`, so that page follows page without sorting again. */
export function keepSet(start: Start & { kind: 'set' }): Sql {
  return sql`insert or ignore into temp.hits ${start.records}`;
}

function source(layout: Layout, start: Start, exact: boolean, page: Page): { from: Sql; order: Sql } {
  const table = raw(quote(layout.form.name));
  switch (start.kind) {
    case 'all':
      return { from: sql`from ${table} t where t.pms_seq > ${page.after}`, order: raw('t.pms_seq') };
    case 'pairs': {
      const pairs = raw(quote(layout.form.pairs as string));
      const match = sql`p.${pairs} match ${start.query} and p.rowid > ${page.after}`;
      return {
        from: sql`from ${pairs} p cross join ${table} t on t.pms_seq = p.rowid where ${match}`,
        order: raw('p.rowid'),
      };
    }
    case 'equal': {
      const from = sql`from ${table} t indexed by ${raw(quote(start.index))}`;
      return { from: sql`${from} where ${start.where} and t.pms_seq > ${page.after}`, order: raw('t.pms_seq') };
    }
    case 'set':
    case 'kept': {
      // Without other tests the first of the set are the page; with them any of the set may be.
      const bounded = exact ? sql` limit ${page.limit}` : raw('');
      const records = start.kind === 'kept' ? raw('temp.hits') : sql`(${start.records})`;
      const hits = sql`select s from ${records} where s > ${page.after} order by s${bounded}`;
      return { from: sql`from (${hits}) h cross join ${table} t on t.pms_seq = h.s where true`, order: raw('h.s') };
    }
  }
}

/** One record's answer without its closing brace, with what this search adds to it (D12, D23). */
function answer(layout: Layout, { table, revision }: Search): Sql {
  let text = 't.pms_answer';
  if (table !== null) {
    const rows = layout.tables.find((candidate) => candidate.table.code === table.code) as TableLayout;
    const ordered = `select pms_answer from ${quote(rows.name)} where pms_record = t.pms_seq order by pms_row`;
    text += ` || ',"${table.code}":[' || coalesce((select group_concat(pms_answer, '},') || '}' from (${ordered})), '') || ']'`;
  }
  if (revision) {
    text += ` || ',"pms_revision":{"type":"pms_revision","value":"' || t.pms_revision || '"}'`;
  }
  return raw(text);
}
