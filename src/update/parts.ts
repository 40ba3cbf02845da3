// Which field each part with a file is for: `<field_id>`, or in a table `<field_id>_<row_number>` (spec 4.2, D27).
import type { App, Field } from '../app/app.ts';
import type { Problem } from '../errors.ts';
import { typeOf } from '../fields/field-types.ts';
import { updateRule } from './rules.ts';

/** What a part is for. */
export interface PartTarget {
  readonly part: string;
  readonly field: Field;
  /** The row of a table; null for a field of the form. */
  readonly row: { readonly tableCode: string; readonly number: number } | null;
}

const ROW_PART = /^(.+)_([1-9]\d{0,8})$/s;

/** The targets of parts, by their names; a part for no file field is a problem, one for a protected field is ignored. */
export function parseParts(app: App, parts: readonly string[], problems: Problem[]): readonly PartTarget[] {
  return parts.flatMap((part): PartTarget[] => {
    const target = targetOf(app, part);
    if (target === null) {
      problems.push({ code: 'file_part_refused', at: part.slice(0, 100).toWellFormed() });
      return [];
    }
    return updateRule(target.field, app.primaryKey).sent === 'ignore' ? [] : [target];
  });
}

function targetOf(app: App, part: string): PartTarget | null {
  const field = app.fields.find(({ id }) => id === part);
  if (field !== undefined) return typeOf(field).holds === undefined ? null : { part, field, row: null };
  const [, id, number] = ROW_PART.exec(part) ?? [];
  for (const { code, fields } of app.tables) {
    const inTable = fields.find((candidate) => candidate.id === id);
    if (inTable === undefined || typeOf(inTable).holds === undefined) continue;
    return { part, field: inTable, row: { tableCode: code, number: Number(number) } };
  }
  return null;
}
