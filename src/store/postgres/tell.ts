// Notes for the webhooks of an app what was written, in the transaction that writes it; whoever delivers hears of it when that commits.
import type { RegisteredApp } from '../store.ts';
import { type Told, wanting } from '../webhooks.ts';
import { arrayText, type Connection, run } from './connection.ts';

/** Channel of the notices; the schema's name keeps registers of one database apart. */
export function outboxChannel(schema: string): string {
  return `daicho_webhooks_${schema}`;
}

/** Tells those webhooks of the app that want it, in the order in which it was written. */
export async function tellAll(
  tx: Connection,
  schema: string,
  { id: appId, webhooks }: Pick<RegisteredApp, 'id' | 'webhooks'>,
  all: readonly Told[],
): Promise<void> {
  const rows = all.flatMap((told) => wanting(webhooks, told.event).map((webhook) => ({ webhook, ...told })));
  if (rows.length === 0) return;
  const list = (pick: (row: (typeof rows)[number]) => string | number) => arrayText(rows.map(pick));
  const insert = `insert into deliveries (webhook_id, app_id, event, place, revision, record, user_id, at, due_at)
    select webhook, $1::int, event, place, revision, record, user_id, at, $2::bigint
    from unnest($3::int[], $4::text[], $5::bigint[], $6::int[], $7::text[], $8::text[], $9::text[])
    with ordinality as v (webhook, event, place, revision, record, user_id, at, n) order by n`;
  await Promise.all([
    run(tx, insert, [
      ...[appId, Date.now(), list(({ webhook }) => webhook), list(({ event }) => event), list(({ seq }) => seq)],
      ...[list(({ revision }) => revision), list(({ primaryKey }) => primaryKey)],
      ...[list(({ userId }) => userId), list(({ at }) => at)],
    ]),
    run(tx, 'select pg_notify($1, $2)', [outboxChannel(schema), 'told']),
  ]);
}
