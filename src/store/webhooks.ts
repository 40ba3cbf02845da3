// Webhooks of apps, whichever database holds them: what administration asks, and the outbox of what they are to be told.
import type { EngineSettings } from './engine.ts';

/** What happens to a record. A restore inserts it where it was deleted, and updates it where it is there. */
export const WEBHOOK_EVENTS = ['insert', 'update', 'delete'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** A webhook as the catalog has it: what whoever writes a record needs to know. */
export interface Webhook {
  readonly id: number;
  readonly events: readonly WebhookEvent[];
}

/** A webhook as people see it: without its secret. */
export interface WebhookDescription extends Webhook {
  readonly app: string;
  readonly url: string;
  /** `YYYY-MM-DD HH:MM:SS`, local time. */
  readonly createdAt: string;
  /** Deliveries that are not over, and those that have failed. */
  readonly waiting: number;
  readonly failed: number;
}

/** Where deliveries go, and what they are signed with. */
export interface WebhookTarget {
  readonly id: number;
  readonly app: string;
  readonly url: string;
  readonly secret: string;
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A delivery as people see it. */
export interface DeliveryDescription {
  readonly id: number;
  readonly webhook: number;
  readonly event: WebhookEvent;
  readonly primaryKey: string;
  readonly revision: number;
  /** When the record was written, `YYYY-MM-DD HH:MM:SS`, local time. */
  readonly at: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** HTTP status of the last answer; null where there was none. */
  readonly status: number | null;
  /** Why the last attempt did not deliver; null where it did, or was not made. */
  readonly error: string | null;
  /** Of the next attempt, in milliseconds since 1970; null where there is none. */
  readonly dueAt: number | null;
}

/** What is done to webhooks beside writing and delivering. Refuses with Mistake. */
export interface Webhooks {
  add(appCode: string, webhook: Omit<Webhook, 'id'> & Pick<WebhookTarget, 'url' | 'secret'>): Promise<number>;
  list(appCode: string): Promise<readonly WebhookDescription[]>;
  /** Removes it with all its deliveries. */
  remove(id: number): Promise<void>;
  target(id: number): Promise<WebhookTarget>;
  /** The newest deliveries, newest first; only of a state where one is named. */
  log(appCode: string, state: DeliveryState | null, limit: number): Promise<readonly DeliveryDescription[]>;
  /** Tries a delivery that is not delivered again, now and from the first attempt on, and what waits behind it. */
  retry(delivery: number): Promise<void>;
  /** The same for all that have failed; gives how many these were. */
  retryFailed(appCode: string): Promise<number>;
  close(): Promise<void>;
}

/** What a writer notes of a record that it wrote. */
export interface Told {
  readonly event: WebhookEvent;
  /** Place in the creation order. */
  readonly seq: number;
  /** After it; of a record that was deleted, its last. */
  readonly revision: number;
  readonly primaryKey: string;
  readonly userId: string;
  readonly at: string;
}

/** What is to be sent to a webhook. What the record was and is comes from the record and its history. */
export interface Delivery extends Told {
  readonly id: number;
  readonly appId: number;
  /** Attempts made. */
  readonly attempts: number;
}

/** How an attempt ended. */
export interface Attempt {
  readonly delivery: Pick<Delivery, 'id' | 'primaryKey'>;
  readonly webhook: number;
  readonly attempts: number;
  readonly state: DeliveryState;
  readonly status: number | null;
  readonly error: string | null;
  /** Milliseconds since 1970, of the next attempt where it is waiting. */
  readonly dueAt: number;
}

/** The deliveries that wait, for the one process that delivers them. */
export interface Outbox {
  /** Calls `wake` whenever there may be something to deliver. Resolves false where another process delivers. */
  hold(wake: () => void): Promise<boolean>;
  /** Whether it is still held. */
  isHeld(): Promise<boolean>;
  targets(): Promise<readonly WebhookTarget[]>;
  /** Deliveries of a webhook that are due, oldest first, at most one of each record: that which is before all others that wait. */
  due(webhook: number, limit: number): Promise<readonly Delivery[]>;
  /** The body of a delivery as JSON; null where the history does not have it. */
  body(delivery: Delivery): Promise<string | null>;
  /** Notes how attempts ended. */
  settle(attempts: readonly Attempt[]): Promise<void>;
  /** Removes those from the log that ended before a time, in milliseconds since 1970, and what no webhook has any more. */
  prune(deliveredBefore: number, failedBefore: number): Promise<void>;
  close(): Promise<void>;
}

/** Which register. */
export type WebhookPlace = Pick<EngineSettings, 'dataDir' | 'databaseUrl'>;

/** Opens the webhooks of a register that is there. */
export async function openWebhooks(place: WebhookPlace): Promise<Webhooks> {
  if (place.databaseUrl === '') return (await import('./sqlite/webhooks.ts')).openSqliteWebhooks(place.dataDir);
  return (await import('./postgres/webhooks.ts')).openPostgresWebhooks(place.databaseUrl);
}

/** Opens the outbox of a register that is there. */
export async function openOutbox(place: WebhookPlace): Promise<Outbox> {
  if (place.databaseUrl === '') return (await import('./sqlite/outbox.ts')).openSqliteOutbox(place.dataDir);
  return (await import('./postgres/outbox.ts')).openPostgresOutbox(place.databaseUrl);
}

/** SQL of the deliveries that a retry asks for, `value` being that of a delivery's number or of an app's. */
export const RETRIED = {
  one: (value: string): string => `id = ${value} and state <> 'delivered'`,
  allFailed: (value: string): string => `app_id = ${value} and state = 'failed'`,
};

/** SQL of what of the records of those that are asked for waits for the same webhooks: before they are had wait again, what is behind them. */
export function waitingWith(asked: string): string {
  return `state = 'waiting' and (webhook_id, record) in (select webhook_id, record from deliveries where ${asked})`;
}

/** Those of the webhooks that want an event. */
export function wanting(webhooks: readonly Webhook[], event: WebhookEvent): readonly number[] {
  return webhooks.flatMap(({ id, events }) => (events.includes(event) ? [id] : []));
}

/** Events as a column keeps them, and back. */
export const eventsText = (events: readonly WebhookEvent[]): string => events.join(',');
export const eventsOf = (text: string): readonly WebhookEvent[] => text.split(',') as WebhookEvent[];
