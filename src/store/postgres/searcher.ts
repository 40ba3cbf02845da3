// Runs searches: chooses where to start, then reads a page of answers, or all of them through a cursor.
import type { Search } from '../../search/condition.ts';
import { POSTGRES } from '../../sql/dialect.ts';
import { keyColumn, type Layout } from '../../sql/layout.ts';
import { withinBlocks } from '../../sql/pairs.ts';
import {
  type Counted,
  compileGroups,
  countQuery,
  cursorQuery,
  fewest,
  type Group,
  probe,
  type Start,
  startFrom,
  startFromPairs,
  versionedPageQuery,
  walkable,
  wholeTest,
} from '../../sql/search.ts';
import { quote, type Sql } from '../../sql/sql.ts';
import { type Connection, rowsOf } from './connection.ts';
import { keyStart } from './tables.ts';
import type { TokenFrequencies } from './token-frequencies.ts';

/** How a search will be run. */
export interface Plan {
  readonly layout: Layout;
  readonly search: Search;
  readonly start: Start;
  /** Tests that the start leaves open. */
  readonly tests: readonly Sql[];
  /** Rows that may have to be looked at before the first page is full; a bound, not a count. */
  readonly work: number;
  /** Where a keyword is so common that neighbouring records soon fill a page: among how many to look for it first; else 0. */
  readonly near: number;
}

/** A page, and the version of the catalog that the database had with it. */
export interface FoundPage {
  readonly version: string;
  /** The answers, joined by `},`, each without its closing brace; null where there is none. */
  readonly answers: Buffer | null;
  /** One more than the page's limit where more follow. */
  readonly count: number;
  /** Primary key of the last record, where more follow. */
  readonly key: string | null;
}

/** Counting stops here at first: a condition that finds fewer is a good start, whatever the others are. */
const FEW = 256;
/** Sets that are larger are not worth sorting when another start gives records in their order. */
const MANY = 20_000;
/** A keyword with more hits than this is looked for among neighbouring records first, where few are wanted. */
const COMMON = 300;
/** Most records among which it is looked for. */
const NEAR = 131_072;
/** As many times more records are looked at as should be enough if a keyword's hits lay evenly among all. */
const MARGIN = 2;

/** Statements kept prepared on each connection; a client that makes up many must not fill the memory. */
const MAX_PREPARED = 400;
const prepared = new Set<string>();

/** Runs a compiled query; gives its rows as bytes, which texts are in. */
export async function rawRows(on: Connection, { text, values }: Sql): Promise<readonly (Buffer | null)[][]> {
  if (prepared.size < MAX_PREPARED) prepared.add(text);
  const options = { prepare: prepared.has(text), raw: true };
  return (await on.query(POSTGRES.print(text), values, options)) as readonly (Buffer | null)[][];
}

/** A page of at most `limit` records after a place. */
export async function readPage(on: Connection, plan: Plan, after: number, limit: number): Promise<FoundPage> {
  const { layout, search, start, tests, near } = plan;
  if (near > 0 && start.kind === 'pairs') {
    const some: Start = { kind: 'pairs', query: withinBlocks(start.query, after + 1, after + near) };
    const page = await onePage(on, versionedPageQuery(layout, search, some, tests, { after, limit }));
    if (page.count > limit) return page;
  }
  return onePage(on, versionedPageQuery(layout, search, start, tests, { after, limit }));
}

async function onePage(on: Connection, query: Sql): Promise<FoundPage> {
  const [row] = await rawRows(on, query);
  const [version, answers, count, key] = row as (Buffer | null)[];
  return {
    version: String(version),
    answers: answers ?? null,
    count: Number(count),
    key: key == null ? null : String(key),
  };
}

/** All records of a plan after a place, in order, for a cursor: answer and primary key; `limit` null for no bound. */
export function planCursor({ layout, search, start, tests }: Plan, after: number, limit: number | null): Sql {
  return cursorQuery(layout, search, start, tests, { after, limit });
}

/** How many records there are after a place, counted up to a limit. */
export async function countRecords(on: Connection, plan: Plan, after: number, limit: number): Promise<number> {
  const [row] = await rawRows(on, countQuery(POSTGRES, plan.layout, plan.start, plan.tests, { after, limit }));
  return Number(row?.[0]);
}

