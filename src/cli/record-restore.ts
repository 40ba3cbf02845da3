// `record restore`: brings a record back to one of its versions, or a deleted one back.
import { type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../config/config.ts';
import { Refusal } from '../errors.ts';
import { messageOf } from '../messages/messages.ts';
import { writtenOrRefused } from '../operations/written.ts';
import { engineOf, FOR_COMMANDS } from '../store/engine.ts';
import { Mistake } from '../store/register.ts';
import { type Context, opening } from './context.ts';
import { appArgument, describeCommand, jsonOption, PLACE_SETTINGS } from './options.ts';

interface Options {
  readonly revision?: number;
  readonly user?: string;
  readonly json?: true;
}

export function recordRestore(context: Context): Command {
  return describeCommand(
    'restore',
    'Bring a record back to one of its versions; without one, bring a deleted record back as it was.',
    'daicho record restore ORDERS 12',
    'daicho record restore ORDERS 12 --revision 3',
  )
    .addArgument(appArgument())
    .argument('<key>', 'primary key of the record')
    .option('--revision <number>', 'revision that the record had', readRevision)
    .option('--user <user>', 'user who is noted as having done it (default: the first administrator of the app)')
    .addOption(jsonOption())
    .action(async (code: string, primaryKey: string, options: Options, used: Command) => {
      const { revision: version = null, user, json } = options;
      const settings = readConfig(PLACE_SETTINGS, used.optsWithGlobals(), context.environment);
      const engine = await engineOf({ ...FOR_COMMANDS, ...settings });
      if (!(await opening(engine, () => engine.hasRegister()))) {
        throw new Mistake(`there is no register in ${engine.place}`);
      }
      const store = await opening(engine, () => engine.openStore());
      try {
        const { apps, users } = store.catalog();
        const registered = apps.get(code);
        if (registered === undefined) throw new Mistake(`there is no app ${code}`);
        if (user !== undefined && !users.has(user)) throw new Mistake(`there is no user ${user}`);
        const userId = user ?? registered.access.rights.entries().find(([, { admin }]) => admin)?.[0] ?? '';
        const written = await store.edit(registered, { kind: 'restore', primaryKey, revision: null, version }, userId);
        if (written.kind === 'stale') throw new Mistake(`the definition of ${code} was changed meanwhile; try again`);
        const { entries } = writtenOrRefused(written, registered.app, primaryKey, null);
        if (json) context.printJson(JSON.parse(`{${entries}}`));
        else
          context.print(
            `${code}: record ${primaryKey} is as it was${version === null ? '' : ` at revision ${version}`}.\n`,
          );
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new Mistake(error.problems.map((problem) => messageOf(problem, 'en')).join('\n'));
      } finally {
        await store.close();
      }
    });
}

function readRevision(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a revision, a whole number from 1.');
  return Number(text);
}
