// Runs searches on one connection: chooses where to start, then reads a page of answers at a time.
import type { Search } from '../../search/condition.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { keyColumn, type Layout } from '../../sql/layout.ts';
import {
  type Counted,
  compileGroups,
  countQuery,
  fewest,
  type Group,
  isPaired,
  keepSet,
  type Page,
  pageQuery,
  probe,
  type Start,
  startFrom,
  startFromPairs,
  walkable,
} from '../../sql/search.ts';
import { type SingleSearch, singleSearch, singleValues } from '../../sql/single.ts';
import { quote, type Sql } from '../../sql/sql.ts';
import type { Connection, Statement } from './connection.ts';

/** How a search will be run. */
export interface Plan {
  readonly layout: Layout;
  readonly search: Search;
  readonly start: Start;
  /** Tests that the start leaves open. */
  readonly tests: readonly Sql[];
  /** Rows that may have to be looked at before the first page is full; a bound, not a count. */
  readonly work: number;
}

export interface FoundPage {
  /** The answers, joined by `},`, each without its closing brace; null where there is none. */
  readonly answers: Buffer | null;
  readonly count: number;
  /** Place of the last record. */
  readonly last: number;
}

/** Counting stops here at first: a condition that finds fewer is a good start, whatever the others are. */
const FEW = 256;
/** Sets that are larger are not worth sorting when another start gives records in their order. */
const MANY = 20_000;

export interface Searcher {
  /** A page of a search that needs no plan, as most do not; null for any other. */
  pageOfSingle(layout: Layout, search: Search, page: Page): FoundPage | null;
  plan(layout: Layout, search: Search): Plan;
  page(plan: Plan, page: Page): FoundPage;
  /** How many records there are after a place, counted up to the page's limit. */
  count(plan: Plan, page: Page): number;
  /** The plan with its set of records put into a temporary table, for page after page; one at a time on a connection. */
  keep(plan: Plan): Plan;
  /** Place of the record with the primary key; null where there is none. */
  placeOf(layout: Layout, primaryKey: string): number | null;
  primaryKeyAt(layout: Layout, place: number): string;
}

/** Statements kept prepared. */
const MAX_STATEMENTS = 500;

function foundPage(row: unknown): FoundPage {
  const [answers, count, last] = row as [Buffer | null, number, number];
  return { answers, count, last };
}

/** A searcher on a connection. */
export function searcherOn(db: Connection): Searcher {
  const statements = new Map<string, Statement>();
  const statement = (text: string) => {
    let prepared = statements.get(text);
    if (prepared === undefined) {
      // Searches come in few shapes; a client that makes up many must not fill the memory.
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      prepared = db.prepare(text).raw();
      statements.set(text, prepared);
    }
    return prepared;
  };
  const one = ({ text, values }: Sql) => statement(SQLITE.print(text)).get(...values) as unknown[] | undefined;

  const singles = new Map<string, Statement>();
  /** The statement of a shape, made for the first search of it. */
  const singleStatement = (layout: Layout, search: Search, single: SingleSearch, page: Page): Statement => {
    let prepared = singles.get(single.shape);
    if (prepared === undefined) {
      const [group] = compileGroups(SQLITE, layout, search.conditions) as [Group];
      const start = startFrom(SQLITE, group, group.conditions[0] as Group['conditions'][number]);
      const { text } = pageQuery(layout, search, start, start.kind === 'pairs' ? [group.test] : [], page);
      prepared = statement(SQLITE.print(text));
      if (singles.size >= MAX_STATEMENTS) singles.clear();
      singles.set(single.shape, prepared);
    }
    return prepared;
  };

  return {
    pageOfSingle(layout, search, page) {
      const single = singleSearch(layout, search);
      if (single === null) return null;
      const values = singleValues(single, page);
      return foundPage(singleStatement(layout, search, single, page).get(...values));
    },
    plan: (layout, search) => makePlan(layout, search, (query) => one(query)?.[0] as number),
    page: ({ layout, search, start, tests }, page) => foundPage(one(pageQuery(layout, search, start, tests, page))),
    count: ({ layout, start, tests }, page) => one(countQuery(SQLITE, layout, start, tests, page))?.[0] as number,
    keep(plan) {
      if (plan.start.kind !== 'set') return plan;
      db.exec('create temp table if not exists hits (s integer primary key); delete from temp.hits;');
      const { text, values } = keepSet(plan.start);
      db.prepare(SQLITE.print(text)).run(...values);
      return { ...plan, start: { kind: 'kept' } };
    },
    placeOf(layout, primaryKey) {
      const text = `select pms_seq from ${quote(layout.form.name)} where ${quote(keyColumn(layout))} = ?`;
      return (statement(text).get(primaryKey) as [number] | undefined)?.[0] ?? null;
    },
    primaryKeyAt(layout, place) {
      const text = `select ${quote(keyColumn(layout))} from ${quote(layout.form.name)} where pms_seq = ?`;
      return (statement(text).get(place) as [string])[0];
    },
  };
}

function makePlan(layout: Layout, search: Search, count: (query: Sql) => number): Plan {
  const groups = compileGroups(SQLITE, layout, search.conditions);
  const [only] = groups;
  if (only === undefined) return { layout, search, start: { kind: 'all' }, tests: [], work: 0 };
  const single = groups.length === 1 && only.conditions.length === 1;
  let best = fewest(countGroups(groups, single ? MANY : FEW, count));
  if (best.rows === FEW && !single) {
    // Every condition is common: the pair index walks the lists of several together.
    const walked = walkable(groups);
    if (walked.length > 1) {
      const tests = groups.map(({ test }) => test);
      const unwalked = groups.some((group) => !isPaired(group));
      return { layout, search, start: startFromPairs(walked), tests, work: unwalked ? Number.POSITIVE_INFINITY : 0 };
    }
    best = fewest(countGroups(groups, MANY, count));
  }
  const { group, condition, rows } = best;
  const start = startFrom(SQLITE, group, condition);
  const open = groups.filter((other) => other !== group || start.kind === 'pairs');
  const ordered = start.kind === 'pairs' || start.kind === 'equal';
  return { layout, search, start, tests: open.map(({ test }) => test), work: single && ordered ? 0 : rows };
}

function countGroups(groups: readonly Group[], bound: number, count: (query: Sql) => number): readonly Counted[] {
  return groups.map((group) => {
    let best: Counted | null = null;
    for (const condition of group.conditions) {
      // Alone and in record order, a start needs no count.
      const alone = groups.length === 1 && group.conditions.length === 1 && !group.onTable;
      const free = alone && condition.lookup.kind !== 'stretch';
      const rows: number = free ? 0 : count(probe(SQLITE, group, condition, bound));
      if (best === null || rows < best.rows) best = { group, condition, rows };
    }
    return best as Counted;
  });
}
