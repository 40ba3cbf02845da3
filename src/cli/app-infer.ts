// `app infer`: a definition inferred from the columns of a CSV file.
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { isIdentifier, RESERVED_FOR_APP_CODE } from '../app/identifier.ts';
import { startInference } from '../app/infer.ts';
import { type CsvLine, readCsv } from '../operations/read-csv.ts';
import { detectEncoding, type Encoding } from '../operations/read-text.ts';
import { Mistake } from '../store/register.ts';
import type { Context } from './context.ts';
import { describeCommand, encodingOption } from './options.ts';

export function appInfer(context: Context): Command {
  return describeCommand(
    'infer',
    'Print a definition inferred from the columns of a CSV file: types, lengths, choices.',
    'daicho app infer addresses.csv --code ADDRESSES > addresses.yaml',
  )
    .argument('<file>', 'CSV file with a header row')
    .requiredOption('--code <code>', 'app code of the definition')
    .addOption(encodingOption())
    .action(async (file: string, { code, encoding }: { code: string; encoding?: Encoding }) => {
      if (!isIdentifier(code, RESERVED_FOR_APP_CODE)) {
        throw new Mistake(`--code is ${JSON.stringify(code)}; expected letters, digits, '_' and '-', 1 to 64 of them`);
      }
      context.print(await infer(context, file, code, encoding));
    });
}

async function infer(context: Context, file: string, code: string, encoding: Encoding | undefined): Promise<string> {
  const size = statSync(file).size;
  const reading = readCsv(file, await detectEncoding(file, encoding));
  const bar = context.startProgress('rows');
  let inference: ReturnType<typeof startInference> | null = null;
  let rows = 0;
  for await (const { lines, bytes } of reading) {
    for (const line of lines) {
      if (inference === null) inference = startInference(headerOf(file, line), { code });
      else {
        inference.add(line.cells);
        rows++;
      }
    }
    bar.report(rows, bytes > 0 ? Math.round((rows * size) / bytes) : 0);
  }
  bar.end();
  if (inference === null) throw new Mistake(`${file} has no header row`);
  return inference.finish();
}

function headerOf(file: string, { cells, fault }: CsvLine): readonly string[] {
  if (fault !== undefined) throw new Mistake(`${file}: the header row: ${fault}`);
  return cells;
}
