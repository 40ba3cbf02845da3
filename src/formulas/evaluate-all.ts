// Every calculated field of a record: those of the form and those of its rows, in the order in which they need one another.
import type { App, Field } from '../app/app.ts';
import { typeOf } from '../fields/field-types.ts';
import { compileFormula, type Formula, type Scope, type ScopeField } from './formula.ts';
import { evaluationOrder } from './order.ts';

/** Values of the form's fields in their order, or of a row's in theirs; what stands behind them stays as it is. */
type Values = readonly string[];

/** A field that could not be calculated; it is empty. */
export interface CalculationFault {
  /** Field ID. */
  readonly field: string;
  /** Row of a table's field, from 1; null for a field of the form. */
  readonly row: number | null;
  /** Says the field and the reason. */
  readonly message: string;
}

export interface Calculated {
  readonly values: Values;
  /** By table of the app; the very rows that were given where no value of theirs changed. */
  readonly rows: readonly (readonly Values[])[];
  readonly faults: readonly CalculationFault[];
}

/**
 * A record with every calculated field evaluated. `rows` has, by table of the app, all of its rows, also where a change
 * leaves them as they are. Throws where the app's formulas are not as a definition that was read has them.
 */
export function evaluateAll(app: App, values: Values, rows: readonly (readonly Values[])[]): Calculated {
  let plan = plans.get(app);
  if (plan === undefined) {
    plan = planOf(app);
    plans.set(app, plan);
  }
  if (plan.steps.length === 0) return { values, rows, faults: [] };
  const record: Working = { values: [...values], rows: [...rows] };
  const faults: CalculationFault[] = [];
  for (const step of plan.steps) evaluateStep(step, plan, record, faults);
  return { ...record, faults };
}

/** The record while its fields are evaluated; a row is replaced where a value of it changes. */
interface Working {
  readonly values: string[];
  readonly rows: (readonly Values[])[];
}

/** Where a field's value stands; `table` is its position among the tables, null in the form. */
interface Place {
  readonly field: Field;
  readonly table: number | null;
  readonly position: number;
}

interface Step extends Place {
  readonly formula: Formula;
}

interface Plan {
  readonly places: ReadonlyMap<string, Place>;
  readonly steps: readonly Step[];
}

/** An app is one object as long as its definition stands. */
const plans = new WeakMap<App, Plan>();

function planOf(app: App): Plan {
  const places = new Map<string, Place>();
  const note = (fields: readonly Field[], table: number | null): void => {
    for (const [position, field] of fields.entries()) places.set(field.id, { field, table, position });
  };
  note(app.fields, null);
  for (const [index, { fields }] of app.tables.entries()) note(fields, index);
  const formulas = new Map<string, Formula>();
  for (const { field } of places.values()) {
    if (field.formula !== '') formulas.set(field.id, soundFormula(field));
  }
  const { order, circles } = evaluationOrder(new Map([...formulas].map(([id, { fields }]) => [id, fields])));
  if (circles.length > 0) throw new Error(`formulas of app ${app.code} refer to themselves: ${circles.join('; ')}`);
  const steps = order.map((id) => ({ ...(places.get(id) as Place), formula: formulas.get(id) as Formula }));
  return { places, steps };
}

function soundFormula({ id, formula: text }: Field): Formula {
  const formula = compileFormula(text);
  if ('problem' in formula) throw new Error(`the formula of field ${id} cannot be read: ${formula.problem}`);
  return formula;
}

function evaluateStep(step: Step, { places }: Plan, record: Working, faults: CalculationFault[]): void {
  const { table, position } = step;
  if (table === null) {
    record.values[position] = result(step, scopeOf(places, record, null), null, faults);
    return;
  }
  const before = record.rows[table] ?? [];
  const after = before.map((row, index) => {
    const value = result(step, scopeOf(places, record, { table, row }), index + 1, faults);
    return row[position] === value ? row : row.with(position, value);
  });
  if (after.some((row, index) => row !== before[index])) record.rows[table] = after;
}

/** In a row, the table's fields are those of the row. */
function scopeOf(
  places: ReadonlyMap<string, Place>,
  record: Working,
  within: { readonly table: number; readonly row: Values } | null,
): Scope {
  return {
    field(id): ScopeField {
      const place = places.get(id);
      if (place === undefined) throw new Error(`a formula names the field ${id}, which the app does not have`);
      const { field, table, position } = place;
      if (table === null) return { field, value: record.values[position] ?? '' };
      if (within?.table === table) return { field, value: within.row[position] ?? '' };
      return { field, value: (record.rows[table] ?? []).map((row) => row[position] ?? '') };
    },
  };
}

function result({ field, formula }: Step, scope: Scope, row: number | null, faults: CalculationFault[]): string {
  const evaluated = formula.evaluate(scope);
  const value = evaluated === '' || typeof evaluated !== 'string' ? evaluated : typeOf(field).parse(evaluated, field);
  if (typeof value === 'string') return value;
  const where = row === null ? field.id : `${field.id} in row ${row}`;
  faults.push({ field: field.id, row, message: `${where}: ${'fault' in value ? value.fault : tooLong(value.limit)}` });
  return '';
}

/** A calculated field takes every text but one that is too long. */
function tooLong(limit: number | undefined): string {
  return limit === undefined ? 'the result cannot be kept' : `the result is longer than ${limit} characters`;
}
