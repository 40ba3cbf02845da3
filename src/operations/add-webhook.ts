// Adds a webhook to an app: where it may lead, and the secret that its deliveries are signed with.
import { randomBytes } from 'node:crypto';
import { Mistake } from '../store/register.ts';
import type { WebhookEvent, Webhooks } from '../store/webhooks.ts';
import { addressIn, isPrivate } from './webhook-address.ts';

/** Characters that a secret has at least. */
const LEAST_SECRET = 16;

export interface NewWebhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** null: one is made, of 256 random bits. */
  readonly secret: string | null;
  readonly allowPrivate: boolean;
}

/** Gives the ID of the webhook and its secret. */
export async function addWebhook(
  webhooks: Webhooks,
  appCode: string,
  { url, events, secret, allowPrivate }: NewWebhook,
): Promise<{ readonly id: number; readonly secret: string }> {
  judgeUrl(url, allowPrivate);
  if (secret !== null && secret.length < LEAST_SECRET) {
    throw new Mistake(`the secret is too short; it needs at least ${LEAST_SECRET} characters`);
  }
  const used = secret ?? randomBytes(32).toString('base64url');
  return { id: await webhooks.add(appCode, { url: new URL(url).href, events, secret: used }), secret: used };
}

function judgeUrl(text: string, allowPrivate: boolean): void {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Mistake(`${JSON.stringify(text)} is no URL that begins with http:// or https://`);
  }
  // They would be shown wherever the URL is; the signature says who sends.
  if (url.username !== '' || url.password !== '') throw new Mistake('the URL must not hold a user or a password');
  const literal = addressIn(url);
  if (!allowPrivate && literal !== null && isPrivate(literal)) {
    throw new Mistake(
      `${literal} is an address of this machine or of a private network; deliveries go there only with WEBHOOK_PRIVATE=on`,
    );
  }
}
