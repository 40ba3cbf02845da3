// What an update does to each kind of field: the table of spec 4.2, D24, D25.
import type { Field } from '../app/app.ts';
import { typeOf } from '../fields/field-types.ts';

/** What becomes of a field of the form: with its entry in `param`, and without it. */
export interface UpdateRule {
  readonly sent: 'write' | 'ignore' | 'identify';
  readonly absent: 'empty' | 'keep' | 'refuse';
}

const RULES = {
  'primary key': { sent: 'identify', absent: 'refuse' },
  'data-protected field': { sent: 'ignore', absent: 'keep' },
  'auto-numbering field': { sent: 'ignore', absent: 'keep' },
  'field shown in the form': { sent: 'write', absent: 'empty' },
  'field not shown in the form': { sent: 'write', absent: 'keep' },
} as const satisfies Record<string, UpdateRule>;

/** The rule of a field of the form. */
export function updateRule(field: Field, primaryKey: Field): UpdateRule {
  if (field === primaryKey) return RULES['primary key'];
  if (field.protected) return RULES['data-protected field'];
  if (typeOf(field).filledBy === 'server') return RULES['auto-numbering field'];
  return field.shownInForm ? RULES['field shown in the form'] : RULES['field not shown in the form'];
}
