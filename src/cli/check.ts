// `check`: proves that everything derived agrees with the values, records with their files, and the database with itself.
import type { Command } from 'commander';
import { checkFiles } from '../operations/check-files.ts';
import { type Context, withFiles, withRegister } from './context.ts';
import { addFileSettings, describeCommand, jsonOption } from './options.ts';

export function check(context: Context): Command {
  const command = describeCommand(
    'check',
    'Check that everything derived agrees with the values, records with their files, and the database with itself.',
    'daicho check',
    'daicho check ORDERS',
  )
    .argument('[code...]', 'app codes; all apps where they are left out')
    .addOption(jsonOption())
    .action((codes: readonly string[], options: { json?: true }, used: Command) =>
      withFiles(context, used, (files) =>
        withRegister(context, used, async (register) => {
          const apps = codes.length > 0 ? codes : [...register.catalog().apps.keys()];
          const bar = context.startProgress('rows');
          const derived = await register.check(apps, bar.report);
          bar.end();
          const problems = [...derived, ...(await checkFiles(register, files, apps))];
          if (options.json) context.printJson({ apps, problems });
          else {
            for (const { app, message } of problems) context.print(`${app === '' ? '' : `${app}: `}${message}\n`);
            if (problems.length === 0) context.print(`No problem found (${apps.length} apps).\n`);
          }
          if (problems.length > 0) context.fail();
        }),
      ),
    );
  return addFileSettings(command);
}
