// `check`: proves that everything derived agrees with the values, and the database with itself.
import type { Command } from 'commander';
import { type Context, withRegister } from './context.ts';
import { describeCommand, jsonOption } from './options.ts';

export function check(context: Context): Command {
  return describeCommand(
    'check',
    'Check that everything derived agrees with the values, and the database with itself.',
    'daicho check',
    'daicho check ORDERS',
  )
    .argument('[code...]', 'app codes; all apps where they are left out')
    .addOption(jsonOption())
    .action((codes: readonly string[], options: { json?: true }, command: Command) =>
      withRegister(context, command, async (register) => {
        const apps = codes.length > 0 ? codes : [...register.catalog().apps.keys()];
        const bar = context.startProgress('rows');
        const problems = await register.check(apps, bar.report);
        bar.end();
        if (options.json) context.printJson({ apps, problems });
        else {
          for (const { app, message } of problems) context.print(`${app === '' ? '' : `${app}: `}${message}\n`);
          if (problems.length === 0) context.print(`No problem found (${apps.length} apps).\n`);
        }
        if (problems.length > 0) context.fail();
      }),
    );
}
