// The lines of a CSV file, as many at a time as a piece of it holds.
import { Mistake } from '../store/register.ts';
import { type Encoding, readText } from './read-text.ts';
import { type CsvLine, scanCsv, TOO_LONG } from './scan-csv.ts';

/** Lines of a file, and how many of its bytes are read by then. */
export interface LinesPiece {
  readonly lines: readonly CsvLine[];
  readonly bytes: number;
}

/** Reads a CSV file to its end. */
export async function* readCsv(file: string, encoding: Encoding): AsyncGenerator<LinesPiece> {
  const scanner = scanCsv();
  let read = 0;
  // CP932 has no such character: it stands for bytes that could not be read.
  let isBroken = false;
  const checked = (lines: readonly CsvLine[]) => (isBroken ? lines.map(markBroken) : lines);
  for await (const { text, bytes } of readText(file, encoding)) {
    isBroken ||= encoding === 'cp932' && text.includes('\ufffd');
    const lines = checked(scanner.push(text));
    read = bytes;
    yield { lines, bytes };
    const last = lines.at(-1);
    if (last?.fault === TOO_LONG) throw new Mistake(`${file}, line ${last.line}: ${TOO_LONG}`);
  }
  yield { lines: checked(scanner.finish()), bytes: read };
}

function markBroken(line: CsvLine): CsvLine {
  if (!line.cells.some((cell) => cell.includes('\ufffd'))) return line;
  return { ...line, fault: line.fault ?? 'it has bytes that are neither UTF-8 nor CP932' };
}
