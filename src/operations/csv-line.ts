// A line of CSV as it is written.

/** The line (RFC 4180), with CR LF at its end; cells that need no quotes have none. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}
