// The webhooks of a register on SQLite, on a connection of their own, also while a server runs.
import { now } from '../clock.ts';
import { Mistake } from '../register.ts';
import {
  type DeliveryDescription,
  eventsOf,
  eventsText,
  RETRIED,
  type WebhookDescription,
  type Webhooks,
  type WebhookTarget,
  waitingWith,
} from '../webhooks.ts';
import { catalogChanged } from './catalog.ts';
import { connect, writing } from './connection.ts';
import { openSchema } from './schema.ts';

interface WebhookRow extends Omit<WebhookDescription, 'events'> {
  readonly events: string;
}

/** Opens the webhooks of the register in a data folder. */
export function openSqliteWebhooks(dataDir: string): Webhooks {
  const db = connect(dataDir);
  openSchema(db);
  const appIdOf = (code: string): number => {
    const id = db.prepare('select id from apps where code = ?').pluck().get(code) as number | undefined;
    if (id === undefined) throw new Mistake(`there is no app ${code}`);
    return id;
  };
  /** Writers learn of it from the catalog. */
  const change = <T>(work: () => T): T =>
    writing(db, () => {
      const result = work();
      catalogChanged(db);
      return result;
    });
  /** Has deliveries wait again, and brings forward what waits behind them; gives how many are asked for. */
  const retry = (asked: string, of: number): number => {
    const waitAgain = (where: string) =>
      db
        .prepare(`update deliveries set state = 'waiting', attempts = 0, due_at = @at where ${where}`)
        .run({ at: Date.now(), of }).changes;
    return writing(db, () => {
      waitAgain(waitingWith(asked));
      return waitAgain(asked);
    });
  };

  return {
    async add(appCode, { url, events, secret }) {
      const appId = appIdOf(appCode);
      const insert = db.prepare(
        'insert into webhooks (app_id, url, events, secret, created_at) values (?, ?, ?, ?, ?)',
      );
      return change(() => Number(insert.run(appId, url, eventsText(events), secret, now()).lastInsertRowid));
    },
    async list(appCode) {
      const counted = (state: string) =>
        `(select count(*) from deliveries d where d.webhook_id = w.id and state = '${state}')`;
      const rows = db
        .prepare(
          `select w.id, code as app, url, events, w.created_at as createdAt, ${counted('waiting')} as waiting,
           ${counted('failed')} as failed from webhooks w join apps a on a.id = app_id where app_id = ? order by w.id`,
        )
        .all(appIdOf(appCode)) as WebhookRow[];
      return rows.map((row) => ({ ...row, events: eventsOf(row.events) }));
    },
    async remove(id) {
      const changes = change(() => {
        db.prepare('delete from deliveries where webhook_id = ?').run(id);
        return db.prepare('delete from webhooks where id = ?').run(id).changes;
      });
      if (changes === 0) throw new Mistake(`there is no webhook ${id}`);
    },
    async target(id) {
      const text = `select w.id, code as app, url, secret from webhooks w join apps a on a.id = app_id where w.id = ?`;
      const target = db.prepare(text).get(id) as WebhookTarget | undefined;
      if (target === undefined) throw new Mistake(`there is no webhook ${id}`);
      return target;
    },
    async log(appCode, state, limit) {
      const of = state === null ? '' : `and state = '${state}'`;
      const text = `select id, webhook_id as webhook, event, record as primaryKey, revision, at, state, attempts, status, error,
        case when state = 'waiting' then due_at end as dueAt from deliveries where app_id = ? ${of} order by id desc limit ?`;
      return db.prepare(text).all(appIdOf(appCode), limit) as DeliveryDescription[];
    },
    async retry(delivery) {
      if (retry(RETRIED.one('@of'), delivery) === 0)
        throw new Mistake(`there is no delivery ${delivery} that is not delivered`);
    },
    async retryFailed(appCode) {
      return retry(RETRIED.allFailed('@of'), appIdOf(appCode));
    },
    async close() {
      db.close();
    },
  };
}
