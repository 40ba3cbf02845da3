// In which order calculated fields are evaluated: each after those that it names.

export interface EvaluationOrder {
  /** Those that can be evaluated; where two do not depend on one another, in the order they were given. */
  readonly order: readonly string[];
  /** Fields of which each names the next, and the last the first. */
  readonly circles: readonly (readonly string[])[];
}

/** For each calculated field, the fields that its formula names; those that are not calculated are passed over. */
export function evaluationOrder(named: ReadonlyMap<string, readonly string[]>): EvaluationOrder {
  const waits = new Map<string, number>();
  const namedBy = new Map<string, string[]>();
  for (const [id, fields] of named) {
    const calculated = fields.filter((field) => named.has(field));
    waits.set(id, calculated.length);
    for (const field of calculated) {
      const others = namedBy.get(field);
      if (others === undefined) namedBy.set(field, [id]);
      else others.push(id);
    }
  }
  const order = [...named.keys()].filter((id) => waits.get(id) === 0);
  for (const id of order) {
    for (const waiting of namedBy.get(id) ?? []) {
      const left = (waits.get(waiting) ?? 0) - 1;
      waits.set(waiting, left);
      if (left === 0) order.push(waiting);
    }
  }
  const done = new Set(order);
  return { order, circles: circlesAmong(named, done) };
}

/** Whoever was not evaluated names another such field, so that following the names comes to a circle. */
function circlesAmong(named: ReadonlyMap<string, readonly string[]>, done: Set<string>): string[][] {
  const circles: string[][] = [];
  const seen = new Set(done);
  for (const start of named.keys()) {
    const path: string[] = [];
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      path.push(id);
      id = named.get(id)?.find((field) => named.has(field) && !done.has(field));
    }
    const begin = id === undefined ? -1 : path.indexOf(id);
    if (begin >= 0) circles.push(path.slice(begin));
  }
  return circles;
}
