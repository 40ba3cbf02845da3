// `webhook log` and `webhook retry`: what became of deliveries, and those that are tried again.
import { type Command, InvalidArgumentError } from 'commander';
import type { DeliveryDescription } from '../store/webhooks.ts';
import type { Context } from './context.ts';
import { appArgument, describeCommand, jsonOption } from './options.ts';
import { formatTable } from './table.ts';
import { parseNumber, withWebhooks } from './webhooks-opened.ts';

/** Deliveries that are shown. */
const SHOWN = 500;

export function webhookLog(context: Context): Command {
  return describeCommand(
    'log',
    'Show the newest deliveries to the webhooks of an app.',
    'daicho webhook log ORDERS',
    'daicho webhook log ORDERS --failed',
  )
    .addArgument(appArgument())
    .option('--failed', 'only those that have failed')
    .addOption(jsonOption())
    .action((code: string, { failed, json }: { failed?: true; json?: true }, command: Command) =>
      withWebhooks(context, command, async (webhooks) => {
        const log = await webhooks.log(code, failed ? 'failed' : null, SHOWN);
        if (json) context.printJson(log.map((delivery) => ({ ...delivery, dueAt: timeOf(delivery) })));
        else if (log.length === 0) context.note(`${code} has no ${failed ? 'failed ' : ''}delivery.`);
        else {
          const rows = log.map(({ id, webhook, event, primaryKey, at, attempts, ...delivery }) => [
            ...[String(id), at, String(webhook), event, primaryKey, String(attempts), outcomeOf(delivery)],
          ]);
          context.print(formatTable(['ID', 'AT', 'WEBHOOK', 'EVENT', 'RECORD', 'ATTEMPTS', 'OUTCOME'], rows));
        }
      }),
    );
}

export function webhookRetry(context: Context): Command {
  return describeCommand(
    'retry',
    'Send deliveries again that are not delivered.',
    'daicho webhook retry 1042',
    'daicho webhook retry --all-failed ORDERS',
  )
    .argument('[id]', 'ID of a delivery, as `daicho webhook log` shows it', parseNumber)
    .option('--all-failed <code>', 'all that have failed, to the webhooks of an app')
    .action((id: number | undefined, { allFailed }: { allFailed?: string }, command: Command) => {
      if ((id === undefined) === (allFailed === undefined)) {
        throw new InvalidArgumentError('Name a delivery, or the app with --all-failed.');
      }
      return withWebhooks(context, command, async (webhooks) => {
        if (allFailed !== undefined) {
          const count = await webhooks.retryFailed(allFailed);
          context.note(`${count} ${count === 1 ? 'delivery waits' : 'deliveries wait'} to be sent again.`);
        } else if (id !== undefined) {
          await webhooks.retry(id);
          context.note(`Delivery ${id} waits to be sent again.`);
        }
      });
    });
}

function timeOf({ dueAt }: Pick<DeliveryDescription, 'dueAt'>): string | null {
  return dueAt === null ? null : new Date(dueAt).toISOString();
}

function outcomeOf({
  state,
  status,
  error,
  dueAt,
}: Pick<DeliveryDescription, 'state' | 'status' | 'error' | 'dueAt'>): string {
  if (state === 'delivered') return `delivered (${status})`;
  if (state === 'failed') return `failed: ${error}`;
  return error === null ? 'waiting' : `${error}; again at ${new Date(dueAt ?? 0).toLocaleString('sv')}`;
}
