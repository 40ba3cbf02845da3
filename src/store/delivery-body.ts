// The body of a delivery: what happened to a record, and the record before and after, whole, from its history. Pure.
import { wholeRenderer } from '../envelope/record.ts';
import type { Layout } from '../sql/layout.ts';
import { type KeptVersion, recordAt, type WholeRecord } from './versions.ts';
import type { Delivery } from './webhooks.ts';

/** JSON; null where the history does not have the record. `versions`: those from the revision before that of the delivery on. */
export type DeliveryBody = (
  delivery: Delivery,
  live: WholeRecord | null,
  versions: readonly KeptVersion[],
  userName: (id: string) => string,
) => string | null;

/** Renders the deliveries of an app. */
export function deliveryBody(layout: Layout): DeliveryBody {
  const render = wholeRenderer(layout.app);
  return ({ id, event, revision, primaryKey, userId, at }, live, versions, userName) => {
    const entriesAt = (of: number): string | null => {
      const record = recordAt(layout, live, versions, of);
      return record === null ? null : `{${render(record, { userName })}}`;
    };
    const before = event === 'insert' ? undefined : entriesAt(firstRevision({ event, revision }));
    const after = event === 'delete' ? undefined : entriesAt(revision);
    if (before === null || after === null) return null;
    const facts = JSON.stringify({
      ...{ event, app: layout.app.code, delivery: id, at, user: { id: userId, name: userName(userId) } },
      ...{ revision: String(revision), primaryKey },
    });
    const records = [
      ...(before === undefined ? [] : [`,"before":${before}`]),
      ...(after === undefined ? [] : [`,"after":${after}`]),
    ];
    return `${facts.slice(0, -1)}${records.join('')}}`;
  };
}

/** The first revision that a delivery shows. */
export function firstRevision({ event, revision }: Pick<Delivery, 'event' | 'revision'>): number {
  return event === 'update' ? revision - 1 : revision;
}
