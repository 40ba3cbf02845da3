// Opens the webhooks that a command is about, does the work, closes them.
import { type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../config/config.ts';
import { engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Unavailable } from '../store/store.ts';
import { openWebhooks, type Webhooks } from '../store/webhooks.ts';
import { type Context, opening } from './context.ts';
import { PLACE_SETTINGS } from './options.ts';

export async function withWebhooks<T>(
  context: Context,
  command: Command,
  work: (webhooks: Webhooks) => Promise<T>,
): Promise<T> {
  const settings = readConfig(PLACE_SETTINGS, command.optsWithGlobals(), context.environment);
  const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
  const webhooks = await opening(engine, () => openWebhooks(settings));
  try {
    return await work(webhooks);
  } catch (error) {
    if (!engine.isUnavailable(error)) throw error;
    throw new Unavailable('the database cannot be used now', { cause: error });
  } finally {
    await webhooks.close();
  }
}

/** The number by which a webhook or a delivery is known. */
export function parseNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Such an ID is a number.');
  return Number(text);
}
