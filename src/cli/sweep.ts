// `sweep`: removes versions older than the history is kept, files that no record has, and what interrupted uploads left.
import { type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../config/config.ts';
import { LEAST_USELESS_FOR, type SweepReport, sweep as sweepRegister, USELESS_FOR } from '../operations/sweep-files.ts';
import { type Context, withFiles, withRegister } from './context.ts';
import { addFileSettings, describeCommand, jsonOption } from './options.ts';

const MINUTE = 60_000;
const LEAST = LEAST_USELESS_FOR / MINUTE;

interface Options {
  readonly olderThan: number;
  readonly json?: true;
}

export function sweep(context: Context): Command {
  const command = describeCommand(
    'sweep',
    'Remove versions that are older than the history is kept, files that nothing has, and what interrupted uploads left. The server does it once a day.',
    'daicho sweep',
    'daicho sweep --older-than 1440',
  )
    .option(
      '--older-than <minutes>',
      `leave what is younger; at least ${LEAST}, since an update may be about to need it`,
      readMinutes,
      USELESS_FOR / MINUTE,
    )
    .addOption(jsonOption())
    .action(({ olderThan, json }: Options, used: Command) =>
      withFiles(context, used, (files) =>
        withRegister(context, used, async (register) => {
          const { historyDays } = readConfig(['historyDays'], used.optsWithGlobals(), context.environment);
          const report = await sweepRegister(register, files, { historyDays, uselessFor: olderThan * MINUTE });
          if (json) context.printJson({ place: files.place, ...report });
          else context.print(describe(report, files.place));
        }),
      ),
    );
  return addFileSettings(command, 'historyDays');
}

function readMinutes(text: string): number {
  const minutes = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (minutes < LEAST) throw new InvalidArgumentError(`Give minutes, at least ${LEAST}.`);
  return minutes;
}

function describe({ versions, files, contents, bytes, received }: SweepReport, place: string): string {
  const count = (number: number) => number.toLocaleString('en');
  return `${count(versions)} versions of records forgotten. ${place}: ${count(files)} files forgotten, ${count(contents)} contents removed (${count(bytes)} bytes), ${count(received)} interrupted uploads removed.\n`;
}
