// Has what webhooks are told delivered while a server runs, in a thread that is started when there is a webhook.
import type { Worker } from 'node:worker_threads';
import type { Log } from '../config/log.ts';
import type { Catalog } from '../store/store.ts';
import { startThread } from '../store/thread.ts';
import type { WebhookSettings, WebhookTrouble } from './webhook-thread.ts';

/** Milliseconds between two looks at whether there is a webhook. */
const LOOK_EVERY = 250;
/** Milliseconds until a thread that ended is started again. */
const START_AGAIN = 5_000;
/** Milliseconds that the thread has to end. */
const END_WITHIN = 1_500;

/** Delivers where an app has a webhook; what it gives ends that. */
export function startDelivering(catalog: () => Catalog, settings: WebhookSettings, log: Log): () => Promise<void> {
  let thread: Worker | null = null;
  let startAt = 0;
  const look = () => {
    if (thread !== null || Date.now() < startAt || !hasWebhooks(catalog)) return;
    thread = startThread(import.meta.url, 'webhook-thread', settings);
    thread.on('message', ({ error }: WebhookTrouble) =>
      log.warn('webhooks cannot be delivered to now', () => ({ error })),
    );
    thread.on('error', (error: Error) =>
      log.error('the thread that delivers to webhooks failed', () => ({ error: error.stack ?? String(error) })),
    );
    thread.on('exit', () => {
      thread = null;
      startAt = Date.now() + START_AGAIN;
    });
  };
  const timer = setInterval(look, LOOK_EVERY);
  timer.unref();
  look();
  return async () => {
    clearInterval(timer);
    const ending = thread;
    if (ending === null) return;
    const exited = new Promise<void>((resolve) => ending.once('exit', () => resolve()));
    ending.postMessage('end');
    const late = setTimeout(() => void ending.terminate(), END_WITHIN);
    await exited;
    clearTimeout(late);
  };
}

function hasWebhooks(catalog: () => Catalog): boolean {
  try {
    return catalog()
      .apps.values()
      .some(({ webhooks }) => webhooks.length > 0);
  } catch {
    // A database that cannot be read now is looked at again.
    return false;
  }
}
