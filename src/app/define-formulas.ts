// The formulas of a definition: every one that cannot be read, that names what the app does not have, or that refers to itself.
import { typeOf } from '../fields/field-types.ts';
import { compileFormula, type FieldUse, type Formula } from '../formulas/formula.ts';
import { evaluationOrder } from '../formulas/order.ts';
import type { DefinedField } from './define-field.ts';
import type { DefinedTable } from './definition-clashes.ts';
import { report, show } from './definition-section.ts';
import { nearest } from './nearest.ts';

/** A field and where it is: in a table, or undefined in the form. */
interface Place {
  readonly defined: DefinedField;
  readonly table: DefinedTable | undefined;
}

/** Most IDs that are guessed at: each is compared with every ID of the app. */
const MAX_GUESSES = 20;

/** Reports every problem with the formulas of the form and of the tables. */
export function reportFormulas(fields: readonly DefinedField[], tables: readonly DefinedTable[]): void {
  const inForm = fields.map((defined): Place => ({ defined, table: undefined }));
  const inTables = tables.flatMap((table) => table.fields.map((defined): Place => ({ defined, table })));
  const all = [...inForm, ...inTables];
  const places = new Map<string, Place>();
  for (const place of all) if (place.defined.id !== undefined) places.set(place.defined.id, place);
  const formulas = new Map<string, Formula>();
  let guesses = 0;
  for (const place of all) {
    const { section, id, field } = place.defined;
    if (field === undefined || field.formula.trim() === '') continue;
    const formula = compileFormula(field.formula);
    if ('problem' in formula) {
      report(section, 'formula', `${formula.problem} (at character ${formula.position})`);
      continue;
    }
    if (id !== undefined) formulas.set(id, formula);
    for (const use of formula.uses) {
      const named = places.get(use.id);
      const problem = named === undefined ? `there is no field ${show(use.id)}` : useProblem(use, place, named);
      if (problem === undefined) continue;
      const guess = named === undefined && guesses++ < MAX_GUESSES ? didYouMean(use.id, [...places.keys()]) : '';
      report(section, 'formula', `${problem}${guess} (at character ${use.position})`);
    }
  }
  reportCircles(formulas, places);
}

/** What is wrong with a formula at a place that names a field at another. */
function useProblem({ id, overRows }: FieldUse, { table }: Place, named: Place): string | undefined {
  const { field } = named.defined;
  if (field !== undefined && typeOf(field).holds !== undefined)
    return `${id} is of type ${field.type}, which no formula takes`;
  if (named.table === undefined || named.table === table) return undefined;
  const where = `${id} is a field of the table ${named.table.code ?? ''}`;
  if (table !== undefined) return `${where}; expected fields of the same table and of the form`;
  return overRows ? undefined : `${where}; expected it inside sum, avg, count, min or max`;
}

/** An ID with a hyphen is a difference where it has no brackets. */
function didYouMean(id: string, ids: readonly string[]): string {
  // Every ID of one letter is near every other.
  const guess = ids.find((other) => other.startsWith(`${id}-`)) ?? (id.length > 2 ? nearest(id, ids) : undefined);
  if (guess === undefined) return '';
  return `; did you mean ${guess.includes('-') ? `[${guess}]` : guess}?`;
}

function reportCircles(formulas: ReadonlyMap<string, Formula>, places: ReadonlyMap<string, Place>): void {
  const named = new Map([...formulas].map(([id, { fields }]) => [id, fields]));
  for (const circle of evaluationOrder(named).circles) {
    const [first = ''] = circle;
    const section = places.get(first)?.defined.section;
    if (section !== undefined) report(section, 'formula', `refers to itself: ${shown([...circle, first])}`);
  }
}

/** A long circle is cut in its middle. */
function shown(circle: readonly string[]): string {
  const path = circle.length <= 8 ? circle : [...circle.slice(0, 4), '…', ...circle.slice(-3)];
  return path.join(' → ');
}
