// Delivers what waits in the outbox: in the order of each record, a few at a time to each webhook, again where it fails.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, Delivery, Outbox, WebhookTarget } from '../store/webhooks.ts';
import { sendWebhook } from './webhook-request.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds from an attempt to the next; then every 6 hours for three days. */
const DELAYS = [1 * SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, ...Array(12).fill(6 * HOUR)];
/** Deliveries to one webhook at a time. */
const AT_ONCE = 4;
/** Milliseconds between two looks where nothing wakes it. */
const LOOK_EVERY = 2_000;
const PRUNE_EVERY = HOUR;
/** Milliseconds that deliveries stay in the log after their end. */
export const KEPT = { delivered: 7 * DAY, failed: 30 * DAY };
/** Milliseconds that deliveries under way have when the server stops. */
const END_WITHIN = 500;

export interface Delivering {
  /** Looks for something to deliver. */
  wake(): void;
  /** Begins nothing more; what is not answered within a moment is sent again by whoever delivers next. */
  end(): Promise<void>;
}

export interface DeliveryOptions {
  readonly allowPrivate: boolean;
  /** Told what could not be done; it is tried again. */
  readonly onError: (error: unknown) => void;
}

/** Milliseconds until the next attempt; null where that was the last one. */
export function delayAfter(attempts: number): number | null {
  return DELAYS[attempts - 1] ?? null;
}

/** Delivers until it is ended; the outbox is held by then. */
export function startDelivery(outbox: Outbox, { allowPrivate, onError }: DeliveryOptions): Delivering {
  /** Webhook → deliveries under way. */
  const underway = new Map<number, Set<number>>();
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  let isEnding = false;
  let looking: Promise<void> | null = null;
  let isWoken = false;
  let prunedAt = 0;
  let settling: Promise<void> | null = null;
  let ended: Attempt[] = [];

  const underwayOf = (webhook: number): Set<number> => {
    const ids = underway.get(webhook) ?? new Set();
    underway.set(webhook, ids);
    return ids;
  };

  /** Notes how attempts ended, again where that fails: nothing that is answered is sent twice for it. Those that end meanwhile go together. */
  const settle = (attempt: Attempt): Promise<void> => {
    ended.push(attempt);
    const gathered = settling?.catch(() => {}) ?? Promise.resolve();
    settling = gathered.then(async () => {
      while (ended.length > 0) {
        const some = ended;
        ended = [];
        try {
          await outbox.settle(some);
        } catch (error) {
          if (isEnding) throw error;
          onError(error);
          ended = [...some, ...ended];
          await sleep(LOOK_EVERY, null, { signal: ending.signal }).catch(() => {});
        }
      }
    });
    return settling;
  };

  /** The body, or why it cannot be made: an attempt that failed, so that others have their turn. */
  const bodyOf = async (delivery: Delivery): Promise<{ body: string | null; error: string | null }> => {
    try {
      return { body: await outbox.body(delivery), error: null };
    } catch (error) {
      onError(error);
      return { body: null, error: 'the notice could not be made; the log of the server says why' };
    }
  };

  const deliver = async (delivery: Delivery, { id: webhook, url, secret }: WebhookTarget): Promise<void> => {
    const { id, event } = delivery;
    const attempts = delivery.attempts + 1;
    const over = { delivery, webhook, attempts, dueAt: Date.now() };
    const { signal } = ending;
    const { body, error: unmade } = await bodyOf(delivery);
    if (body === null && unmade === null) {
      const error = 'the history of the record does not have it';
      return settle({ ...over, state: 'failed', status: null, error });
    }
    const { status, error } =
      body === null
        ? { status: null, error: unmade }
        : await sendWebhook({ url, secret, event, delivery: id, body, allowPrivate, signal });
    // Given up at the end of the server: no attempt.
    if (signal.aborted && status === null) return;
    if (error === null) return settle({ ...over, state: 'delivered', status, error, dueAt: Date.now() });
    const delay = delayAfter(attempts);
    const dueAt = Date.now() + (delay ?? 0);
    await settle({ ...over, state: delay === null ? 'failed' : 'waiting', status, error, dueAt });
    if (delay !== null && delay <= MINUTE) setTimeout(wake, delay + 1).unref();
  };

  const begin = (delivery: Delivery, target: WebhookTarget): void => {
    const ids = underwayOf(target.id);
    ids.add(delivery.id);
    const work = deliver(delivery, target)
      .then(
        () => true,
        (error: unknown) => {
          onError(error);
          return false;
        },
      )
      .then((isDone) => {
        ids.delete(delivery.id);
        running.delete(work);
        // What the database could not do is not asked of it again at once.
        if (isDone) wake();
      });
    running.add(work);
  };

  const look = async (): Promise<void> => {
    for (const target of await outbox.targets()) {
      const ids = underwayOf(target.id);
      if (ids.size >= AT_ONCE) continue;
      // Those under way are due too.
      const due = await outbox.due(target.id, AT_ONCE + ids.size);
      const free = due.filter(({ id }) => !ids.has(id)).slice(0, AT_ONCE - ids.size);
      if (!isEnding) for (const delivery of free) begin(delivery, target);
    }
    if (Date.now() - prunedAt < PRUNE_EVERY) return;
    prunedAt = Date.now();
    await outbox.prune(prunedAt - KEPT.delivered, prunedAt - KEPT.failed);
  };

  function wake(): void {
    if (isEnding) return;
    if (looking !== null) {
      isWoken = true;
      return;
    }
    isWoken = false;
    looking = look()
      .catch(onError)
      .finally(() => {
        looking = null;
        if (isWoken) wake();
      });
  }

  const timer = setInterval(wake, LOOK_EVERY);
  wake();
  return {
    wake,
    async end() {
      isEnding = true;
      clearInterval(timer);
      await looking;
      const all = Promise.all(running);
      const moment = setTimeout(() => ending.abort(), END_WITHIN);
      await all;
      clearTimeout(moment);
    },
  };
}
