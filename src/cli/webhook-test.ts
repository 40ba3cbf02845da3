// `webhook test`: sends a delivery of the event `test` from here, now, and tells what came of it.
import type { Command } from 'commander';
import { readConfig, SETTINGS } from '../config/config.ts';
import { sendWebhook } from '../operations/webhook-request.ts';
import type { Context } from './context.ts';
import { describeCommand, flagsOf, helpOf, jsonOption } from './options.ts';
import { parseNumber, withWebhooks } from './webhooks-opened.ts';

export function webhookTest(context: Context): Command {
  return describeCommand('test', 'Send a test delivery to a webhook and show the answer.', 'daicho webhook test 3')
    .argument('<id>', 'ID of the webhook, as `daicho webhook list` shows it', parseNumber)
    .option(flagsOf(SETTINGS.webhookPrivate), helpOf(SETTINGS.webhookPrivate))
    .addOption(jsonOption())
    .action((id: number, { json }: { json?: true }, command: Command) => {
      const { webhookPrivate } = readConfig(['webhookPrivate'], command.optsWithGlobals(), context.environment);
      return withWebhooks(context, command, async (webhooks) => {
        const { app, url, secret } = await webhooks.target(id);
        const body = JSON.stringify({ event: 'test', app, delivery: 0, at: new Date().toLocaleString('sv') });
        const sent = { url, secret, event: 'test', delivery: 0, body, allowPrivate: webhookPrivate };
        const answer = await sendWebhook(sent);
        if (json) context.printJson({ id, url, ...answer });
        else {
          const { status, error, text, milliseconds } = answer;
          context.print(`${status ?? error} in ${milliseconds} ms\n${text === '' ? '' : `${printable(text)}\n`}`);
        }
        if (answer.error !== null) context.fail();
      });
    });
}

/** What a stranger answered must not move the cursor or change colours. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, ' ').trimEnd();
}
