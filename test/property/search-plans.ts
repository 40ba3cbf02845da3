// Random definitions, records and conditions for the search property, from small alphabets so that conditions hit.
import fc from 'fast-check';
import type { Method } from './plain-filter.ts';

/** What texts are made of; each run takes a few of them. */
const ATOMS = [
  ...['京', '都', '東京', '未', '完了', '々', '﨑', '神'],
  ...['あ', 'ア', 'ｱ', 'が', 'ガ', 'ｶﾞ', 'か', 'ヷ', 'わ', 'ー', 'ヽ', 'ッ', '゙'],
  ...['a', 'A', 'Ａ', 'ａ', 'ab', 'Σ', 'ς', 'σ', 'ß', 'ẞ', 'İ', 'ı', 'ﬁ', 'é', 'e\u0301', '\u0301', '´'],
  ...['1', '１', '①', '㈱', '㍿', '-', '10', '0'],
  ...['%', '_', '*', "'", '"', '\\', '、', '，', '･', ' ', '　', '\t', '\r\n', '\n', '(', ')', ':', '^', '+'],
  ...['\u{1f600}', '\u{20bb7}', '\u{2f804}', '\u{10ffff}', '\u{10000}', '👨‍👩‍👧'],
  ...['\ue041', '\ue061', '\ue080', '\ue081', '\ue100', '\ue101', '\uf8ff', '\ud7ff', '\uffff', '\u007f', '\u0001'],
];

const TEXT_METHODS: readonly Method[] = ['partial', 'exact', 'prefix', 'suffix', 'any_of', 'hidden'];
const ORDER_METHODS: readonly Method[] = ['exact', 'range', 'range', 'hidden'];

const METHODS: { readonly [type: string]: readonly Method[] } = {
  id: TEXT_METHODS,
  text: TEXT_METHODS,
  text_area: TEXT_METHODS,
  concatenation: TEXT_METHODS,
  calculation: TEXT_METHODS,
  dropdown: TEXT_METHODS,
  checkbox: ['any_of', ...TEXT_METHODS],
  radio: TEXT_METHODS,
  list: ['any_of', ...TEXT_METHODS],
  date: ORDER_METHODS,
  datetime: ORDER_METHODS,
  time: ORDER_METHODS,
  number: ORDER_METHODS,
  auto_number: ['range', ...TEXT_METHODS],
  file: ['hidden'],
  image: ['hidden'],
  pms_i_usr: ['exact', 'any_of', 'hidden'],
  pms_u_usr: ['exact', 'any_of', 'hidden'],
  pms_i_ymd: ORDER_METHODS,
  pms_u_ymd: ORDER_METHODS,
};

/** Field IDs that mean something elsewhere, besides plain ones. */
const NAMES = [
  '__proto__',
  'constructor',
  'rowid',
  'select',
  'Name',
  'name',
  'NAME',
  't',
  '1',
  '-',
  `x${'y'.repeat(63)}`,
];

export interface FieldPlan {
  readonly id: string;
  readonly type: string;
  readonly search: Method;
  readonly fold: boolean;
  readonly list: 'shown' | 'hidden';
  readonly protected: boolean;
  readonly shownInForm: boolean;
}

export interface AppPlan {
  readonly fields: readonly FieldPlan[];
  readonly tables: readonly { readonly code: string; readonly fields: readonly FieldPlan[] }[];
  readonly system: readonly FieldPlan[];
}

function fieldPlan(id: string, types: readonly string[]): fc.Arbitrary<FieldPlan> {
  return fc.constantFrom(...types).chain((type) =>
    fc.record({
      id: fc.constant(id),
      type: fc.constant(type),
      search: fc.constantFrom(...(METHODS[type] ?? [])),
      fold: fc.boolean(),
      // The test learns what the server itself gives from the answers.
      list:
        type === 'id' || type === 'auto_number'
          ? fc.constant('shown' as const)
          : fc.constantFrom('shown', 'shown', 'hidden'),
      protected: fc.nat(7).map((n) => n === 0),
      shownInForm: fc.nat(5).map((n) => n > 0),
    }),
  );
}

function fieldPlans(names: readonly string[], types: readonly string[]): fc.Arbitrary<FieldPlan[]> {
  return fc.tuple(...names.map((name) => fieldPlan(name, types))) as fc.Arbitrary<FieldPlan[]>;
}

