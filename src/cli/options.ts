// Options and arguments that several commands have.
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { SETTINGS, type Setting, type SettingName } from '../config/config.ts';
import { ENCODINGS } from '../operations/read-text.ts';

/** A command with its description and an example of its use. */
export function describeCommand(name: string, description: string, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `\n  ${example}`).join('');
  return new Command(name)
    .description(description)
    .addHelpText('after', `\nExample${examples.length > 1 ? 's' : ''}:${lines}`);
}

/** The settings that say where the register is: every command has them. */
export const PLACE_SETTINGS = ['dataDir', 'databaseUrl', 'distribute'] as const;

/** The settings that say where the contents of files are: commands that have to do with them have these. */
export const FILE_SETTINGS = [
  'filesDir',
  's3Bucket',
  's3Prefix',
  's3Endpoint',
  's3Region',
  's3AccessKeyId',
  's3SecretAccessKey',
] as const;

/** The flag of a setting, as a command's help shows it. */
export function flagsOf({ flag, placeholder }: Setting<unknown>): string {
  return `${flag} <${placeholder}>`;
}

/** What a command's help says of a setting. */
export function helpOf({ meaning, variable, default: usual }: Setting<unknown>): string {
  return `${meaning} (environment: ${variable}, default: ${usual === '' ? 'none' : usual})`;
}

/** Adds the options that say where the contents of files are, and of more settings. */
export function addFileSettings(command: Command, ...more: readonly SettingName[]): Command {
  for (const name of [...FILE_SETTINGS, ...more]) command.option(flagsOf(SETTINGS[name]), helpOf(SETTINGS[name]));
  return command;
}

export const jsonOption = () => new Option('--json', 'print JSON');

export const langOption = () =>
  new Option('--lang <language>', "language of the user's messages").choices(['ja', 'en', 'zh']);

export const encodingOption = () =>
  new Option('--encoding <name>', 'encoding of the file; found out where it is left out').choices(ENCODINGS);

export const appArgument = () => new Argument('<code>', 'app code');

/** Letters, digits and `_ . @ -`, 1 to 64 of them. */
export function userArgument(): Argument {
  return new Argument('<user>', 'user ID: letters, digits and _ . @ -, up to 64').argParser((id: string) => {
    if (!/^[A-Za-z0-9_.@-]{1,64}$/.test(id)) {
      throw new InvalidArgumentError('A user ID is 1 to 64 letters, digits, _ . @ and -.');
    }
    return id;
  });
}
