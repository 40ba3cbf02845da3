// SQLite's searches by one condition that an index answers in record order: nearly all there are. Their SQL is the same for every value,
// so that it is made once for each shape; sql/search.ts makes it, here are the shape's name and the values in it.
import type { Condition, Search } from '../search/condition.ts';
import { MAX_LISTED, soughtTexts } from './conditions.ts';
import type { Layout } from './layout.ts';
import { matchText, pairQuery } from './pairs.ts';
import type { Page } from './search.ts';
import type { SqlValue } from './sql.ts';

export interface SingleSearch {
  /** Two searches of one shape have the same SQL. */
  readonly shape: string;
  readonly condition: Exclude<Condition, { kind: 'starts' | 'between' }>;
  readonly position: number;
}

/** The single condition of a search; null where it has none or more, or one whose records have to be put in order. */
export function singleSearch(layout: Layout, { conditions, table, revision }: Search): SingleSearch | null {
  const [condition] = conditions.form;
  if (condition === undefined || conditions.form.length > 1 || conditions.tables.length > 0) return null;
  if (condition.kind === 'starts' || condition.kind === 'between') return null;
  const keywords = condition.kind === 'equals' ? 0 : condition.anyOf.length;
  if (keywords > MAX_LISTED) return null;
  const position = layout.form.columns.findIndex(({ field }) => field.id === condition.field.id);
  const shape = `${layout.form.name} ${position} ${condition.kind} ${keywords} ${revision} ${table?.code ?? ''}`;
  return { shape, condition, position };
}

/** The values of a page of such a search, in the order of its SQL. */
export function singleValues({ condition, position }: SingleSearch, { after, limit }: Page): readonly SqlValue[] {
  if (condition.kind === 'equals') return [condition.text, after, limit];
  return [matchText(pairQuery(condition, position)), after, ...soughtTexts(condition), limit];
}
