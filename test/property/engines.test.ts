// SQLite and PostgreSQL answer every search and every update with the same bytes.
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import type { LoadRecord } from '../../src/store/register.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';
import { type Both, openBoth, USERS } from './both-engines.ts';
import { conditionsOf, textOf } from './keywords.ts';
import {
  type AppPlan,
  alphabet,
  appPlan,
  definitionOf,
  type Pick,
  type RecordPlan,
  recordPlan,
  redefined,
  type SearchPlan,
  type StepPlan,
  searchPlan,
  stepPlan,
  valueFor,
} from './search-plans.ts';

const RUNS = Number(process.env.PROPERTY_RUNS ?? 12);
/** Run at the same time: most of a run is the second in which nobody may read old tables any more. */
const LANES = 4;

/** Lengths around the bounds of an index entry of PostgreSQL. */
const LENGTHS = [499, 500, 501, 502, 700, 1_000, 2_704, 3_100, 9_000];
const LONG_TYPES = /^(?:id|text|text_area|concatenation|calculation|dropdown|checkbox|radio|list|auto_number)$/;

/** A text that is put before or behind a value; those of one seed are alike but for their ends. */
interface Stretch {
  readonly record: number;
  readonly field: number;
  readonly length: number;
  readonly seed: number;
  readonly before: boolean;
}

const stretch: fc.Arbitrary<Stretch> = fc.record({
  record: fc.nat(13),
  field: fc.nat(12),
  length: fc.constantFrom(...LENGTHS),
  seed: fc.nat(1),
  before: fc.boolean(),
});

/** How a request is bent: an unknown key, a revision, a character that cannot be kept, a cap. */
const bend = fc.record({
  unknown: fc.nat(14).map((n) => n === 0),
  nul: fc.nat(14).map((n) => n === 0),
  revision: fc.nat(9),
  cap: fc.constantFrom(0, 0, 0, 1, 5, 50, 300),
  user: fc.nat(2),
});
type Bend = typeof bend extends fc.Arbitrary<infer T> ? T : never;

