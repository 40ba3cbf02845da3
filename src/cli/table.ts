// Rows of text as a table whose columns are aligned on a terminal, where East Asian characters are two columns wide.

/** The table's lines, the header first, each ended. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows.map((row) => row.map(printable))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? ''))));
  const formatted = lines.map((line) =>
    line
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - displayWidth(cell)))
      .join('  ')
      .trimEnd(),
  );
  return formatted.map((line) => `${line}\n`).join('');
}

/** Texts come from people: what would move the cursor or change colours is not shown. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/** Columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    width += isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
  }
  return width;
}

/** Code points that Unicode's East Asian Width calls wide or full width, in ranges that may hold a few unassigned ones. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function isWide(codePoint: number): boolean {
  return codePoint >= 0x1100 && WIDE.some(([first, last]) => codePoint >= first && codePoint <= last);
}
