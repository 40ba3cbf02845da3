// CSV text, piece by piece → lines of cells (RFC 4180). Hand-written: a general parser takes longer than all the rest of an import.

/** One line of a CSV file, which may go over several lines of text. */
export interface CsvLine {
  readonly cells: readonly string[];
  /** Number of the line of text it begins in, from 1. */
  readonly line: number;
  /** Why the line cannot be read as CSV. */
  readonly fault?: string;
}

export interface CsvScanner {
  /** The lines that are whole by now; empty ones are left out. */
  push(text: string): readonly CsvLine[];
  /** What is left when the text has ended. */
  finish(): readonly CsvLine[];
}

const COMMA = 44;
const QUOTE = 34;
const LF = 10;
const CR = 13;

/** Characters of a line; more of them mean that a quote is missing somewhere. */
export const MAX_LINE = 16_000_000;

export function scanCsv(): CsvScanner {
  let text = '';
  let line = 1;

  function scan(isLast: boolean): readonly CsvLine[] {
    const lines: CsvLine[] = [];
    const { length } = text;
    let start = 0;
    while (start < length) {
      const cells: string[] = [];
      let fault: string | undefined;
      let inside = 0;
      let at = start;
      let end = -1;
      while (end < 0) {
        if (text.charCodeAt(at) === QUOTE) {
          const close = closingQuote(text, at + 1);
          if (close < 0 && !isLast) return rest(start, lines);
          const to = close < 0 ? length : close;
          const cell = text.slice(at + 1, to);
          inside += lineBreaks(cell);
          at = close < 0 ? length : close + 1;
          const after = at;
          while (at < length && !isSeparator(text.charCodeAt(at))) at++;
          if (close < 0) fault = `a quote is opened and never closed`;
          else if (at > after) fault = `there is text after a closing quote`;
          cells.push((cell.includes('"') ? cell.replaceAll('""', '"') : cell) + text.slice(after, at));
        } else {
          const from = at;
          for (; at < length; at++) {
            const code = text.charCodeAt(at);
            if (code === COMMA || code === LF || code === CR) break;
          }
          cells.push(text.slice(from, at));
        }
        if (at >= length) {
          if (!isLast) return rest(start, lines);
          end = length;
        } else if (text.charCodeAt(at) === COMMA) at++;
        else if (text.charCodeAt(at) === LF) end = at + 1;
        else if (at + 1 === length && !isLast) return rest(start, lines);
        else end = text.charCodeAt(at + 1) === LF ? at + 2 : at + 1;
      }
      const isEmpty = cells.length === 1 && cells[0] === '' && text.charCodeAt(start) !== QUOTE;
      if (!isEmpty) lines.push(fault === undefined ? { cells, line } : { cells, line, fault });
      line += 1 + inside;
      start = end;
    }
    text = '';
    return lines;
  }

  /** Keeps the line that is not whole for the next piece. */
  function rest(start: number, lines: readonly CsvLine[]): readonly CsvLine[] {
    text = text.slice(start);
    if (text.length <= MAX_LINE) return lines;
    const faulty = { cells: [text.slice(0, 100)], line, fault: TOO_LONG };
    text = '';
    return [...lines, faulty];
  }

  return {
    push(piece) {
      text = text === '' ? piece : text + piece;
      return scan(false);
    },
    finish: () => scan(true),
  };
}

/** The fault of a line after which nothing can be read. */
export const TOO_LONG = `a quote is opened and not closed within ${MAX_LINE.toLocaleString('en')} characters`;

/** The quote that closes a cell; -1 where it is not there, or could be the first of two. */
function closingQuote(text: string, from: number): number {
  let close = text.indexOf('"', from);
  while (close >= 0 && text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
  return close;
}

function isSeparator(code: number): boolean {
  return code === COMMA || code === LF || code === CR;
}

function lineBreaks(cell: string): number {
  let count = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) count++;
  return count;
}
