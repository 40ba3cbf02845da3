// The definition, the records and the searches whose SQL is recorded, for every engine.
import assert from 'node:assert/strict';
import type { App } from '../../src/app/app.ts';
import { type JsonObject, parseJson } from '../../src/json.ts';
import type { Search } from '../../src/search/condition.ts';
import { parseConditions } from '../../src/search/parse.ts';
import type { Change } from '../../src/update/change.ts';
import { changeOf } from '../harness/change.ts';
import type { TestRecord } from '../harness/running.ts';

const RECORDS = 4_000;

const METHODS = [
  ['partial', 'text'],
  ['exact', 'text'],
  ['prefix', 'text'],
  ['suffix', 'text'],
  ['any_of', 'text'],
  ['any_of', 'checkbox'],
] as const;

/** One field for every method, with and without folding, and for the ordered types. */
function fieldsOf(start: string): string {
  const texts = METHODS.flatMap(([search, type]) =>
    [false, true].map(
      (fold) => `{ id: ${nameOf(start, search, type, fold)}, type: ${type}, search: ${search}, fold: ${fold} }`,
    ),
  );
  const ordered = [
    `{ id: ${start}number, type: number, search: range }`,
    `{ id: ${start}same_number, type: number, search: exact }`,
    `{ id: ${start}date, type: date, search: range }`,
    `{ id: ${start}datetime, type: datetime, search: exact }`,
    `{ id: ${start}time, type: time, search: range }`,
  ];
  return [...texts, ...ordered].join(', ');
}

function nameOf(start: string, search: string, type: string, fold: boolean): string {
  return `${start}${search}${type === 'text' ? '' : '_choice'}${fold ? '_fold' : ''}`;
}

/** No time is searched: its month would be in the pair index. */
export const DEFINITION = `
code: GOLDEN
fields: [{ id: g_primarykey, type: id, search: prefix }, { id: no, type: auto_number, search: range }, ${fieldsOf('f_')}]
tables: [{ code: lines, fields: [${fieldsOf('l_')}] }]
system: { pms_u_usr: { search: exact } }
`;

const WORDS = ['京都', '東京', '大阪', '札幌', '株式会社', '有限会社', 'ｶﾅ', 'ABC'];
const CHOICES = ['新規', '受付', '完了', '未完了', '保留'];

/** Values for one field of each kind; `n` decides them, so that they are the same in every run. */
function valuesOf(start: string, n: number): Record<string, string> {
  const two = (part: number) => String(part).padStart(2, '0');
  const word = (step: number) => WORDS[(n * step + (n >> 3)) % WORDS.length] as string;
  const day = `2024-${two(1 + (n % 12))}-${two(1 + (n % 28))}`;
  const clock = `${two(n % 24)}:${two(n % 60)}:00`;
  const values: Record<string, string> = {};
  for (const [search, type] of METHODS) {
    for (const fold of [false, true]) {
      const choices = `${CHOICES[n % 5]},${CHOICES[(n >> 2) % 5]}`;
      values[nameOf(start, search, type, fold)] = type === 'text' ? `${word(3)}${n}${word(5)}` : choices;
    }
  }
  const number = String(n % 1_000);
  return Object.assign(values, {
    ...{ [`${start}number`]: number, [`${start}same_number`]: number, [`${start}date`]: day },
    ...{ [`${start}datetime`]: `${day} ${clock}`, [`${start}time`]: clock },
  });
}

/** The records of the app GOLDEN. */
export const goldenRecords: readonly TestRecord[] = Array.from({ length: RECORDS }, (_, n): TestRecord => {
  const lines = Array.from({ length: n % 3 }, (_, line) => valuesOf('l_', n * 3 + line));
  return { g_primarykey: `K${n}`, ...valuesOf('f_', n), lines };
});

/** What finds the records: the index of a field, the pair index of the form or of the table, or the order of creation. */
export type Uses = { readonly index: string } | 'pairs' | 'line pairs' | 'primary key';

export interface Row {
  readonly name: string;
  readonly param: Readonly<Record<string, unknown>>;
  readonly uses: Uses;
  /** Where that is something else on PostgreSQL. */
  readonly onPostgres?: Uses;
  readonly tablecode?: string;
  readonly limit?: number;
  readonly after?: string;
  readonly revision?: boolean;
}

const KEYWORDS: { readonly [search: string]: string } = {
  partial: '京都',
  exact: '京都8東京',
  prefix: '京都8',
  suffix: '8東京',
  any_of: '京都8, 札幌',
  any_of_choice: '新規,保留',
};

