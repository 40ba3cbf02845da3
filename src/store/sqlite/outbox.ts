// The outbox of a register on SQLite, for the one process that delivers: a lock on a file beside the database says which.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { layoutOf } from '../../sql/layout.ts';
import { type DeliveryBody, deliveryBody, firstRevision } from '../delivery-body.ts';
import type { RegisteredApp } from '../store.ts';
import type { Delivery, Outbox, WebhookTarget } from '../webhooks.ts';
import { catalogReader } from './catalog.ts';
import { type Connection, connect, pauseWriting, writing } from './connection.ts';
import { type RecordTable, recordTable, wholeRecord } from './record-table.ts';

/** Milliseconds between two looks at whether anybody has committed anything. */
const LOOK_EVERY = 100;
/** Rows that are removed in one transaction. */
const PRUNED_AT_ONCE = 1_000;

interface Readable {
  readonly table: RecordTable;
  readonly body: DeliveryBody;
}

/** Opens the outbox of the register in a data folder. */
export function openSqliteOutbox(dataDir: string): Outbox {
  const db = connect(dataDir);
  // An attempt whose end is lost with the power is made again; so it need not be on the disk at once.
  db.pragma('synchronous = NORMAL');
  const watching = connect(dataDir, { readonly: true, cacheMiB: 1 });
  const dataVersion = watching.prepare('pragma data_version').pluck();
  const catalog = catalogReader(db);
  const readable = new WeakMap<RegisteredApp, Readable>();
  let lock: Connection | null = null;
  let timer: NodeJS.Timeout | undefined;

  const readableOf = (app: RegisteredApp): Readable => {
    let found = readable.get(app);
    if (found === undefined) {
      const layout = layoutOf(app.app, app.id, app.generation);
      found = { table: recordTable(db, layout), body: deliveryBody(layout) };
      readable.set(app, found);
    }
    return found;
  };
  const targets = db.prepare(
    'select w.id, code as app, url, secret from webhooks w join apps a on a.id = app_id order by w.id',
  );
  const due = db.prepare(
    `select id, app_id as appId, event, place as seq, revision, record as primaryKey, user_id as userId, at, attempts
     from deliveries d where webhook_id = ? and state = 'waiting' and due_at <= ? and not exists (
       select 1 from deliveries e
       where e.webhook_id = d.webhook_id and e.record = d.record and e.state = 'waiting' and e.id < d.id
     ) order by due_at, id limit ?`,
  );
  const settle = db.prepare(
    'update deliveries set state = ?, attempts = ?, status = ?, error = ?, due_at = ? where id = ?',
  );
  // What waits behind it need not be looked at before. The sum keeps the planner from the index of what is due.
  const defer = db.prepare(
    `update deliveries set due_at = ? where webhook_id = ? and record = ? and state = 'waiting' and due_at + 0 < ?`,
  );

  return {
    async hold(wake) {
      lock ??= lockOf(dataDir);
      if (lock === null) return false;
      let seen = dataVersion.get();
      timer = setInterval(() => {
        const version = dataVersion.get();
        if (version === seen) return;
        seen = version;
        wake();
      }, LOOK_EVERY);
      return true;
    },
    isHeld: async () => lock !== null,
    targets: async () => targets.all() as WebhookTarget[],
    due: async (webhook, limit) => due.all(webhook, Date.now(), limit) as Delivery[],
    body: async (delivery) =>
      db.transaction(() => {
        const current = catalog.current();
        const app = current.apps.values().find(({ id }) => id === delivery.appId);
        if (app === undefined) return null;
        const { table, body } = readableOf(app);
        const live = wholeRecord(table, table.at(delivery.seq));
        const versions = table.versions(delivery.seq, firstRevision(delivery));
        return body(delivery, live, versions, (id) => current.users.get(id)?.name ?? '');
      })(),
    async settle(attempts) {
      writing(db, () => {
        for (const { delivery, webhook, state, attempts: count, status, error, dueAt } of attempts) {
          settle.run(state, count, status, error, dueAt, delivery.id);
          if (state === 'waiting') defer.run(dueAt, webhook, delivery.primaryKey, dueAt);
        }
      });
    },
    async prune(deliveredBefore, failedBefore) {
      const remove = (where: string, ...values: readonly number[]) => {
        const text = `delete from deliveries where id in (select id from deliveries where ${where} limit ${PRUNED_AT_ONCE})`;
        for (let removed = PRUNED_AT_ONCE; removed === PRUNED_AT_ONCE; pauseWriting()) {
          writing(db, () => {
            removed = db.prepare(text).run(...values).changes;
          });
        }
      };
      // The first condition is that of the index.
      remove(`state <> 'waiting' and state = 'delivered' and due_at < ?`, deliveredBefore);
      remove(`state <> 'waiting' and state = 'failed' and due_at < ?`, failedBefore);
      remove('webhook_id not in (select id from webhooks)');
    },
    async close() {
      clearInterval(timer);
      watching.close();
      db.close();
      lock?.close();
    },
  };
}

/** Locks the file until the process ends, however it does; null where another has it locked. */
function lockOf(dataDir: string): Connection | null {
  const lock = new Database(join(dataDir, 'webhooks.lock'), { timeout: 0 });
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return null;
    throw error;
  }
}
