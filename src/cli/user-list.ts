// `user list`: the users of the register and what they may do.
import type { Command } from 'commander';
import type { Catalog } from '../store/store.ts';
import { type Context, withRegister } from './context.ts';
import { describeCommand, jsonOption } from './options.ts';
import { rightsText } from './rights.ts';
import { formatTable } from './table.ts';

export function userList(context: Context): Command {
  return describeCommand('list', 'List the users and their rights.', 'daicho user list')
    .addOption(jsonOption())
    .action((options: { json?: true }, command: Command) =>
      withRegister(context, command, async (register) => {
        const users = listUsers(register.catalog());
        if (options.json) context.printJson(users);
        else if (users.length === 0) context.note('There is no user yet; add one with: daicho user add ID --name NAME');
        else {
          const rows = users.map(({ id, name, lang, apps }) => [
            id,
            name,
            lang,
            apps.map(({ app, ...rights }) => `${app} (${rightsText(rights)})`).join(', '),
          ]);
          context.print(formatTable(['ID', 'NAME', 'LANG', 'APPS'], rows));
        }
      }),
    );
}

function listUsers({ users, apps }: Catalog) {
  return [...users.values()].map((user) => ({
    ...user,
    apps: [...apps.values()].flatMap(({ app, access }) => {
      const rights = access.rights.get(user.id);
      return rights === undefined ? [] : [{ app: app.code, ...rights }];
    }),
  }));
}
