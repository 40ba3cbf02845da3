// `app apply`: makes apps of definitions, or changes apps to what their definitions say now.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { type Applied, Mistake, type Register } from '../store/register.ts';
import { type Context, withRegister } from './context.ts';
import { describeCommand, jsonOption } from './options.ts';

interface Options {
  readonly allowDataLoss?: boolean;
  readonly dryRun?: boolean;
  readonly json?: true;
}

interface Definition {
  readonly file: string;
  readonly app: App;
  readonly source: string;
}

interface Report extends Definition {
  readonly applied: Applied;
  /** What applying it would lose. */
  readonly losses: readonly string[];
}

export function appApply(context: Context): Command {
  return describeCommand(
    'apply',
    'Make apps of definitions, or change apps to what their definitions say now.',
    'daicho app apply orders.yaml customers.yaml',
    'daicho app apply --dry-run orders.yaml',
  )
    .argument('<file...>', 'definitions, YAML or JSON')
    .option('--dry-run', 'only say what would be done')
    .option('--allow-data-loss', 'do it even if values are lost')
    .addOption(jsonOption())
    .action(async (files: readonly string[], options: Options, command: Command) => {
      const definitions = await readAll(context, files);
      if (definitions === null) return context.fail();
      return withRegister(context, command, (register) => applyAll(context, register, definitions, options));
    });
}

/** Every definition, or null after every problem was told. */
async function readAll(context: Context, files: readonly string[]): Promise<readonly Definition[] | null> {
  // Only when it is needed: reading YAML takes memory that a server would keep.
  const { readDefinition } = await import('../operations/read-definition.ts');
  const definitions: Definition[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const read = readDefinition(file, readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
    if ('problems' in read) problems.push(...read.problems);
    else definitions.push({ file, ...read });
  }
  const codes = new Map<string, string>();
  for (const { file, app } of definitions) {
    const other = codes.get(app.code);
    if (other === undefined) codes.set(app.code, file);
    else problems.push(`${file}: defines the app ${app.code}, which ${other} defines too`);
  }
  for (const problem of problems) context.note(problem);
  return problems.length > 0 ? null : definitions;
}

async function applyAll(
  context: Context,
  register: Register,
  definitions: readonly Definition[],
  { allowDataLoss = false, dryRun = false, json }: Options,
): Promise<void> {
  const reports: Report[] = [];
  const before = { allowDataLoss: true, dryRun: true, progress: () => {} };
  for (const definition of definitions) {
    const applied = await register.apply(definition.app, definition.source, before);
    reports.push({ ...definition, applied, losses: await lossesOf(register, definition.app.code, applied) });
  }
  const isRefused = !allowDataLoss && reports.some(({ losses }) => losses.length > 0);
  const isPlan = isRefused || dryRun;
  const bar = context.startProgress('records');
  for (const report of reports) {
    if (!isPlan) await register.apply(report.app, report.source, { allowDataLoss, dryRun, progress: bar.report });
    bar.end();
    if (!json) describe(context, report, isPlan);
  }
  if (json) context.printJson(reports.map((report) => reportJson(report, !isPlan)));
  if (isRefused)
    throw new Mistake('nothing was applied, because values would be lost; to lose them, add --allow-data-loss');
}

async function lossesOf(
  register: Register,
  code: string,
  { kind, change, unreadable }: Applied,
): Promise<readonly string[]> {
  if (kind !== 'changed' || (await register.countRecords(code)) === 0) return [];
  const lost = unreadable.map(
    ({ field, count, example }) =>
      `${count} values of ${field} cannot be read as its new type, such as ${JSON.stringify(example)}`,
  );
  return [...change.losses, ...lost];
}

function describe(context: Context, { file, app, applied, losses }: Report, isPlan: boolean): void {
  const { code } = app;
  const { kind, change, records } = applied;
  if (kind === 'created') context.print(`${code}: ${isPlan ? 'would be made' : 'made'} from ${file}\n`);
  else if (kind === 'unchanged') context.print(`${code}: nothing to change\n`);
  else {
    context.print(
      `${code}: ${isPlan ? 'would be changed' : 'changed'} to ${file}${records > 0 ? `, ${records} records` : ''}\n`,
    );
    for (const step of change.steps) context.print(`  ${step}\n`);
  }
  for (const loss of losses) context.print(`  LOST: ${loss}\n`);
}

function reportJson({ file, app, applied, losses }: Report, isApplied: boolean): unknown {
  const { kind, change, unreadable, records } = applied;
  return { file, app: app.code, kind, applied: isApplied, steps: change.steps, losses, unreadable, records };
}
