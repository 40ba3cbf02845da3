// A formula: its text, compiled once, evaluated for the values of every record.
import type { Field } from '../app/app.ts';
import { add, divide, multiply, negate, power, type Rational, remainder, subtract } from './rational.ts';
import { type FieldNode, type Node, type Operator, parseFormula } from './syntax.ts';
import { Unreadable } from './tokens.ts';
import { Unanswerable } from './unanswerable.ts';
import { asCondition, asNumber, asText, bounded, fieldValue, isEqual, order, type Value } from './value.ts';

/** A place of a formula that names a field. */
export type FieldUse = Pick<FieldNode, 'id' | 'position' | 'overRows'>;

export interface Formula {
  /** IDs of the fields that it names, each once. */
  readonly fields: readonly string[];
  /** Every place that names a field, in their order. */
  readonly uses: readonly FieldUse[];
  /** The result as a field keeps it: a plain decimal, a text, `true` or `false`; '' for none. */
  evaluate(scope: Scope): string | FormulaFault;
}

/** Why there is no result; the text does not name the field of the formula. */
export interface FormulaFault {
  readonly fault: string;
}

/** Why a text is no formula, and the character at which that shows, from 1. */
export interface FormulaProblem {
  readonly problem: string;
  readonly position: number;
}

/** What a formula is evaluated for. */
export interface Scope {
  /** A field that the formula names. */
  field(id: string): ScopeField;
}

export interface ScopeField {
  readonly field: Field;
  /** As the field keeps it; of a table's field named by a formula of the form, its values over the rows. */
  readonly value: string | readonly string[];
}

/** Most values of rows that one evaluation looks at. */
const MAX_ROW_VALUES = 100_000;

/** Never throws, whatever the text is. */
export function compileFormula(text: string): Formula | FormulaProblem {
  let tree: Node;
  try {
    tree = parseFormula(text);
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message, position: error.position };
    throw error;
  }
  const uses: FieldUse[] = [];
  const run = compile(tree, uses);
  return {
    fields: [...new Set(uses.map(({ id }) => id))],
    uses,
    evaluate(scope) {
      try {
        return bounded(asText(run({ scope, rowValues: 0 })));
      } catch (error) {
        if (error instanceof Unanswerable) return { fault: error.message };
        throw error;
      }
    },
  };
}

/** One evaluation. */
interface Evaluation {
  readonly scope: Scope;
  /** Values of rows that it looked at. */
  rowValues: number;
}

type Run = (evaluation: Evaluation) => Value;

/** Notes the fields it meets in `uses`. */
function compile(node: Node, uses: FieldUse[]): Run {
  if (node.kind === 'value') return () => node.value;
  if (node.kind === 'field') {
    uses.push(node);
    return ({ scope }) => single(scope.field(node.id));
  }
  if (node.kind === 'call') return compileCall(node.called.call, node.values, uses);
  if (node.kind === 'operation') {
    return OPERATIONS[node.operator](compile(node.left, uses), compile(node.right, uses));
  }
  if (node.kind === 'if') {
    const condition = compile(node.condition, uses);
    const [then, otherwise] = [compile(node.then, uses), compile(node.otherwise, uses)];
    return (evaluation) => (asCondition(condition(evaluation)) ? then : otherwise)(evaluation);
  }
  const of = compile(node.of, uses);
  if (node.kind === 'not') return (evaluation) => !asCondition(of(evaluation));
  return (evaluation) => {
    const number = asNumber(of(evaluation));
    return number === '' ? '' : negate(number);
  };
}

function single({ field, value }: ScopeField): Value {
  if (typeof value === 'string') return fieldValue(value, field);
  throw new Unanswerable(`${field.id} has a value in every row; a function such as sum takes those`);
}

function compileCall(call: (values: readonly Value[]) => Value, nodes: readonly Node[], uses: FieldUse[]): Run {
  const runs = nodes.map((node): ((evaluation: Evaluation, into: Value[]) => void) => {
    if (node.kind === 'field' && node.overRows) {
      uses.push(node);
      return (evaluation, into) => takeAll(evaluation, node.id, into);
    }
    const run = compile(node, uses);
    return (evaluation, into) => into.push(run(evaluation));
  });
  return (evaluation) => {
    const values: Value[] = [];
    for (const run of runs) run(evaluation, values);
    return call(values);
  };
}

function takeAll(evaluation: Evaluation, id: string, into: Value[]): void {
  const { field, value } = evaluation.scope.field(id);
  const values = typeof value === 'string' ? [value] : value;
  evaluation.rowValues += values.length;
  if (evaluation.rowValues > MAX_ROW_VALUES) throw new Unanswerable(`more than ${MAX_ROW_VALUES} values of rows`);
  for (const one of values) into.push(fieldValue(one, field));
}

const OPERATIONS: Readonly<Record<Operator, (left: Run, right: Run) => Run>> = {
  '+': arithmetic(add),
  '-': arithmetic(subtract),
  '*': arithmetic(multiply),
  '/': arithmetic(divide),
  '%': arithmetic(remainder),
  '^': arithmetic(power),
  '&': (left, right) => (evaluation) => bounded(asText(left(evaluation)) + asText(right(evaluation))),
  '=': (left, right) => (evaluation) => isEqual(left(evaluation), right(evaluation)),
  '<>': (left, right) => (evaluation) => !isEqual(left(evaluation), right(evaluation)),
  '<': comparison((difference) => difference < 0),
  '<=': comparison((difference) => difference <= 0),
  '>': comparison((difference) => difference > 0),
  '>=': comparison((difference) => difference >= 0),
  and: (left, right) => (evaluation) => asCondition(left(evaluation)) && asCondition(right(evaluation)),
  or: (left, right) => (evaluation) => asCondition(left(evaluation)) || asCondition(right(evaluation)),
};

/** Empty where one side is. */
function arithmetic(calculate: (a: Rational, b: Rational) => Rational): (left: Run, right: Run) => Run {
  return (left, right) => (evaluation) => {
    const [a, b] = [asNumber(left(evaluation)), asNumber(right(evaluation))];
    return a === '' || b === '' ? '' : calculate(a, b);
  };
}

/** Does not hold where one side is empty. */
function comparison(holds: (difference: number) => boolean): (left: Run, right: Run) => Run {
  return (left, right) => (evaluation) => {
    const difference = order(left(evaluation), right(evaluation));
    return difference !== undefined && holds(difference);
  };
}
