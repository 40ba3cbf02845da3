// The lines of a bulk request, from the file that they arrived in or from a parameter.
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';

const LINE_FEED = 10;

/** A line without its end, or why it cannot be read: it is no UTF-8, or too long. */
export type BulkLine = { readonly text: string } | { readonly fault: 'bad_encoding' | 'line_too_long' };

/** Lines some at a time. The last one needs no line feed at its end. */
export async function* linesOf(source: { readonly path: string } | { readonly text: string }, longest: number) {
  const pieces =
    'path' in source
      ? (createReadStream(source.path, { highWaterMark: 1 << 16 }) as AsyncIterable<Buffer>)
      : [Buffer.from(source.text)];
  let rest: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const lines: BulkLine[] = [];
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      lines.push(lineOf([...rest, piece.subarray(start, end)], size + end - start, longest));
      rest = [];
      size = 0;
      start = end + 1;
    }
    size += piece.length - start;
    // What is longer than any line may be is not kept.
    if (size <= longest) rest.push(piece.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield [lineOf(rest, size, longest)];
}

function lineOf(parts: readonly Buffer[], size: number, longest: number): BulkLine {
  if (size > longest) return { fault: 'line_too_long' };
  const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  return isUtf8(bytes) ? { text: bytes.toString('utf8').replace(/\r$/, '') } : { fault: 'bad_encoding' };
}
