// The searches that the bench measures, each with the primary keys of the records that it must find.
import {
  amountOf,
  brandOf,
  dayText,
  ORDER_DAYS,
  orderDayOf,
  orderNumberOf,
  productOf,
  rareInCompany,
  rareInRemarks,
  rareWordsUsed,
  rowCountOf,
  statusOf,
} from './records.ts';
import { BRANDS, PRODUCTS, productName, RARE_WORDS, rareWord, STATUSES } from './words.ts';

/** Conditions of one search, and the numbers of all the records that meet them, in order. */
export interface Search {
  readonly param: object;
  readonly finds: readonly number[];
}

/** A line of the bench's table: one kind of search with as many different keywords as make sense. */
export interface SearchRow {
  readonly name: string;
  /** The request's `limit`, or null when it is not sent. */
  readonly limit: number | null;
  readonly searches: readonly Search[];
}

// So many that the pages they touch do not all stay in a cache of some megabytes.
const EXACT_SEARCHES = 20_000;
/** Distinct searches of a row that finds few records. */
const SEARCHES = 4000;
/** Distinct searches of a row that finds many. */
const FEWER_SEARCHES = 1000;

/** The rows, in the order of the table. */
export function searchRows(seed: number, records: number): SearchRow[] {
  return [
    { name: 'exact, finds 1', limit: null, searches: exact(seed, records) },
    { name: 'partial, 2 kanji, finds at most 20', limit: null, searches: partialRare(records) },
    { name: 'partial, 2 kanji, finds ~1%, limit=20', limit: 20, searches: partialCommon(seed, records) },
    { name: 'any of three keywords', limit: null, searches: anyOfThree(records) },
    { name: 'range, finds 100', limit: null, searches: range(seed, records) },
    { name: 'three conditions at once', limit: null, searches: threeConditions(seed, records) },
    { name: 'condition on a table', limit: null, searches: tableCondition(seed, records) },
    { name: 'no match', limit: null, searches: noMatch(records) },
  ];
}

// Spreads the searches over the register without a random number: the step has no divisor in common with most lengths.
function spread(count: number, length: number): number[] {
  return Array.from({ length: Math.min(count, length) }, (_, i) => (i * 7919 + 17) % length);
}

function exact(seed: number, records: number): Search[] {
  return spread(EXACT_SEARCHES, records).map((at) => ({
    param: { bench_no: orderNumberOf(seed, at + 1) },
    finds: [at + 1],
  }));
}

/** Numbers of the records of each key; records of a negative key are left out. */
function byKey(records: number, keyOf: (n: number) => number): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let n = 1; n <= records; n++) {
    const key = keyOf(n);
    if (key < 0) continue;
    const numbers = found.get(key);
    if (numbers === undefined) found.set(key, [n]);
    else numbers.push(n);
  }
  return found;
}

function partialRare(records: number): Search[] {
  const found = [...byKey(records, rareInCompany)];
  return spread(SEARCHES, found.length).map((at) => {
    const [word, finds] = found[at] as [number, number[]];
    return { param: { bench_company: rareWord(word)[0] }, finds };
  });
}

function partialCommon(seed: number, records: number): Search[] {
  return [...byKey(records, (n) => brandOf(seed, n))].map(([brand, finds]) => ({
    param: { bench_company: BRANDS[brand]?.[0] },
    finds,
  }));
}

function anyOfThree(records: number): Search[] {
  const found = [...byKey(records, rareInRemarks)];
  return spread(SEARCHES, found.length).map((at) => {
    const third = Math.floor(found.length / 3);
    const three = [at, at + third, at + 2 * third].map((i) => found[i % found.length] as [number, number[]]);
    return {
      param: { bench_remarks: three.map(([word]) => rareWord(word)[0]).join(',') },
      finds: [...new Set(three.flatMap(([, numbers]) => numbers))].sort((a, b) => a - b),
    };
  });
}

const IN_RANGE = 100;

function range(seed: number, records: number): Search[] {
  const amounts = new Float64Array(records + 1);
  for (let n = 1; n <= records; n++) amounts[n] = amountOf(seed, n);
  const order = Uint32Array.from({ length: records }, (_, i) => i + 1);
  order.sort((a, b) => (amounts[a] as number) - (amounts[b] as number) || a - b);
  const amountAt = (place: number) => amounts[order[place] ?? 0];
  const searches: Search[] = [];
  const step = Math.max(1, Math.floor(records / FEWER_SEARCHES));
  for (let start = 0; start + IN_RANGE < records && searches.length < FEWER_SEARCHES; start += step) {
    // The next place where neither bound cuts through equal amounts.
    let from = start;
    const cuts = () =>
      (from > 0 && amountAt(from - 1) === amountAt(from)) ||
      amountAt(from + IN_RANGE - 1) === amountAt(from + IN_RANGE);
    while (from < start + step && from + IN_RANGE < records && cuts()) from++;
    if (from === start + step || from + IN_RANGE >= records) continue;
    searches.push({
      param: { bench_amount: String(amountAt(from)), bench_amount_to: String(amountAt(from + IN_RANGE - 1)) },
      finds: [...order.subarray(from, from + IN_RANGE)].sort((a, b) => a - b),
    });
  }
  return searches;
}

const DAYS_OF_THREE = 31;
const STATUS_PAIRS = [
  [0, 1],
  [2, 3],
  [4, 6],
] as const;

function threeConditions(seed: number, records: number): Search[] {
  const searches: Search[] = [];
  for (const [brand, numbers] of byKey(records, (n) => brandOf(seed, n))) {
    const inBrand = numbers.map((n) => ({ n, day: orderDayOf(seed, n), status: statusOf(seed, n) }));
    for (let i = 0; i < 2 * (FEWER_SEARCHES / BRANDS.length); i++) {
      const from = ((brand * 31 + i) * 89) % (ORDER_DAYS - DAYS_OF_THREE);
      const to = from + DAYS_OF_THREE - 1;
      const pair = STATUS_PAIRS[i % STATUS_PAIRS.length] as readonly [number, number];
      const finds = inBrand
        .filter(({ day, status }) => day >= from && day <= to && pair.includes(status))
        .map(({ n }) => n);
      if (finds.length === 0) continue;
      searches.push({
        param: {
          bench_company: BRANDS[brand]?.[0],
          bench_status: pair.map((status) => STATUSES[status]).join(','),
          bench_order: dayText(from),
          bench_order_to: dayText(to),
        },
        finds,
      });
    }
  }
  return spread(searches.length, searches.length).map((at) => searches[at] as Search);
}

function tableCondition(seed: number, records: number): Search[] {
  const wanted = new Map(
    spread(SEARCHES, Math.min(PRODUCTS, records)).map((at): [number, Set<number>] => [
      productOf(seed, at + 1, 0),
      new Set(),
    ]),
  );
  for (let n = 1; n <= records; n++) {
    for (let row = rowCountOf(seed, n) - 1; row >= 0; row--) wanted.get(productOf(seed, n, row))?.add(n);
  }
  return [...wanted]
    .filter(([, finds]) => finds.size > 0)
    .map(([product, finds]) => ({ param: { bench_lines: { line_product: productName(product) } }, finds: [...finds] }));
}

function noMatch(records: number): Search[] {
  const unused = RARE_WORDS - rareWordsUsed(records);
  return Array.from({ length: Math.min(SEARCHES, unused) }, (_, i) => ({
    param: { bench_company: rareWord(RARE_WORDS - 1 - i)[0] },
    finds: [],
  }));
}