const scenario = fc.tuple(appPlan, alphabet).chain(([app, atoms]) =>
  fc.record({
    app: fc.constant(app),
    records: fc.array(recordPlan(app, atoms), { minLength: 1, maxLength: 14 }),
    copies: fc.oneof(
      { weight: 4, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.integer({ min: 30, max: 90 }) },
    ),
    stretches: fc.array(stretch, { maxLength: 8 }),
    others: fc.array(valueFor('text', atoms), { minLength: 4, maxLength: 4 }),
    rounds: fc.array(
      fc.record({
        steps: fc.array(fc.tuple(stepPlan(app, atoms), bend), { maxLength: 4 }),
        searches: fc.array(fc.tuple(searchPlan, bend), { minLength: 14, maxLength: 14 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    paged: fc.tuple(searchPlan, fc.integer({ min: 1, max: 40 })),
  }),
);

describe('SQLite and PostgreSQL answer the same', { concurrency: true }, () => {
  let database: Promise<FreshDatabase> | undefined;
  after(async () => (await database)?.drop());

  for (let lane = 1; lane <= LANES; lane++) {
    test(`whatever is asked: ${lane} of ${LANES}`, async () => {
      database ??= freshDatabase();
      const engines = await openBoth(await database, `lane_${lane}`);
      let runs = 0;
      try {
        await fc.assert(
          fc.asyncProperty(scenario, async ({ app, records, copies, stretches, others, rounds, paged }) => {
            const code = `APP${++runs}`;
            const model = new Model(code, engines(code), app, others);
            await model.define(app);
            // The copies are as they were: many long ones would take minutes.
            const further = Array.from({ length: copies - 1 }, () => records).flat();
            await model.putIn([...stretched(app, records, stretches), ...further]);
            for (const { steps, searches } of rounds) {
              for (const step of steps) await model.take(...step);
              await model.learn();
              for (const search of searches) await model.compare(...search);
            }
            await model.comparePaged(...paged);
            await model.both.check();
          }),
          // A smaller counterexample would take minutes to find.
          { numRuns: Math.ceil(RUNS / LANES), endOnFailure: true },
        );
      } finally {
        await engines('').close();
      }
    });
  }
});

/** What the test knows of the records: roughly their values, for keywords that hit; the engines say what they really are. */
class Model {
  readonly both: Both;
  readonly #code: string;
  readonly #others: readonly string[];
  #plan: AppPlan;
  #keys: string[] = [];
  #revisions: string[] = [];
  #records: RecordPlan[] = [];
  #loads = 0;

  constructor(code: string, both: Both, plan: AppPlan, others: readonly string[]) {
    this.#code = code;
    this.both = both;
    this.#plan = plan;
    this.#others = others;
  }

  async define(plan: AppPlan): Promise<void> {
    await this.both.define(definitionOf(this.#code, plan));
    this.#plan = plan;
  }

  async putIn(plans: readonly RecordPlan[]): Promise<void> {
    const records = plans.map((plan, index): LoadRecord => {
      // Keys with letters, so that the server's own numbers never meet them.
      const key = index % 3 === 0 ? null : `${plan.values[0]}k${this.#records.length}`;
      this.#records.push(plan);
      return this.#loaded(plan, index + 1, key, () => true);
    });
    await this.both.load(USERS[this.#loads++ % 3] as string, records);
  }

  #loaded(plan: RecordPlan, line: number, key: string | null, sent: (index: number) => boolean): LoadRecord {
    const values = new Map<string, string>();
    if (key !== null) values.set(this.#plan.fields[0]?.id as string, key);
    for (const [index, { id, type }] of this.#plan.fields.entries()) {
      const value = plan.values[index] ?? '';
      if (index > 0 && sent(index) && !(type === 'auto_number' && value === '')) values.set(id, value);
    }
    const tables = this.#plan.tables.flatMap(({ code }, table) =>
      sent(table + 5) ? [[code, plan.rows[table] ?? []] as const] : [],
    );
    return { line, primaryKey: key, values, tables: new Map(tables) };
  }

  async take(step: StepPlan, bent: Bend): Promise<void> {
    if (step.kind === 'redefine') return this.define(redefined(this.#plan, step.turn));
    if (step.kind === 'load' && step.fresh) return this.putIn([step.plan]);
    await this.learn();
    const at = step.record % this.#records.length;
    const sent = (index: number) => step.sent[index % step.sent.length] === true;
    if (step.kind === 'load') {
      const record = this.#loaded(step.plan, 1, this.#keys[at] as string, sent);
      await this.both.load(USERS[this.#loads++ % 3] as string, [record]);
    } else await this.#update(at, step, sent, bent);
    this.#records[at] = step.plan;
  }

  async #update(
    at: number,
    { plan, merge }: StepPlan & { kind: 'update' },
    sent: (index: number) => boolean,
    { unknown, nul, revision, user }: Bend,
  ): Promise<void> {
    const [key, ...fields] = this.#plan.fields;
    const param = new Map<string, Map<string, string>>([
      [key?.id as string, new Map([['value', unknown ? 'nobody' : (this.#keys[at] as string)]])],
    ]);
    for (const [index, { id }] of fields.entries()) {
      const value = `${plan.values[index + 1]}${nul && index === 0 ? '\0' : ''}`;
      if (sent(index + 1)) param.set(id, new Map([['value', value]]));
    }
    // The one of the record, an earlier one, a later one, or none.
    const named = Number(this.#revisions[at]) + revision - 2;
    if (revision < 4) param.set('pms_revision', new Map([['value', String(named)]]));
    const mode: Record<string, string> = merge ? { mode: 'merge' } : {};
    await this.both.update({ param: textOf(param), execuserid: USERS[user] as string, ...mode });
  }

  /** Learns what only the engines know: keys, numbers, revisions. */
  async learn(): Promise<void> {
    const answer = await this.both.search({ revision: '1' });
    const records = recordsOf(answer);
    this.#keys = records.map((record) => valueIn(record, this.#plan.fields[0]?.id as string));
    this.#revisions = records.map((record) => valueIn(record, 'pms_revision'));
    for (const [index, record] of records.entries()) {
      const known = this.#records[index] as RecordPlan;
      const values = this.#plan.fields.map(({ id, type }, position) =>
        type === 'id' || type === 'auto_number' ? valueIn(record, id) : (known.values[position] ?? ''),
      );
      this.#records[index] = { ...known, values };
    }
  }

  #param(plan: SearchPlan, nul: boolean): string {
    const { param } = conditionsOf(this.#plan, plan.conditions, this.#others, (pick, position, table) =>
      this.#value(pick, position, table),
    );
    const [first] = param;
    if (nul && typeof first?.[1] === 'string') param.set(first[0], `${first[1]}\0`);
    return textOf(param);
  }

  #value({ record, row }: Pick, position: number, table: number): string {
    const { values, rows } = this.#records[record % this.#records.length] as RecordPlan;
    if (table >= 0) {
      const some = rows[table] ?? [];
      return some[row % Math.max(1, some.length)]?.[position] ?? '';
    }
    // A user, or a moment, for which the engines have no common one.
    const system = position - this.#plan.fields.length;
    return system < 0 ? (values[position] ?? '') : system % 2 === 0 ? (USERS[record % 3] as string) : '';
  }

  async compare(plan: SearchPlan, { unknown, nul, cap, user }: Bend): Promise<void> {
    const tablecode = this.#plan.tables[plan.table]?.code ?? '';
    const limit = plan.limit === 0 ? '' : String(plan.limit);
    const at = plan.after === 0 ? '' : (this.#keys[plan.after % this.#keys.length] as string);
    const from = unknown && plan.after > 0 ? 'nobody' : at;
    const param = this.#param(plan, nul);
    const execuserid = USERS[user] as string;
    await this.both.search(
      { param, tablecode, limit, after: from, revision: plan.revision ? '1' : '0', execuserid },
      cap,
    );
  }

  async comparePaged(plan: SearchPlan, limit: number): Promise<void> {
    const param = this.#param(plan, false);
    const size = String(this.#records.length > 100 ? limit * 8 : limit);
    for (let from = ''; ; ) {
      const answer = await this.both.search({ param, limit: size, after: from });
      const { next } = JSON.parse(Buffer.from(answer, 'latin1').toString()) as { next?: string | null };
      if (next === undefined || next === null) return;
      from = next;
    }
  }
}

type Entries = Readonly<Record<string, { readonly value: string }>>;

function recordsOf(answer: string): readonly Entries[] {
  const envelope = JSON.parse(Buffer.from(answer, 'latin1').toString()) as Readonly<Record<string, unknown>>;
  return (Object.values(envelope).find(Array.isArray) ?? []) as Entries[];
}

function valueIn(record: Entries, id: string): string {
  return Object.entries(record).find(([name]) => name === id)?.[1].value ?? '';
}

/** Some values made long. */
function stretched(app: AppPlan, records: readonly RecordPlan[], stretches: readonly Stretch[]): RecordPlan[] {
  const plans = records.map(({ values, rows }) => ({ values: [...values], rows }));
  for (const { record, field, length, seed, before } of stretches) {
    const values = plans[record % plans.length]?.values as string[];
    const position = field % app.fields.length;
    if (!LONG_TYPES.test(app.fields[position]?.type ?? '')) continue;
    const value = values[position] ?? '';
    values[position] = before ? filler(seed, length) + value : value + filler(seed, length);
  }
  return plans;
}

/** Characters that no compression makes shorter. */
function filler(seed: number, length: number): string {
  let state = seed + 1;
  return Array.from({ length }, () => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    const n = (state >>> 8) % 60_000;
    return String.fromCodePoint(n < 40_000 ? 0x4e00 + (n % 20_000) : 0x20000 + n - 40_000);
  }).join('');
}
