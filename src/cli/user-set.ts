// `user set`: changes the name or the language of a user.
import type { Command } from 'commander';
import type { User } from '../auth/caller.ts';
import { type Context, withRegister } from './context.ts';
import { describeCommand, langOption, userArgument } from './options.ts';

interface Options {
  readonly name?: string;
  readonly lang?: User['lang'];
}

export function userSet(context: Context): Command {
  return describeCommand('set', 'Change the name or the language of a user.', 'daicho user set yamada --name 山田花子')
    .addArgument(userArgument())
    .option('--name <name>', 'name that records show')
    .addOption(langOption())
    .action((id: string, { name, lang }: Options, command: Command) => {
      if (name === undefined && lang === undefined) command.error('error: nothing to change; give --name or --lang');
      return withRegister(context, command, async (register) => {
        const bar = context.startProgress('records');
        const change = { ...(name !== undefined && { name }), ...(lang !== undefined && { lang }) };
        await register.changeUser(id, change, bar.report);
        bar.end();
        context.note(`Changed the user ${id}.`);
      });
    });
}
