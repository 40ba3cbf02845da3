// The parameters of a form as they are gathered from a body: none twice, not more than anyone sends (D4).
import { type Problem, refuse } from '../errors.ts';
import { shown } from '../operations/request.ts';

/** Most parameters a request may have. */
export const MAX_PARAMETERS = 1_000;

/** Adds a parameter to a form; one that is there already is a problem, once for each name. */
export function addParameter(form: Map<string, string>, name: string, value: string, problems: Problem[]): void {
  if (form.has(name)) addRepeated(name, problems);
  else if (form.size >= MAX_PARAMETERS) throw refuse('malformed_body', { limit: MAX_PARAMETERS });
  else form.set(name, value);
}

/** The problem of a name sent twice, unless that name has one already. */
export function addRepeated(name: string, problems: Problem[]): void {
  if (!problems.some(({ at }) => at === shown(name))) problems.push({ code: 'repeated_parameter', at: shown(name) });
}
