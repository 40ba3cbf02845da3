// `app list`: the apps of the register.
import type { Command } from 'commander';
import type { Register } from '../store/register.ts';
import type { RegisteredApp } from '../store/store.ts';
import { type Context, withRegister } from './context.ts';
import { describeCommand, jsonOption } from './options.ts';
import { formatTable } from './table.ts';

export function appList(context: Context): Command {
  return describeCommand('list', 'List the apps.', 'daicho app list')
    .addOption(jsonOption())
    .action((options: { json?: true }, command: Command) =>
      withRegister(context, command, async (register) => {
        const apps = await Promise.all(
          [...register.catalog().apps.values()].map((registered) => summary(register, registered)),
        );
        if (options.json) context.printJson(apps);
        else if (apps.length === 0) context.note('There is no app yet; make one with: daicho app apply FILE');
        else context.print(table(apps));
      }),
    );
}

type AppSummary = Awaited<ReturnType<typeof summary>>;

async function summary(register: Register, { app, version, access, keys }: RegisteredApp) {
  return {
    code: app.code,
    name: app.name,
    state: app.state,
    records: await register.countRecords(app.code),
    fields: app.fields.length,
    tables: app.tables.map((table) => table.code),
    everyone: app.everyone,
    users: access.rights.size,
    keys: keys.size,
    definitionVersion: version,
  };
}

function table(apps: readonly AppSummary[]): string {
  const header = ['CODE', 'NAME', 'STATE', 'RECORDS', 'FIELDS', 'TABLES', 'USERS', 'KEYS'];
  const rows = apps.map((app) => [
    app.code,
    app.name.ja ?? app.name.en ?? app.name.zh ?? '',
    app.state,
    app.records.toLocaleString('en'),
    String(app.fields),
    String(app.tables.length),
    app.everyone ? 'all' : String(app.users),
    String(app.keys),
  ]);
  return formatTable(header, rows);
}
