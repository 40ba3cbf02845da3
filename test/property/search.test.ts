// A search through the real store finds exactly, in order, what a plain filter over the values finds.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type JsonObject, parseJson } from '../../src/json.ts';
import { readDefinition } from '../../src/operations/read-definition.ts';
import type { Search } from '../../src/search/condition.ts';
import { parseConditions } from '../../src/search/parse.ts';
import type { LoadRecord, Register } from '../../src/store/register.ts';
import { openSqliteRegister } from '../../src/store/sqlite/sqlite-register.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { RegisteredApp, Store } from '../../src/store/store.ts';
import { changeOf } from '../harness/change.ts';
import { conditionsOf, objectOf, type Param, type PlainGroup, textOf } from './keywords.ts';
import { meets } from './plain-filter.ts';
import {
  type AppPlan,
  alphabet,
  appPlan,
  type ConditionPlan,
  definitionOf,
  type FieldPlan,
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

const RUNS = Number(process.env.PROPERTY_RUNS ?? 30);
const APP = 'APP';
const USERS = ['u1', 'U1', 'u2'];

/** A record as the test knows it; values in the order of the form's fields, then of the system fields. */
interface Known {
  revision: number;
  values: string[];
  rows: (readonly (readonly string[])[])[];
}

/** Runs that are done but for tables that are dropped a second after nobody reads them any more. */
const closing: Promise<void>[] = [];

after(() => Promise.all(closing));

const scenario = fc.tuple(appPlan, alphabet).chain(([app, atoms]) =>
  fc.record({
    app: fc.constant(app),
    atoms: fc.constant(atoms),
    records: fc.array(recordPlan(app, atoms), { minLength: 1, maxLength: 14 }),
    // Enough records, sometimes, for several pages and for every way a search can start.
    copies: fc.oneof(
      { weight: 5, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.integer({ min: 30, max: 90 }) },
    ),
    others: fc.array(valueFor('text', atoms), { minLength: 4, maxLength: 4 }),
    rounds: fc.array(
      fc.record({
        steps: fc.array(stepPlan(app, atoms), { maxLength: 3 }),
        searches: fc.array(searchPlan, { minLength: 12, maxLength: 12 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    paged: fc.tuple(searchPlan, fc.integer({ min: 1, max: 40 })),
  }),
);

test('a search finds exactly what a plain filter over the values finds, whatever was updated before', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ app: plan, records, copies, others, rounds, paged }) => {
      const model = new Model(plan, others);
      try {
        await model.define(plan);
        await model.putIn(
          Array.from({ length: records.length * copies }, (_, i) => records[i % records.length] as RecordPlan),
        );
        for (const { steps, searches } of rounds) {
          for (const step of steps) await model.take(step);
          await model.learn();
          for (const search of searches) await model.compare(search);
        }
        await model.comparePaged(...paged);
        await model.check();
      } finally {
        closing.push(model.close());
      }
    }),
    // A smaller counterexample would take minutes to find.
    { numRuns: RUNS, endOnFailure: true },
  );
});

/** An app in the register, and beside it what its records should be. */
class Model {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'daicho-property-'));
  readonly #register: Register = openSqliteRegister({ dataDir: this.#dataDir });
  readonly #store: Store = openSqliteStore({ dataDir: this.#dataDir, cacheMiB: 4 });
  readonly #others: readonly string[];
  readonly #finishing: Promise<unknown>[] = [];
  #plan: AppPlan;
  #records: Known[] = [];
  #loads = 0;

  constructor(plan: AppPlan, others: readonly string[]) {
    this.#plan = plan;
    this.#others = others;
  }

  async close(): Promise<void> {
    await Promise.all(this.#finishing);
    await this.#store.close();
    await this.#register.close();
    rmSync(this.#dataDir, { recursive: true });
  }

  async check(): Promise<void> {
    assert.deepEqual(await this.#register.check([APP], () => {}), []);
  }

  get #registered(): RegisteredApp {
    return this.#store.catalog().apps.get(APP) as RegisteredApp;
  }

  get #fields(): readonly FieldPlan[] {
    return [...this.#plan.fields, ...this.#plan.system];
  }

  async define(plan: AppPlan): Promise<void> {
    if (!this.#register.catalog().users.has('u1')) {
      for (const id of USERS) await this.#register.addUser({ id, name: `名前 ${id}`, lang: 'ja' });
    }
    const source = definitionOf(APP, plan);
    const read = readDefinition('app.json', source);
    if ('problems' in read) assert.fail(read.problems.join('\n'));
    const applied = this.#register.apply(read.app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
    await this.#visible(applied, (current) => JSON.stringify(current.app) === JSON.stringify(read.app));
    this.#plan = plan;
  }

  /** Waits until what was begun is visible; what it does after that is awaited at the end. */
  async #visible(begun: Promise<unknown>, isVisible: (current: RegisteredApp) => boolean): Promise<void> {
    let failure: unknown;
    this.#finishing.push(begun.catch((error: unknown) => (failure = error)));
    for (;;) {
      if (failure !== undefined) throw failure;
      const current = this.#store.catalog().apps.get(APP);
      if (current !== undefined && isVisible(current)) return;
      await new Promise(setImmediate);
    }
  }

  async putIn(plans: readonly RecordPlan[]): Promise<void> {
    const before = this.#store.catalog().apps.get(APP)?.generation ?? 0;
    const fresh = this.#records.length === 0;
    const loader = await this.#register.load(APP, USERS[this.#loads % 3] as string, `load ${++this.#loads}`);
    await loader.put(
      plans.map((plan, index) => this.#insert(plan, index)),
      plans.length,
    );
    await this.#visible(
      loader.finish(() => {}),
      ({ generation }) => !fresh || generation > before,
    );
  }

  #insert(plan: RecordPlan, index: number): LoadRecord {
    const user = USERS[(this.#loads - 1) % 3] as string;
    const given = index % 3 !== 0;
    // Keys with letters, so that the server's own numbers never meet them.
    const key = given ? `${plan.values[0]}k${this.#records.length}` : '?';
    const values = [
      key,
      ...this.#plan.fields.slice(1).map(({ type }, at) => plan.values[at + 1] || (type === 'auto_number' ? '?' : '')),
    ];
    this.#records.push({ revision: 1, values: [...values, user, '?', user, '?'], rows: [...plan.rows] });
    return {
      ...{ line: index + 1, primaryKey: given ? key : null },
      values: this.#map(
        values.map((value) => (value === '?' ? '' : value)),
        () => true,
      ),
      tables: new Map(this.#plan.tables.map(({ code }, table) => [code, plan.rows[table] ?? []])),
    };
  }

  #map(values: readonly string[], chosen: (index: number) => boolean): Map<string, string> {
    const ids = this.#plan.fields.map(({ id }, index) => [id, values[index] ?? ''] as const);
    return new Map(ids.filter((_, index) => index > 0 && chosen(index)));
  }

  async take(step: StepPlan): Promise<void> {
    if (step.kind === 'redefine') return this.define(redefined(this.#plan, step.turn));
    await this.learn();
    const record = this.#records[step.record % this.#records.length] as Known;
    const sent = (index: number) => step.sent[index % step.sent.length] === true;
    if (step.kind === 'update') await this.#update(record, step.plan, sent, step.merge);
    else if (step.fresh) await this.putIn([step.plan]);
    else await this.#upsert(record, step.plan, sent);
  }

  async #update(record: Known, plan: RecordPlan, sent: (index: number) => boolean, merge: boolean): Promise<void> {
    const entries = this.#map(plan.values, sent);
    const key = this.#plan.fields[0]?.id as string;
    const param = objectOf([
      [key, { value: record.values[0] }],
      ...[...entries].map(([id, value]) => [id, { value }] as const),
    ]);
    const change = changeOf(this.#registered.app, param, merge ? 'merge' : 'replace');
    const updated = await this.#store.update(this.#registered, change, 'u2');
    assert.equal(updated.kind, 'updated');
    for (const [index, field] of this.#plan.fields.entries()) {
      if (index === 0 || field.protected || field.type === 'auto_number') continue;
      if (entries.has(field.id)) record.values[index] = entries.get(field.id) ?? '';
      else if (!merge && field.shownInForm) record.values[index] = '';
    }
    this.#touched(record, 'u2');
  }

  async #upsert(record: Known, plan: RecordPlan, sent: (index: number) => boolean): Promise<void> {
    const user = USERS[this.#loads % 3] as string;
    const loader = await this.#register.load(APP, user, `load ${++this.#loads}`);
    // An auto number is not emptied.
    const numbered = (index: number) => this.#plan.fields[index]?.type === 'auto_number' && plan.values[index] === '';
    const values = this.#map(plan.values, (index) => sent(index) && !numbered(index));
    const tables = new Map(this.#plan.tables.map(({ code }, table) => [code, plan.rows[table] ?? []]));
    for (const [index, { code }] of this.#plan.tables.entries()) {
      if (sent(index + 5)) record.rows[index] = plan.rows[index] ?? [];
      else tables.delete(code);
    }
    for (const [index, { id }] of this.#plan.fields.entries())
      record.values[index] = values.get(id) ?? record.values[index] ?? '';
    await loader.put([{ line: 1, primaryKey: record.values[0] as string, values, tables }], 1);
    await loader.finish(() => {});
    this.#touched(record, user);
  }

  #touched(record: Known, user: string): void {
    record.revision++;
    record.values[this.#plan.fields.length + 2] = user;
    record.values[this.#plan.fields.length + 3] = '?';
  }

  /** Reads every record, compares it with what is known, and learns what only the server knows (`?`): keys, numbers, times. */
  async learn(): Promise<void> {
    const found = await this.#search({ param: new Map(), table: null, limit: null, after: null, revision: true });
    assert.equal(found.records.length, this.#records.length);
    for (const [index, record] of this.#records.entries()) {
      const answer = found.records[index] as Answer;
      assert.equal(entryOf(answer, 'pms_revision'), String(record.revision));
      for (const [position, field] of this.#fields.entries()) {
        if (record.values[position] !== '?') continue;
        const value = entryOf(answer, field.id) as string;
        assert.match(value, field.id.startsWith('pms_') ? /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/ : /^\d+$/);
        record.values[position] = value;
      }
      assert.deepEqual(shownOf(answer), this.#shown(record, null, true));
    }
  }

  async compare(plan: SearchPlan): Promise<void> {
    const { param, matches } = this.#conditions(plan.conditions);
    const table = this.#plan.tables[plan.table]?.code ?? null;
    const position = plan.after === 0 ? -1 : plan.after % this.#records.length;
    const limit = plan.limit === 0 ? null : plan.limit;
    const expected = this.#records.filter((record, index) => index > position && matches(record));
    const page = expected.slice(0, limit ?? undefined);
    const from = position < 0 ? null : (this.#records[position]?.values[0] ?? null);
    const found = await this.#search({ param, table, limit, after: from, revision: plan.revision });
    const context = () => `param ${textOf(param)} of ${definitionOf(APP, this.#plan)}`;
    assert.deepEqual(
      found.records.map(keyOf(this.#plan)),
      page.map(({ values }) => values[0]),
      context(),
    );
    for (const [index, record] of page.entries()) {
      assert.deepEqual(shownOf(found.records[index] as Answer), this.#shown(record, table, plan.revision), context());
    }
    const last = page.at(-1)?.values[0] ?? null;
    assert.equal(found.next, limit !== null && expected.length > page.length ? last : null, context());
  }

  async comparePaged(plan: SearchPlan, limit: number): Promise<void> {
    const { param, matches } = this.#conditions(plan.conditions);
    const size = this.#records.length > 100 ? limit * 8 : limit;
    const keys: unknown[] = [];
    let from: string | null = null;
    do {
      const found = await this.#search({ param, table: null, limit: size, after: from, revision: false });
      keys.push(...found.records.map(keyOf(this.#plan)));
      from = found.next;
    } while (from !== null);
    assert.deepEqual(
      keys,
      this.#records.filter(matches).map(({ values }) => values[0]),
      textOf(param),
    );
  }

  async #search({ param, ...rest }: Asked): Promise<{ records: Answer[]; next: string | null }> {
    const registered = this.#registered;
    const parsed = parseJson(textOf(param));
    assert.ok('value' in parsed);
    const conditions = parseConditions(registered.app, parsed.value as JsonObject);
    if (!('sent' in conditions)) assert.fail(`${JSON.stringify(conditions)} ${textOf(param)}`);
    const table = registered.app.tables.find(({ code }) => code === rest.table) ?? null;
    const search: Search = { ...rest, conditions, table };
    const found = await this.#store.search(registered, search, 0, '');
    if (found.kind === 'none') return { records: [], next: null };
    if (found.kind === 'page') return { records: read([found.records]), next: found.next };
    if (found.kind !== 'stream') assert.fail(found.kind);
    const pages: Uint8Array[] = [];
    for await (const page of found.pages) pages.push(page);
    return { records: read(pages), next: found.next() };
  }

  /** `param` for the conditions, and the filter it stands for. */
  #conditions(plans: readonly ConditionPlan[]): { param: Param; matches: (record: Known) => boolean } {
    const { param, form, tables } = conditionsOf(this.#plan, plans, this.#others, (pick, position, table) =>
      this.#value(pick, position, table),
    );
    const all = (group: PlainGroup, values: readonly string[]) =>
      group.every(({ condition, position }) => meets(values[position] ?? '', condition));
    const none = ({ condition: { field, keyword, upper } }: PlainGroup[number]) =>
      field.search === 'any_of'
        ? keyword.split(',').every((word) => word.trim() === '')
        : keyword === '' && upper === '';
    return {
      param,
      matches: ({ values, rows }) =>
        all(form, values) &&
        tables.every((group, table) => group.every(none) || (rows[table] ?? []).some((row) => all(group, row))),
    };
  }

  #value({ record, row }: Pick, position: number, table: number): string {
    const { values, rows } = this.#records[record % this.#records.length] as Known;
    if (table < 0) return values[position] ?? '';
    const some = rows[table] ?? [];
    return some[row % Math.max(1, some.length)]?.[position] ?? '';
  }

  #shown({ values, rows, revision }: Known, table: string | null, withRevision: boolean): Map<string, unknown> {
    const shown = new Map<string, unknown>();
    for (const [position, field] of this.#fields.entries()) {
      if (field.list !== 'shown' && !field.id.startsWith('pms_')) continue;
      const value = values[position] as string;
      shown.set(field.id, /^pms_[iu]_usr$/.test(field.id) ? { id: value, name: `名前 ${value}` } : value);
    }
    const index = this.#plan.tables.findIndex(({ code }) => code === table);
    if (index >= 0) {
      const fields = this.#plan.tables[index]?.fields ?? [];
      const rowOf = (row: readonly string[]) =>
        fields.flatMap(({ id, list }, position) => (list === 'shown' ? [[id, row[position]]] : []));
      shown.set(table as string, (rows[index] ?? []).map(rowOf));
    }
    if (withRevision) shown.set('pms_revision', String(revision));
    return shown;
  }
}

interface Asked {
  readonly param: Param;
  readonly table: string | null;
  readonly limit: number | null;
  readonly after: string | null;
  readonly revision: boolean;
}

/** Field ID → entry; table code → rows. */
type Answer = ReadonlyMap<string, Entry | readonly { readonly [id: string]: Entry }[]>;

interface Entry {
  readonly value: unknown;
}

function entryOf(answer: Answer, id: string): unknown {
  return (answer.get(id) as Entry | undefined)?.value;
}

function read(pages: readonly Uint8Array[]): Answer[] {
  const records = JSON.parse(`[${Buffer.concat(pages).toString()}]`) as object[];
  return records.map((record) => new Map(Object.entries(record)) as Answer);
}

function keyOf(plan: AppPlan): (answer: Answer) => unknown {
  return (answer) => entryOf(answer, plan.fields[0]?.id as string);
}

/** Entry by entry its value, row by row the values of its entries. */
function shownOf(answer: Answer): Map<string, unknown> {
  const shown = new Map<string, unknown>();
  for (const [id, entry] of answer) {
    if ('value' in entry) shown.set(id, entry.value);
    else
      shown.set(
        id,
        entry.map((row) => Object.entries(row).map(([field, { value }]) => [field, value])),
      );
  }
  return shown;
}
