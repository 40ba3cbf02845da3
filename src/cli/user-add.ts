// `user add`: adds a user to the register.
import type { Command } from 'commander';
import type { User } from '../auth/caller.ts';
import { type Context, withRegister } from './context.ts';
import { describeCommand, langOption, userArgument } from './options.ts';

export function userAdd(context: Context): Command {
  return describeCommand('add', 'Add a user.', 'daicho user add yamada --name 山田太郎 --lang ja')
    .addArgument(userArgument())
    .requiredOption('--name <name>', 'name that records show')
    .addOption(langOption().default('ja'))
    .action((id: string, { name, lang }: { name: string; lang: User['lang'] }, command: Command) =>
      withRegister(context, command, async (register) => {
        await register.addUser({ id, name, lang });
        context.note(`Added the user ${id}. To let them use an app: daicho app grant CODE ${id}`);
      }),
    );
}