const SYSTEM = ['pms_i_usr', 'pms_i_ymd', 'pms_u_usr', 'pms_u_ymd'];
const TYPES = Object.keys(METHODS).filter((type) => type !== 'id' && !type.startsWith('pms_'));
const TABLE_TYPES = TYPES.filter((type) => type !== 'auto_number');

/** A definition: a form, up to two tables, the system fields. */
export const appPlan: fc.Arbitrary<AppPlan> = fc
  .tuple(
    fc.shuffledSubarray(NAMES, { maxLength: 3 }),
    fc.integer({ min: 1, max: 6 }),
    fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  )
  .chain(([special, plain, tables]) =>
    fc.record({
      fields: fc
        .tuple(
          fieldPlan('a_primarykey', ['id']),
          fieldPlans([...special, ...Array.from({ length: plain }, (_, index) => `f${index}`)], TYPES),
        )
        .map(([key, fields]) => [key, ...fields]),
      tables: fc.tuple(
        ...tables.map((count, table) =>
          fieldPlans(
            Array.from({ length: count }, (_, index) => `t${table}f${index}`),
            TABLE_TYPES,
          ).map((fields) => ({ code: `table${table}`, fields })),
        ),
      ) as fc.Arbitrary<AppPlan['tables']>,
      system: fc.tuple(...SYSTEM.map((id) => fieldPlan(id, [id]))),
    }),
  );

/** The definition as it is written. */
export function definitionOf(code: string, { fields, tables, system }: AppPlan): string {
  const written = ({ id, type, search, fold, list, protected: isProtected, shownInForm }: FieldPlan) => ({
    ...{ id, type, search, fold, list, shownInForm, protected: isProtected },
  });
  const settings = system.map(({ id, search }) => [id, { search }]);
  return JSON.stringify({
    ...{ code, fields: fields.map(written), system: Object.fromEntries(settings) },
    tables: tables.map((table) => ({ code: table.code, fields: table.fields.map(written) })),
  });
}

/** A few of the atoms. */
export const alphabet: fc.Arbitrary<string[]> = fc.shuffledSubarray(ATOMS, { minLength: 2, maxLength: 6 });

export function textOf(atoms: readonly string[], maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...atoms), { maxLength }).map((parts) => parts.join(''));
}

const NUMBERS = ['0', '-0', '0.0', '1', '1.0', '01', '-1', '-1.00', '9', '10', '100', '99.9', '0.1', '0.10', '-0.1'];
const LONG_NUMBERS = [
  ...['123456789012345678901234567890', '-123456789012345678901234567890', '123456789012345678901234567889'],
  ...['0.000000000000000000000000000001', '-0.000000000000000000000000000001', '9007199254740993', '9007199254740992'],
  ...['99999999999999999999999999999.9', '0.00000000000000000000000000000000000000001'],
];

const two = (least: number, greatest: number) =>
  fc.integer({ min: least, max: greatest }).map((n) => String(n).padStart(2, '0'));
const day = fc
  .tuple(fc.constantFrom('2023', '2024', '2024', '0001', '9999'), fc.constantFrom('01', '02', '12'), two(1, 28))
  .map((p) => p.join('-'));
const clock = fc
  .tuple(fc.constantFrom('00', '09', '23'), fc.constantFrom('00', '30', '59'), fc.constantFrom('00', '00', '59'))
  .map((p) => p.join(':'));
