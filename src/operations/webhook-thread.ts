// The thread that delivers to webhooks while a server answers; of all processes on the register one delivers.
import { parentPort, workerData } from 'node:worker_threads';
import { openOutbox, type WebhookPlace } from '../store/webhooks.ts';
import { type Delivering, startDelivery } from './webhook-delivery.ts';

/** Where the register is, and where deliveries may go. */
export interface WebhookSettings {
  readonly place: WebhookPlace;
  readonly allowPrivate: boolean;
}

/** From the thread: what could not be done and will be tried again. */
export interface WebhookTrouble {
  readonly error: string;
}

/** Milliseconds between two attempts to be the one that delivers, and looks at whether it still is. */
const HOLD_EVERY = 1_000;

const port = parentPort;
if (port === null) throw new Error('webhook-thread.ts runs as a worker thread');
const { place, allowPrivate } = workerData as WebhookSettings;
const outbox = await openOutbox(place);
let delivering: Delivering | null = null;
let isEnding = false;
let timer: NodeJS.Timeout | undefined;
let holding: Promise<void> | null = null;

const onError = (error: unknown) => {
  const { stack, message } = error as Error;
  port.postMessage({ error: stack ?? message } satisfies WebhookTrouble);
};

async function hold(): Promise<void> {
  if (delivering === null) {
    if (!(await outbox.hold(() => delivering?.wake())) || isEnding) return;
    delivering = startDelivery(outbox, { allowPrivate, onError });
  } else if (!(await outbox.isHeld())) {
    const lost = delivering;
    delivering = null;
    await lost.end();
  }
}

function holdAgain(): void {
  holding = hold().catch(onError);
  void holding.then(() => {
    if (!isEnding) timer = setTimeout(holdAgain, HOLD_EVERY);
  });
}

// Any message ends it.
port.once('message', async () => {
  isEnding = true;
  clearTimeout(timer);
  await holding;
  await delivering?.end();
  await outbox.close();
});
holdAgain();
