// The webhooks of a register on PostgreSQL, over connections of their own.
import { now } from '../clock.ts';
import { Mistake } from '../register.ts';
import {
  type DeliveryDescription,
  type DeliveryState,
  eventsOf,
  eventsText,
  RETRIED,
  type WebhookEvent,
  type Webhooks,
  waitingWith,
} from '../webhooks.ts';
import { catalogChanged } from './catalog.ts';
import { type Connection, guarded, openPool, rowsOf, run } from './connection.ts';
import { SCHEMA } from './postgres-engine.ts';
import { openSchema } from './schema.ts';
import { outboxChannel } from './tell.ts';

type LogRow = [
  id: string,
  webhook: number,
  event: WebhookEvent,
  primaryKey: string,
  revision: number,
  at: string,
  state: DeliveryState,
  attempts: number,
  status: number | null,
  error: string | null,
  dueAt: string | null,
];

/** Opens the webhooks of the register in a database. */
export async function openPostgresWebhooks(url: string, schema = SCHEMA): Promise<Webhooks> {
  const place = { url, schema };
  const pool = openPool(place, { max: 2, timeout: 0 });
  await guarded('read', () => openSchema(pool, place)).catch(async (error: unknown) => {
    await pool.end({ timeout: 0 });
    throw error;
  });
  const appIdOf = async (code: string): Promise<number> => {
    const [row] = await rowsOf<[number]>(pool, 'select id from apps where code = $1', [code]);
    if (row === undefined) throw new Mistake(`there is no app ${code}`);
    return row[0];
  };
  /** Writers learn of it from the catalog. */
  const change = <T>(work: (tx: Connection) => Promise<T>): Promise<T> =>
    pool.begin(async (tx) => {
      await catalogChanged(tx, schema);
      return work(tx);
    });
  /** Has deliveries wait again, and brings forward what waits behind them; gives how many are asked for. */
  const retry = (asked: string, value: number): Promise<number> =>
    pool.begin(async (tx) => {
      const waitAgain = (where: string) =>
        rowsOf(
          tx,
          `update deliveries set state = 'waiting', attempts = 0, due_at = $1::bigint where ${where} returning 1`,
          [Date.now(), value],
        );
      await waitAgain(waitingWith(asked));
      const { length } = await waitAgain(asked);
      await run(tx, 'select pg_notify($1, $2)', [outboxChannel(schema), 'retry']);
      return length;
    });

  return {
    async add(appCode, { url: to, events, secret }) {
      const appId = await appIdOf(appCode);
      const text = `insert into webhooks (app_id, url, events, secret, created_at) values ($1::int, $2, $3, $4, $5) returning id`;
      const [row] = await change((tx) => rowsOf<[number]>(tx, text, [appId, to, eventsText(events), secret, now()]));
      return row?.[0] as number;
    },
    async list(appCode) {
      const counted = (state: string) =>
        `(select count(*)::int from deliveries d where d.webhook_id = w.id and state = '${state}')`;
      const rows = await rowsOf<[number, string, string, string, number, number]>(
        pool,
        `select id, url, events, created_at, ${counted('waiting')}, ${counted('failed')}
         from webhooks w where app_id = $1::int order by id`,
        [await appIdOf(appCode)],
      );
      return rows.map(([id, to, events, createdAt, waiting, failed]) => ({
        ...{ id, app: appCode, url: to, events: eventsOf(events), createdAt, waiting, failed },
      }));
    },
    async remove(id) {
      const gone = await change(async (tx) => {
        await run(tx, 'delete from deliveries where webhook_id = $1::bigint', [id]);
        return rowsOf(tx, 'delete from webhooks where id = $1::bigint returning 1', [id]);
      });
      if (gone.length === 0) throw new Mistake(`there is no webhook ${id}`);
    },
    async target(id) {
      const text = `select code, url, secret from webhooks w join apps a on a.id = app_id where w.id = $1::bigint`;
      const [row] = await rowsOf<[string, string, string]>(pool, text, [id]);
      if (row === undefined) throw new Mistake(`there is no webhook ${id}`);
      const [app, to, secret] = row;
      return { id, app, url: to, secret };
    },
    async log(appCode, state, limit) {
      const rows = await rowsOf<LogRow>(
        pool,
        `select id, webhook_id, event, record, revision, at, state, attempts, status, error,
         case when state = 'waiting' then due_at end from deliveries
         where app_id = $1::int ${state === null ? '' : `and state = '${state}'`} order by id desc limit $2::int`,
        [await appIdOf(appCode), limit],
      );
      return rows.map(
        ([id, webhook, event, primaryKey, revision, at, of, attempts, status, error, dueAt]): DeliveryDescription => ({
          ...{ id: Number(id), webhook, event, primaryKey, revision, at, state: of, attempts, status, error },
          dueAt: dueAt === null ? null : Number(dueAt),
        }),
      );
    },
    async retry(delivery) {
      const count = await retry(RETRIED.one('$2::bigint'), delivery);
      if (count === 0) throw new Mistake(`there is no delivery ${delivery} that is not delivered`);
    },
    retryFailed: async (appCode) => retry(RETRIED.allFailed('$2::int'), await appIdOf(appCode)),
    close: () => pool.end({ timeout: 5 }),
  };
}
