// Notes for the webhooks of an app what was written, in the transaction that writes it.
import type { RegisteredApp } from '../store.ts';
import { type Told, wanting } from '../webhooks.ts';
import type { Connection } from './connection.ts';

export type Tell = (told: Told) => void;

/** null for an app that has no webhook. */
export function tellerOf(db: Connection, { id: appId, webhooks }: RegisteredApp): Tell | null {
  if (webhooks.length === 0) return null;
  const insert = db.prepare(
    `insert into deliveries (webhook_id, app_id, event, place, revision, record, user_id, at, due_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ event, seq, revision, primaryKey, userId, at }) => {
    for (const webhook of wanting(webhooks, event)) {
      insert.run(webhook, appId, event, seq, revision, primaryKey, userId, at, Date.now());
    }
  };
}