/** Place of the record with the primary key; null where there is none. */
export async function placeOf(on: Connection, layout: Layout, primaryKey: string): Promise<number | null> {
  const key = quote(keyColumn(layout));
  if (layout.keys !== null) {
    const [row] = await rowsOf<[string]>(on, `select pms_seq from ${quote(layout.keys)} where key = $1`, [primaryKey]);
    return row === undefined ? null : Number(row[0]);
  }
  const text = `select pms_seq from ${quote(layout.form.name)} where ${keyStart(key)} = ${keyStart('$1')} and ${key} = $1`;
  const [row] = await rowsOf<[string]>(on, text, [primaryKey]);
  return row === undefined ? null : Number(row[0]);
}

/** Chooses where to start. Asks the database only where several starts are possible. */
export async function makePlan(
  on: Connection,
  frequencies: TokenFrequencies,
  layout: Layout,
  search: Search,
): Promise<Plan> {
  const groups = compileGroups(POSTGRES, layout, search.conditions);
  const [only] = groups;
  const plan = { layout, search, near: 0 };
  if (only === undefined) return { ...plan, start: { kind: 'all' }, tests: [], work: 0 };
  if (layout.keys !== null) {
    const tests = groups.map((group) => wholeTest(POSTGRES, group));
    return { ...plan, start: { kind: 'all' }, tests, work: 0 };
  }
  const single = groups.length === 1 && only.conditions.length === 1;
  let best = fewest(await countGroups(on, frequencies, groups, single ? MANY : FEW));
  if (best.rows >= FEW && !single) {
    // Every condition is common: the pair index walks the lists of several together.
    const walked = walkable(groups);
    if (walked.length > 1) {
      const tests = groups.map(({ test }) => test);
      return { ...plan, start: startFromPairs(walked), tests, work: FEW };
    }
    best = fewest(await countGroups(on, frequencies, groups, MANY));
  }
  const { group, condition, rows, of } = best;
  const start = single && rows < FEW ? fewFrom(group, condition) : startFrom(POSTGRES, group, condition);
  const open = groups.filter((other) => other !== group || start.kind === 'pairs');
  const isCommon = start.kind === 'pairs' && single && search.limit !== null && rows > COMMON;
  const near = isCommon ? Math.ceil((MARGIN * ((search.limit as number) + 1) * of) / rows) : 0;
  const isNear = near > 0 && near <= NEAR;
  return {
    ...plan,
    start,
    tests: open.map(({ test }) => test),
    work: (single && start.kind === 'equal') || isNear ? 0 : rows,
    near: isNear ? near : 0,
  };
}

/** The start from a stretch of the form that has few records; any other as it is. */
function fewFrom(group: Group, condition: Group['conditions'][number]): Start {
  const { lookup } = condition;
  if (lookup.kind === 'stretch' && !group.onTable) return { kind: 'few', where: lookup.where };
  return startFrom(POSTGRES, group, condition);
}

/** Counted up to a bound, or as the statistics have it. */
interface Estimated extends Counted {
  /** Of how many, where the statistics have it. */
  readonly of: number;
}

/** All conditions counted: those of the pair index from the statistics, the others by one query. */
async function countGroups(
  on: Connection,
  frequencies: TokenFrequencies,
  groups: readonly Group[],
  bound: number,
): Promise<readonly Estimated[]> {
  const alone = groups.length === 1 && groups[0]?.conditions.length === 1 && !groups[0].onTable;
  const all = groups.flatMap((group) => group.conditions.map((condition) => ({ group, condition })));
  const counted: Estimated[] = [];
  const asked: { group: Group; condition: Counted['condition']; query: Sql }[] = [];
  for (const { group, condition } of all) {
    const { lookup } = condition;
    if (lookup.kind === 'pairs') {
      const { hits, of } = await frequencies.hits(group.layout.pairs as string, lookup.query);
      counted.push({ group, condition, rows: hits, of });
    } else if (alone && lookup.kind === 'equal') counted.push({ group, condition, rows: 0, of: 0 });
    else asked.push({ group, condition, query: probe(POSTGRES, group, condition, bound) });
  }
  if (asked.length > 0) {
    const text = `select ${asked.map(({ query }) => `(${query.text})`).join(', ')}`;
    const [row] = await rawRows(on, { text, values: asked.flatMap(({ query }) => query.values) });
    asked.forEach(({ group, condition }, index) => {
      counted.push({ group, condition, rows: Number(row?.[index]), of: 0 });
    });
  }
  return counted;
}
