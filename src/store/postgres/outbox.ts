// The outbox of a register on PostgreSQL, for the one process that holds its lease: an advisory lock that ends with the connection.
import { layoutOf } from '../../sql/layout.ts';
import { CATALOG_VERSION } from '../../sql/search.ts';
import { quote } from '../../sql/sql.ts';
import { type DeliveryBody, deliveryBody, firstRevision } from '../delivery-body.ts';
import type { RegisteredApp } from '../store.ts';
import type { KeptVersion } from '../versions.ts';
import type { Delivery, Outbox, WebhookEvent } from '../webhooks.ts';
import { readCatalog, type VersionedCatalog } from './catalog.ts';
import { arrayText, type Connection, guarded, openPool, rowsOf, run } from './connection.ts';
import { SCHEMA } from './postgres-engine.ts';
import { type RecordTable, recordTable } from './record-table.ts';
import { lockOf } from './schema.ts';
import { outboxChannel } from './tell.ts';

/** Rows that are removed in one transaction. */
const PRUNED_AT_ONCE = 1_000;

interface Readable {
  readonly table: RecordTable;
  readonly body: DeliveryBody;
}

type DueRow = [string, number, WebhookEvent, string, number, string, string, string, number];

/** Opens the outbox of the register in a database. */
export async function openPostgresOutbox(url: string, schema = SCHEMA): Promise<Outbox> {
  const place = { url, schema };
  const pool = openPool(place, { max: 4, timeout: 30_000 });
  const readable = new WeakMap<RegisteredApp, Readable>();
  let catalog: VersionedCatalog | null = null;
  let lease: Awaited<ReturnType<typeof pool.reserve>> | null = null;
  let isListening = false;

  const readableOf = (app: RegisteredApp): Readable => {
    let found = readable.get(app);
    if (found === undefined) {
      const layout = layoutOf(app.app, app.id, app.generation, app.distributed);
      found = { table: recordTable(layout), body: deliveryBody(layout) };
      readable.set(app, found);
    }
    return found;
  };
  /** Writes what need not be on the disk at once: an attempt whose end is lost is made again. */
  const write = <T>(work: (tx: Connection) => Promise<T>): Promise<T> =>
    guarded('written', () =>
      pool.begin(async (tx) => {
        await run(tx, 'set local synchronous_commit = off');
        return work(tx);
      }),
    );
  /** `stale` where the catalog is another than the one known. */
  const bodyBy = (known: VersionedCatalog, delivery: Delivery): Promise<string | null | 'stale'> =>
    pool.begin('isolation level repeatable read read only', async (tx) => {
      const [version] = await rowsOf<[string]>(tx, `select ${CATALOG_VERSION}`);
      if (version?.[0] !== known.version) return 'stale';
      const app = known.apps.values().find(({ id }) => id === delivery.appId);
      if (app === undefined) return null;
      const { table, body } = readableOf(app);
      const { seq } = delivery;
      const [stored] = await table.at(tx, [seq]);
      const rows = await Promise.all(table.layout.tables.map((_, index) => table.rows(tx, index, [seq])));
      const live = stored === undefined ? null : { ...stored, rows: rows.map((of) => of.get(seq) ?? []) };
      const versions = await versionsFrom(tx, table, seq, firstRevision(delivery));
      return body(delivery, live, versions, (id) => known.users.get(id)?.name ?? '');
    });

  return {
    async hold(wake) {
      const on = await pool.reserve();
      try {
        const key = [lockOf(schema), lockOf('webhooks')];
        const [row] = await rowsOf<[boolean]>(on, 'select pg_try_advisory_lock($1::int, $2::int)', key);
        if (row?.[0] !== true) {
          on.release();
          return false;
        }
      } catch (error) {
        on.release();
        throw error;
      }
      lease = on;
      if (!isListening) pool.listen(outboxChannel(schema), { onNotice: wake, onListening: wake });
      isListening = true;
      return true;
    },
    async isHeld() {
      try {
        if (lease === null) return false;
        await rowsOf(lease, 'select 1');
        return true;
      } catch {
        // The lock has ended with its connection; another process may have it.
        lease?.release();
        lease = null;
        return false;
      }
    },
    targets: () =>
      guarded('read', async () => {
        const text = 'select w.id, code, url, secret from webhooks w join apps a on a.id = app_id order by w.id';
        const rows = await rowsOf<[number, string, string, string]>(pool, text);
        return rows.map(([id, app, to, secret]) => ({ id, app, url: to, secret }));
      }),
    due: (webhook, limit) =>
      guarded('read', async () => {
        const rows = await rowsOf<DueRow>(
          pool,
          `select id, app_id, event, place, revision, record, user_id, at, attempts from deliveries d
           where webhook_id = $1::int and state = 'waiting' and due_at <= $2::bigint and not exists (
             select 1 from deliveries e
             where e.webhook_id = d.webhook_id and e.record = d.record and e.state = 'waiting' and e.id < d.id
           ) order by due_at, id limit $3::int`,
          [webhook, Date.now(), limit],
        );
        return rows.map(([id, appId, event, seq, revision, primaryKey, userId, at, attempts]) => ({
          ...{ id: Number(id), appId, event, seq: Number(seq), revision, primaryKey, userId, at, attempts },
        }));
      }),
    body: (delivery) =>
      guarded('read', async () => {
        for (;;) {
          catalog ??= await readCatalog(pool);
          const body = await bodyBy(catalog, delivery);
          if (body !== 'stale') return body;
          catalog = await readCatalog(pool, catalog);
        }
      }),
    async settle(attempts) {
      const list = (pick: (attempt: (typeof attempts)[number]) => string | number | null) =>
        arrayText(attempts.map(pick));
      const waiting = attempts.filter(({ state }) => state === 'waiting');
      await write(async (tx) => {
        await run(
          tx,
          `update deliveries d set state = v.state, attempts = v.attempts, status = v.status, error = v.error, due_at = v.due_at
           from unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::text[], $6::bigint[])
           v (id, state, attempts, status, error, due_at) where d.id = v.id`,
          [
            ...[list(({ delivery }) => delivery.id), list(({ state }) => state), list((each) => each.attempts)],
            ...[list(({ status }) => status), list(({ error }) => error), list(({ dueAt }) => dueAt)],
          ],
        );
        // What waits behind it need not be looked at before. The sum keeps the planner from the index of what is due.
        for (const { webhook, delivery, dueAt } of waiting) {
          await run(
            tx,
            `update deliveries set due_at = $1::bigint
             where webhook_id = $2::int and record = $3 and state = 'waiting' and due_at + 0 < $1::bigint`,
            [dueAt, webhook, delivery.primaryKey],
          );
        }
      });
    },
    async prune(deliveredBefore, failedBefore) {
      const remove = async (where: string, values: readonly number[] = []) => {
        const text = `delete from deliveries where id in (select id from deliveries where ${where} limit ${PRUNED_AT_ONCE}) returning 1`;
        for (let removed = PRUNED_AT_ONCE; removed === PRUNED_AT_ONCE; ) {
          removed = (await write((tx) => rowsOf(tx, text, values))).length;
        }
      };
      await remove(`state = 'delivered' and due_at < $1::bigint`, [deliveredBefore]);
      await remove(`state = 'failed' and due_at < $1::bigint`, [failedBefore]);
      await remove('webhook_id not in (select id from webhooks)');
    },
    async close() {
      // The lock ends with its connection, which must not go back to the pool with it.
      await pool.end({ timeout: 0 });
      lease = null;
    },
  };
}

async function versionsFrom(
  tx: Connection,
  { layout }: RecordTable,
  seq: number,
  from: number,
): Promise<readonly KeptVersion[]> {
  const text = `select revision, user_id, at, version from ${quote(layout.history)}
    where record = $1::bigint and revision >= $2::int order by revision`;
  const rows = await rowsOf<[number, string, string, string]>(tx, text, [seq, from]);
  return rows.map(([revision, userId, at, version]) => ({ seq, revision, userId, at, version }));
}
