// Opens the webhooks that a command is about, does the work, closes them.
import { type Command, InvalidArgumentError } from 'commander';
import { openWebhooks, type Webhooks } from '../store/webhooks.ts';
import { type Context, withOpened } from './context.ts';

export function withWebhooks<T>(
  context: Context,
  command: Command,
  work: (webhooks: Webhooks) => Promise<T>,
): Promise<T> {
  return withOpened(context, command, (_, place) => openWebhooks(place), work);
}

/** The number by which a webhook or a delivery is known. */
export function parseNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Such an ID is a number.');
  return Number(text);
}
