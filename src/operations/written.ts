// What an edit wrote, or the Refusal of what stood against it.
import type { App } from '../app/app.ts';
import { Refusal, refuse } from '../errors.ts';
import type { CalculationFault } from '../formulas/evaluate-all.ts';
import { messageOf } from '../messages/messages.ts';
import type { Written } from '../store/store.ts';
import type { Lang } from '../wire.ts';
import { shown } from './request.ts';

/** What an answer says of fields that could not be calculated. */
export function faultNotes(faults: readonly CalculationFault[] = [], lang: Lang): readonly string[] {
  return faults.map(({ field, row, message }) => {
    const at = row === null ? field : `${field}[${row}]`;
    const reason = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
    return messageOf({ code: 'not_calculated', at, limit: reason }, lang);
  });
}

/** The entries after an edit; '' where the record was deleted. */
export function writtenOrRefused(
  written: Exclude<Written, { kind: 'stale' }>,
  { primaryKey: { id } }: App,
  primaryKey: string,
  revision: string | null,
): { readonly entries: string; readonly revision?: number; readonly faults?: readonly CalculationFault[] } {
  switch (written.kind) {
    case 'unknown_record':
      throw refuse('unknown_record', { at: id, sent: shown(primaryKey) });
    case 'revision_conflict':
      throw refuse('revision_conflict', { at: 'pms_revision', sent: shown(revision ?? ''), limit: written.revision });
    case 'refused':
      throw new Refusal(written.problems);
    case 'deleted':
      return { entries: '' };
    case 'updated':
      return written;
  }
}
