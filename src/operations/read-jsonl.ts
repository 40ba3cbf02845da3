// The lines of a file of JSON lines, each a cell of its own, as many at a time as a piece of it holds.
import { Mistake } from '../store/register.ts';
import type { LinesPiece } from './read-csv.ts';
import { detectEncoding, readText } from './read-text.ts';
import { type CsvLine, MAX_LINE } from './scan-csv.ts';

/** Reads a file of JSON lines to its end. */
export async function* readJsonl(file: string): AsyncGenerator<LinesPiece> {
  await detectEncoding(file, 'utf-8');
  let line = 0;
  let rest = '';
  let read = 0;
  const linesOf = (texts: readonly string[]): CsvLine[] =>
    texts.map((text) => ({ cells: [text.trim()], line: ++line }));
  for await (const { text, bytes } of readText(file, 'utf-8')) {
    const texts = (rest + text).split('\n');
    rest = texts.pop() as string;
    read = bytes;
    if (rest.length > MAX_LINE)
      throw new Mistake(
        `${file}, line ${line + texts.length + 1}: it does not end within ${MAX_LINE.toLocaleString('en')} characters`,
      );
    yield { lines: linesOf(texts), bytes };
  }
  yield { lines: linesOf([rest]), bytes: read };
}
