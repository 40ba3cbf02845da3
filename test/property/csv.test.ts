// CSV: what is written comes back, however the text is cut into pieces (P13).
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { scanCsv } from '../../src/operations/scan-csv.ts';

const cell = fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '\r\n', ' ', 'a', '東', '😀', '') });

test('P13: random cells, quoted or not, in random pieces and with any line end, are read back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      fc.array(fc.nat(12), { maxLength: 40 }),
      (rows, lineEnd, isQuoted, cuts) => {
        const quoted = (text: string) => (isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
        const text = rows.map((row) => row.map(quoted).join(',') + lineEnd).join('');
        const scanner = scanCsv();
        const lines: { cells: readonly string[]; fault?: string }[] = [];
        let from = 0;
        for (const cut of cuts) {
          lines.push(...scanner.push(text.slice(from, from + cut)));
          from += cut;
        }
        lines.push(...scanner.push(text.slice(from)), ...scanner.finish());
        assert.deepEqual(
          lines.map(({ cells, fault }) => fault ?? cells),
          // A line without anything is left out; one quoted cell that is empty is not nothing.
          rows.filter((row) => isQuoted || row.length > 1 || row[0] !== ''),
        );
      },
    ),
    { numRuns: 2_000 },
  );
});
