// `app infer`: a definition inferred from the columns of a CSV or XLSX file.
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { isIdentifier, RESERVED_FOR_APP_CODE } from '../app/identifier.ts';
import { startInference } from '../app/infer.ts';
import { openLines, readHeader, type SourceOptions } from '../operations/source.ts';
import { Mistake } from '../store/register.ts';
import type { Context } from './context.ts';
import { describeCommand, encodingOption } from './options.ts';

export function appInfer(context: Context): Command {
  return describeCommand(
    'infer',
    'Print a definition inferred from the columns of a CSV or XLSX file: types, lengths, choices.',
    'daicho app infer addresses.csv --code ADDRESSES > addresses.yaml',
  )
    .argument('<file>', 'CSV or XLSX file with a header row')
    .requiredOption('--code <code>', 'app code of the definition')
    .addOption(encodingOption())
    .option('--sheet <name>', 'sheet of an XLSX file; the first that is not hidden where it is left out')
    .action(async (file: string, { code, ...options }: { code: string } & SourceOptions) => {
      if (!isIdentifier(code, RESERVED_FOR_APP_CODE)) {
        throw new Mistake(`--code is ${JSON.stringify(code)}; expected letters, digits, '_' and '-', 1 to 64 of them`);
      }
      context.print(await infer(context, file, code, options));
    });
}

async function infer(context: Context, file: string, code: string, options: SourceOptions): Promise<string> {
  const size = statSync(file).size;
  const { format, pieces } = await openLines(file, options);
  if (format === 'jsonl') throw new Mistake(`${file} is read from CSV or XLSX, with a header row`);
  const bar = context.startProgress('rows');
  const [header, ...first] = await readHeader(file, pieces);
  const inference = startInference(header.cells, { code });
  for (const { cells } of first) inference.add(cells);
  let rows = first.length;
  for await (const { lines, bytes } of pieces) {
    for (const { cells } of lines) inference.add(cells);
    rows += lines.length;
    bar.report(rows, bytes > 0 ? Math.round((rows * size) / bytes) : 0);
  }
  bar.end();
  return inference.finish();
}
