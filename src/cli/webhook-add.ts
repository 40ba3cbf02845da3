// `webhook add`: an address that is told what happens to the records of an app; the secret is shown once where it is made.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { readConfig, SETTINGS } from '../config/config.ts';
import { addWebhook } from '../operations/add-webhook.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../store/webhooks.ts';
import type { Context } from './context.ts';
import { appArgument, describeCommand, flagsOf, helpOf, jsonOption } from './options.ts';
import { withWebhooks } from './webhooks-opened.ts';

interface Options {
  readonly events?: readonly WebhookEvent[];
  readonly secretFile?: string;
  readonly json?: true;
}

export function webhookAdd(context: Context): Command {
  return describeCommand(
    'add',
    'Have an address told what happens to the records of an app.',
    'daicho webhook add ORDERS https://example.com/hooks/orders',
    'daicho webhook add ORDERS https://example.com/hooks/orders --events insert,delete --secret-file secret.txt',
  )
    .addArgument(appArgument())
    .argument('<url>', 'address that deliveries are sent to, https or http')
    .option(
      '--events <list>',
      'insert, update, delete, with commas between them; all where it is left out',
      parseEvents,
    )
    .option('--secret-file <file>', 'file that holds the secret of the signature; left out, one is made and printed')
    .option(flagsOf(SETTINGS.webhookPrivate), helpOf(SETTINGS.webhookPrivate))
    .addOption(jsonOption())
    .action((code: string, url: string, { events, secretFile, json }: Options, command: Command) => {
      const { webhookPrivate } = readConfig(['webhookPrivate'], command.optsWithGlobals(), context.environment);
      return withWebhooks(context, command, async (webhooks) => {
        const given = secretFile === undefined ? null : readFileSync(secretFile, 'utf8').replace(/\r?\n$/, '');
        const wanted = events ?? WEBHOOK_EVENTS;
        const asked = { url, events: wanted, secret: given, allowPrivate: webhookPrivate };
        const { id, secret } = await addWebhook(webhooks, code, asked);
        const made = given === null ? { secret } : {};
        if (json) context.printJson({ id, app: code, url, events: wanted, ...made });
        else {
          context.note(`Webhook ${id} of ${code}: ${wanted.join(', ')}. Try it with: daicho webhook test ${id}`);
          if (given !== null) return;
          context.note('Its secret, shown this once:');
          context.print(`${secret}\n`);
        }
      });
    });
}

function parseEvents(text: string): readonly WebhookEvent[] {
  const sent = text.split(',').map((event) => event.trim());
  if (!sent.every((event) => WEBHOOK_EVENTS.some((known) => known === event))) {
    throw new InvalidArgumentError('Events are insert, update and delete, with commas between them.');
  }
  return WEBHOOK_EVENTS.filter((event) => sent.includes(event));
}
