// `reindex`: makes everything that is derived from the values again.
import type { Command } from 'commander';
import { type Context, withRegister } from './context.ts';
import { describeCommand } from './options.ts';

export function reindex(context: Context): Command {
  return describeCommand(
    'reindex',
    'Make the answers and indexes of an app, or of all, again from the values; finishes what was interrupted.',
    'daicho reindex ORDERS',
  )
    .argument('[code]', 'app code; all apps where it is left out')
    .action((code: string | undefined, _: unknown, command: Command) =>
      withRegister(context, command, async (register) => {
        for (const app of code === undefined ? register.catalog().apps.keys() : [code]) {
          const bar = context.startProgress('records');
          bar.begin(app, 'records');
          await register.reindex(app, bar.report);
          bar.end();
          context.note(`${app}: answers and indexes are made again.`);
        }
      }),
    );
}
