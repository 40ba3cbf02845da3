// What an update makes of a stored record (spec 4.2, D24, D29): its new values, or why it stays as it is.
import { SYSTEM_FIELDS } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import type { Layout } from '../sql/layout.ts';
import type { Change } from '../update/change.ts';
import type { StoredRecord } from './derive.ts';
import type { Updated } from './store.ts';

/** An update on its way to the database. */
export interface UpdateJob {
  readonly appCode: string;
  /** Version of the definition that the change was parsed against. */
  readonly version: number;
  readonly change: Change;
  readonly userId: string;
}

/** What became of a job, or the fault that hit it. */
export type JobResult = Updated | { readonly kind: 'fault'; readonly error: unknown };

/** Applies the changes of one app: pure, made once for a layout. */
export function changer(layout: Layout): (stored: StoredRecord, job: UpdateJob, at: string) => Values | Updated {
  const positions = new Map(layout.form.columns.map(({ field }, position) => [field.id, position]));
  const [, , updatingUser, updateTime] = SYSTEM_FIELDS;
  return (stored, { change, userId }, at) => {
    const revision = String(stored.revision);
    if (change.revision !== null && change.revision !== revision) return { kind: 'revision_conflict', revision };
    const values = [...stored.values];
    for (const [id, value] of change.values) values[positions.get(id) as number] = value;
    values[positions.get(updatingUser) as number] = userId;
    values[positions.get(updateTime) as number] = at;
    return values;
  };
}
