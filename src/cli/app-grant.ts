// `app grant` and `app withdraw`: what a user may do in an app (D7).
import type { Command } from 'commander';
import { type Context, withRegister } from './context.ts';
import { appArgument, describeCommand, userArgument } from './options.ts';
import { rightsText } from './rights.ts';

interface Options {
  readonly update?: true;
  readonly edit?: true;
  readonly admin?: true;
}

export function appGrant(context: Context): Command {
  return describeCommand(
    'grant',
    'Let a user use an app, which is to search it, and what else is named; replaces the rights the user has in it.',
    'daicho app grant ORDERS yamada --update',
  )
    .addArgument(appArgument())
    .addArgument(userArgument())
    .option('--update', 'may update records')
    .option('--edit', 'may put records in and delete them')
    .option('--admin', 'may do everything in the app, also in the name of others')
    .action((code: string, user: string, options: Options, command: Command) =>
      withRegister(context, command, async (register) => {
        const { update = false, edit = false, admin = false } = options;
        await register.grant(code, user, { update, edit, admin });
        context.note(`${user} in ${code}: ${rightsText({ update, edit, admin })}`);
      }),
    );
}

export function appWithdraw(context: Context): Command {
  return describeCommand('withdraw', 'Take all rights in an app from a user.', 'daicho app withdraw ORDERS yamada')
    .addArgument(appArgument())
    .addArgument(userArgument())
    .action((code: string, user: string, _: unknown, command: Command) =>
      withRegister(context, command, async (register) => {
        await register.withdraw(code, user);
        context.note(`${user} has no right in ${code} any more.`);
      }),
    );
}