const decimal = fc
  .tuple(fc.constantFrom('', '-'), fc.nat(1200), fc.constantFrom('', '', '.0', '.5', '.50', '.05'))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction}`);

/** Values a field of the type can keep. */
export function valueFor(type: string, atoms: readonly string[]): fc.Arbitrary<string> {
  const empty = fc.constant('');
  const or = (...some: fc.Arbitrary<string>[]) => fc.oneof(...some, empty);
  switch (type) {
    case 'file':
    case 'image':
      return empty;
    case 'number':
      return or(decimal, fc.constantFrom(...NUMBERS), fc.constantFrom(...LONG_NUMBERS));
    case 'date':
      return or(day, day, day);
    case 'time':
      return or(clock, clock, clock);
    case 'datetime':
      return or(...[1, 2, 3].map(() => fc.tuple(day, clock).map((parts) => parts.join(' '))));
    case 'auto_number':
      return or(
        fc
          .tuple(
            fc.constantFrom('A-', 'B', '', ...atoms),
            fc.constantFrom('1', '2', '9', '09', '10', '007', '100'),
            textOf(atoms, 1),
          )
          .map((p) => p.join('')),
        textOf(atoms, 4),
      );
    case 'dropdown':
    case 'checkbox':
    case 'radio':
    case 'list':
      return or(
        fc.array(textOf(atoms, 2), { maxLength: 3 }).map((choices) => choices.join(',')),
        textOf([...atoms, ', '], 5),
      );
    default:
      return or(textOf(atoms, 8), textOf(atoms, 8), textOf([...atoms, ','], 3));
  }
}

export type ValuesPlan = readonly string[];

export interface RecordPlan {
  readonly values: ValuesPlan;
  /** Rows by table. */
  readonly rows: readonly (readonly ValuesPlan[])[];
}

/** A value for every field, and up to three rows in every table. */
export function recordPlan(app: AppPlan, atoms: readonly string[]): fc.Arbitrary<RecordPlan> {
  const values = (fields: readonly FieldPlan[]) =>
    fc.tuple(...fields.map(({ type }) => valueFor(type, atoms))) as fc.Arbitrary<ValuesPlan>;
  return fc.record({
    values: values(app.fields),
    rows: fc.tuple(...app.tables.map(({ fields }) => fc.array(values(fields), { maxLength: 3 }))) as fc.Arbitrary<
      readonly (readonly ValuesPlan[])[]
    >,
  });
}

/** Where a keyword is taken from: part of a value that some record has, changed a little, or a value of its own. */
export interface Pick {
  readonly record: number;
  readonly row: number;
  readonly start: number;
  readonly length: number;
  readonly change: number;
  readonly other: number;
}

const pick: fc.Arbitrary<Pick> = fc.record({
  ...{
    record: fc.nat(1000),
    row: fc.nat(3),
    start: fc.nat(20),
    length: fc.nat(20),
    change: fc.nat(9),
    other: fc.nat(30),
  },
});

export interface ConditionPlan {
  readonly field: number;
  readonly picks: readonly Pick[];
}

const conditionPlan: fc.Arbitrary<ConditionPlan> = fc.record({
  field: fc.nat(30),
  picks: fc.oneof(
    { weight: 9, arbitrary: fc.array(pick, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(pick, { minLength: 9, maxLength: 12 }) },
  ),
});

export interface SearchPlan {
  readonly conditions: readonly ConditionPlan[];
  readonly table: number;
  readonly limit: number;
  readonly after: number;
  readonly revision: boolean;
}

export const searchPlan: fc.Arbitrary<SearchPlan> = fc.record({
  conditions: fc.oneof(
    { weight: 6, arbitrary: fc.array(conditionPlan, { minLength: 1, maxLength: 1 }) },
    { weight: 4, arbitrary: fc.array(conditionPlan, { maxLength: 4 }) },
  ),
  table: fc.nat(5),
  limit: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 190, max: 600 })),
  after: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(1000)),
  revision: fc.boolean(),
});

export type StepPlan =
  | {
      readonly kind: 'update';
      readonly record: number;
      readonly sent: readonly boolean[];
      readonly merge: boolean;
      readonly plan: RecordPlan;
    }
  | {
      readonly kind: 'load';
      readonly record: number;
      readonly fresh: boolean;
      readonly sent: readonly boolean[];
      readonly plan: RecordPlan;
    }
  | { readonly kind: 'redefine'; readonly turn: number };

/** What happens to the records between searches. */
export function stepPlan(app: AppPlan, atoms: readonly string[]): fc.Arbitrary<StepPlan> {
  const shared = {
    record: fc.nat(1000),
    sent: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    plan: recordPlan(app, atoms),
  };
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('update' as const), merge: fc.boolean(), ...shared }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('load' as const), fresh: fc.boolean(), ...shared }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('redefine' as const), turn: fc.integer({ min: 1, max: 5 }) }),
    },
  );
}

/** The definition with every field searched by another method that its type can have. */
export function redefined(app: AppPlan, turn: number): AppPlan {
  const turned = (field: FieldPlan): FieldPlan => {
    const methods = METHODS[field.type] ?? [];
    const search = methods[(methods.indexOf(field.search) + turn) % methods.length] as Method;
    return { ...field, search, fold: turn % 2 === 0 ? field.fold : !field.fold };
  };
  return {
    fields: app.fields.map(turned),
    tables: app.tables.map((table) => ({ ...table, fields: table.fields.map(turned) })),
    system: app.system.map(turned),
  };
}