function rowsOf(start: string, place: string, wrap: (conditions: Record<string, string>) => Row['param']): Row[] {
  const pairs = place === 'form' ? 'pairs' : 'line pairs';
  const texts = METHODS.flatMap(([search, type]) =>
    [false, true].map((fold): Row => {
      const field = nameOf(start, search, type, fold);
      const keyword = KEYWORDS[type === 'text' ? search : 'any_of_choice'] as string;
      const uses = search === 'partial' || search === 'any_of' ? pairs : { index: field };
      const name = `${place}-${nameOf('', search, type, fold).replaceAll('_', '-')}`;
      return { name, param: wrap({ [field]: keyword }), uses };
    }),
  );
  const index = (field: string): Uses => ({ index: start + field });
  return [
    ...texts,
    { name: `${place}-partial-one-character`, param: wrap({ [`${start}partial`]: '札' }), uses: pairs },
    {
      name: `${place}-partial-long`,
      param: wrap({ [`${start}partial`]: `株式会社${'0123456789'.repeat(3)}` }),
      uses: pairs,
    },
    {
      name: `${place}-any-of-many`,
      param: wrap({ [`${start}any_of`]: Array.from({ length: 9 }, (_, n) => `${n}京`).join() }),
      uses: pairs,
    },
    {
      name: `${place}-range-both`,
      param: wrap({ [`${start}number`]: '10', [`${start}number_to`]: '12.5' }),
      uses: index('number'),
    },
    { name: `${place}-range-from`, param: wrap({ [`${start}date`]: '2024-12-20' }), uses: index('date') },
    { name: `${place}-range-to`, param: wrap({ [`${start}time_to`]: '00:30' }), uses: index('time') },
    { name: `${place}-exact-number`, param: wrap({ [`${start}same_number`]: '10.0' }), uses: index('same_number') },
    { name: `${place}-exact-day`, param: wrap({ [`${start}datetime`]: '2024/03/03' }), uses: index('datetime') },
  ];
}

export const ROWS: readonly Row[] = [
  { name: 'all', param: {}, uses: 'primary key' },
  { name: 'all-limit', param: {}, limit: 20, uses: 'primary key' },
  { name: 'all-after', param: {}, limit: 20, after: 'K100', uses: 'primary key' },
  { name: 'all-tablecode', param: {}, tablecode: 'lines', uses: 'primary key' },
  { name: 'all-revision', param: {}, revision: true, uses: 'primary key' },
  { name: 'all-tablecode-revision', param: {}, tablecode: 'lines', revision: true, uses: 'primary key' },
  ...rowsOf('f_', 'form', (conditions) => conditions),
  ...rowsOf('l_', 'table', (conditions) => ({ lines: conditions })),
  { name: 'form-prefix-of-key', param: { g_primarykey: 'K39' }, uses: { index: 'g_primarykey' } },
  { name: 'form-range-of-auto-number', param: { no: '3990', no_to: '4000' }, uses: { index: 'no' } },
  { name: 'form-exact-user', param: { pms_u_usr: 'sato' }, uses: { index: 'pms_u_usr' } },
  { name: 'partial-limit-after', param: { f_partial: '京都' }, limit: 20, after: 'K100', uses: 'pairs' },
  { name: 'exact-limit-after', param: { f_exact: '京都8東京' }, limit: 20, after: 'K1', uses: { index: 'f_exact' } },
  {
    name: 'range-limit-after',
    param: { f_number: '500' },
    limit: 20,
    after: 'K100',
    tablecode: 'lines',
    uses: { index: 'f_number' },
  },
  {
    name: 'several-one-rare',
    param: { f_partial: '京都', f_number: '990', f_number_to: '995', f_any_of_choice: '新規' },
    uses: { index: 'f_number' },
  },
  {
    name: 'several-common',
    param: { f_partial: '京都', f_any_of: '会社', f_number: '0', f_prefix: '京' },
    limit: 20,
    uses: 'pairs',
  },
  {
    name: 'several-common-ranges',
    param: { f_partial: '京都', f_date: '2024-01-01', f_date_to: '2024-06-30', f_number: '200', f_number_to: '450' },
    limit: 20,
    uses: 'pairs',
  },
  {
    name: 'several-common-ordered',
    param: { f_number: '10', f_date: '2024-02-01' },
    limit: 20,
    uses: { index: 'f_date' },
  },
  {
    name: 'form-and-table',
    param: { f_partial: '京都', lines: { l_number: '20', l_number_to: '22' } },
    uses: { index: 'l_number' },
  },
  {
    name: 'form-and-common-table',
    param: { f_exact: '京都8東京', lines: { l_number: '0' } },
    uses: { index: 'f_exact' },
  },
  {
    name: 'table-several',
    param: { lines: { l_partial: '京都', l_date: '2024-05-01', l_date_to: '2024-05-10' } },
    uses: { index: 'l_date' },
  },
  {
    name: 'table-several-common',
    param: { lines: { l_partial: '京都', l_any_of_choice: '新規' } },
    limit: 20,
    uses: 'line pairs',
  },
];

/** The search of a row. */
export function searchOf(app: App, { param, tablecode, limit, after: from, revision }: Row): Search {
  const conditions = parseConditions(app, objectOf(param));
  if (!('sent' in conditions)) assert.fail(JSON.stringify(conditions));
  const table = app.tables.find(({ code }) => code === tablecode) ?? null;
  return { conditions, table, limit: limit ?? null, after: from ?? null, revision: revision ?? false };
}

/** What the update whose SQL is recorded writes. */
export const UPDATED = {
  f_partial: { value: '大阪 本社' },
  f_exact_fold: { value: 'ＡＢＣ' },
  f_number: { value: '1,000.50' },
};

export function updateOf(app: App): Change {
  return changeOf(app, objectOf({ g_primarykey: { value: 'K8' }, ...UPDATED }), 'merge');
}

function objectOf(param: object): JsonObject {
  const parsed = parseJson(JSON.stringify(param));
  assert.ok('value' in parsed);
  return parsed.value as JsonObject;
}
