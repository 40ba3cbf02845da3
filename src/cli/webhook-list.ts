// `webhook list` and `webhook remove`: the webhooks of an app, never their secrets.
import type { Command } from 'commander';
import type { Context } from './context.ts';
import { appArgument, describeCommand, jsonOption } from './options.ts';
import { formatTable } from './table.ts';
import { parseNumber, withWebhooks } from './webhooks-opened.ts';

export function webhookList(context: Context): Command {
  return describeCommand('list', 'List the webhooks of an app.', 'daicho webhook list ORDERS')
    .addArgument(appArgument())
    .addOption(jsonOption())
    .action((code: string, { json }: { json?: true }, command: Command) =>
      withWebhooks(context, command, async (webhooks) => {
        const list = await webhooks.list(code);
        if (json) context.printJson(list);
        else if (list.length === 0) {
          context.note(`${code} has no webhook yet; add one with: daicho webhook add ${code} URL`);
        } else {
          const rows = list.map(({ id, url, events, createdAt, waiting, failed }) => [
            ...[String(id), url, events.join(','), createdAt, String(waiting), String(failed)],
          ]);
          context.print(formatTable(['ID', 'URL', 'EVENTS', 'ADDED', 'WAITING', 'FAILED'], rows));
        }
      }),
    );
}

export function webhookRemove(context: Context): Command {
  return describeCommand('remove', 'Remove a webhook, with all that it has not been told.', 'daicho webhook remove 3')
    .argument('<id>', 'ID of the webhook, as `daicho webhook list` shows it', parseNumber)
    .action((id: number, _: unknown, command: Command) =>
      withWebhooks(context, command, async (webhooks) => {
        await webhooks.remove(id);
        context.note(`Removed the webhook ${id}.`);
      }),
    );
}
