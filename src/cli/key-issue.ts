// `key issue`: a new app key; shown once, kept as its digest (D10).
import { type Command, InvalidArgumentError } from 'commander';
import { issueKey } from '../operations/issue-key.ts';
import { type Context, withRegister } from './context.ts';
import { appArgument, describeCommand, jsonOption, userArgument } from './options.ts';

interface Options {
  readonly expires?: number | null;
  readonly json?: true;
}

export function keyIssue(context: Context): Command {
  return describeCommand(
    'issue',
    'Issue a key to an app for a user and print it, this once.',
    'daicho key issue ORDERS yamada',
    'daicho key issue ORDERS yamada --expires 2027-03-31',
  )
    .addArgument(appArgument())
    .addArgument(userArgument())
    .option('--expires <when>', 'last day of the key, such as 2027-03-31, or its days, such as 90d', parseExpiry)
    .addOption(jsonOption())
    .action((code: string, user: string, { expires = null, json }: Options, command: Command) =>
      withRegister(context, command, async (register) => {
        const { id, key } = await issueKey(register, code, user, expires);
        const { apps } = register.catalog();
        const access = apps.get(code)?.access;
        const expiresAt = expires === null ? null : new Date(expires).toISOString();
        if (json) context.printJson({ id, app: code, user, key, expiresAt });
        else {
          context.note(`Key ${id} of ${user} to ${code}. It is shown this once; only its digest is kept.`);
          context.print(`${key}\n`);
        }
        if (access !== undefined && !access.everyone && !access.rights.has(user)) {
          context.note(`${user} has no right in ${code} yet; give it with: daicho app grant ${code} ${user}`);
        }
      }),
    );
}

const DAY = 24 * 60 * 60 * 1000;

/** Milliseconds since 1970 of the end of a day in local time, or of so many days from now. */
function parseExpiry(text: string): number {
  const days = /^(\d{1,5})d$/.exec(text);
  if (days !== null && Number(days[1]) > 0) return Date.now() + Number(days[1]) * DAY;
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) throw new InvalidArgumentError('Write a date such as 2027-03-31, or days such as 90d.');
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const last = new Date(year, month - 1, day);
  if (last.getMonth() !== month - 1 || last.getDate() !== day) throw new InvalidArgumentError('There is no such day.');
  const end = new Date(year, month - 1, day + 1).getTime();
  if (end <= Date.now()) throw new InvalidArgumentError('That day is over.');
  return end;
}
