// The command line: its commands, put together; how each way to end becomes an exit code.
import { type Command, CommanderError } from 'commander';
import { SETTINGS, WrongSettings } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { appApply } from './app-apply.ts';
import { appGrant, appWithdraw } from './app-grant.ts';
import { appInfer } from './app-infer.ts';
import { appList } from './app-list.ts';
import { appShow } from './app-show.ts';
import { backup } from './backup.ts';
import { check } from './check.ts';
import { type Context, processContext, reasonOf } from './context.ts';
import { keyIssue } from './key-issue.ts';
import { keyList, keyRevoke } from './key-list.ts';
import { move } from './move.ts';
import { optionWebApi } from './option-web-api.ts';
import { describeCommand, flagsOf, helpOf, PLACE_SETTINGS } from './options.ts';
import { recordExport } from './record-export.ts';
import { recordImport } from './record-import.ts';
import { recordRestore } from './record-restore.ts';
import { reindex } from './reindex.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { sweep } from './sweep.ts';
import { userAdd } from './user-add.ts';
import { userList } from './user-list.ts';
import { userSet } from './user-set.ts';
import { version } from './version.ts';
import { webhookAdd } from './webhook-add.ts';
import { webhookList, webhookRemove } from './webhook-list.ts';
import { webhookLog, webhookRetry } from './webhook-log.ts';
import { webhookTest } from './webhook-test.ts';

/** Done, could not be done, wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** Runs the command that the arguments name. */
export async function runCommandLine(args: readonly string[], environment: Environment): Promise<ExitCode> {
  const context = processContext(environment);
  const program = commandLine(context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const isWrongUsage = error instanceof WrongSettings;
    const reason = isWrongUsage ? error.message : reasonOf(error);
    context.note(
      `daicho: ${reason?.replaceAll('\n', '\ndaicho: ') ?? `failed, which should not happen:\n${(error as Error).stack ?? error}`}`,
    );
    return isWrongUsage ? 2 : 1;
  }
}

/** The whole command line, each command with its help. */
export function commandLine(context: Context): Command {
  const program = describeCommand(
    'daicho',
    'A register of application data behind a Web API.',
    'daicho serve',
    'daicho app list',
  )
    .version(version(), '--version', 'print the version')
    .addCommand(serve(context))
    .addCommand(
      group('app', 'Apps: their definitions and who may use them.', 'daicho app list', [
        appInfer(context),
        appApply(context),
        appList(context),
        appShow(context),
        appGrant(context),
        appWithdraw(context),
      ]),
    )
    .addCommand(
      group('record', 'Records.', 'daicho record import ORDERS orders.csv', [
        recordImport(context),
        recordExport(context),
        recordRestore(context),
      ]),
    )
    .addCommand(group('user', 'Users.', 'daicho user list', [userAdd(context), userList(context), userSet(context)]))
    .addCommand(
      group('key', 'Keys to apps.', 'daicho key list ORDERS', [
        keyIssue(context),
        keyList(context),
        keyRevoke(context),
      ]),
    )
    .addCommand(
      group('webhook', 'Addresses that are told what happens to records.', 'daicho webhook list ORDERS', [
        webhookAdd(context),
        webhookList(context),
        webhookRemove(context),
        webhookTest(context),
        webhookLog(context),
        webhookRetry(context),
      ]),
    )
    .addCommand(group('option', 'Options.', 'daicho option web-api on', [optionWebApi(context)]))
    .addCommand(backup(context))
    .addCommand(restore(context))
    .addCommand(move(context))
    .addCommand(reindex(context))
    .addCommand(check(context))
    .addCommand(sweep(context));
  for (const name of PLACE_SETTINGS) program.option(flagsOf(SETTINGS[name]), helpOf(SETTINGS[name]));
  settle(program);
  return program;
}

function group(name: string, description: string, example: string, commands: readonly Command[]): Command {
  const command = describeCommand(name, description, example);
  for (const sub of commands) command.addCommand(sub);
  return command;
}

/** What every command has: errors come back instead of ending the process, the help tells of the options of all. */
function settle(command: Command): void {
  command.exitOverride();
  command.configureHelp({ showGlobalOptions: true });
  command.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'daicho: ')) });
  command.showHelpAfterError(`(${commandPath(command)} --help tells more)`);
  for (const sub of command.commands) settle(sub);
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}
