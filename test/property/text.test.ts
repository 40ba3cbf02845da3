// What searches and requests rest on: folding, order of texts, bounds of a prefix, urlencoded bodies (D2, D3, D17, P03).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Problem } from '../../src/errors.ts';
import { naturalOrder } from '../../src/fields/auto-number.ts';
import { parseUrlencoded } from '../../src/http/form.ts';
import { fold } from '../../src/search/fold.ts';
import { reverse } from '../../src/search/methods.ts';
import { afterPrefix } from '../../src/sql/conditions.ts';
import { compareNaturally, plainFold } from './plain-filter.ts';

const JAPANESE = [
  ...'あアｱがガゝヽヾーカ゛ﾞ゙京都ＡａA1１①㈱ﬁΣςσßẞİıヷヸヺワわを，､',
  '\u{1f600}',
  'e\u0301',
  '\u{2f804}',
];
const japanese = fc.array(fc.constantFrom(...JAPANESE), { maxLength: 8 }).map((some) => some.join(''));
const anyText = fc.oneof(
  japanese,
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const compareBytes = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** Every code point that a text can hold. */
function* codePoints(): Generator<string> {
  for (let point = 1; point <= 0x10ffff; point++)
    if (point < 0xd800 || point > 0xdfff) yield String.fromCodePoint(point);
}

test('D17: folding twice is folding once', () => {
  for (const character of codePoints()) if (fold(fold(character)) !== fold(character)) assert.fail(pointsOf(character));
  fc.assert(
    fc.property(anyText, (text) => assert.equal(fold(fold(text)), fold(text), pointsOf(text))),
    { numRuns: 5_000 },
  );
});

test('D17: folding is NFKC, small letters, Hiragana', () => {
  for (const character of codePoints()) if (fold(character) !== plainFold(character)) assert.fail(pointsOf(character));
  fc.assert(
    fc.property(anyText, (text) => assert.equal(fold(text), plainFold(text), pointsOf(text))),
    { numRuns: 5_000 },
  );
});

test('D17: letter case, full and half width, Hiragana and Katakana make no difference', () => {
  const rows = [
    ['カブシキガイシャ', 'ｶﾌﾞｼｷｶﾞｲｼｬ', 'かぶしきがいしゃ'],
    ['ＡＢＣ－１２３', 'abc-123', 'Abc-123'],
    ['ヴヷヸヹヺヵヶヽヾ', 'ゔわ゙ゐ゙ゑ゙を゙ゕゖゝゞ', 'ｳﾞﾜﾞヸヹｦﾞヵヶヽヾ'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος', 'Σίσυφοσ'],
    ['STRASSE', 'Straße', 'STRAẞE', 'strasse'],
  ];
  for (const row of rows)
    assert.equal(new Set(row.map(fold)).size, 1, row.map((text) => pointsOf(fold(text))).join(' '));
});

test('D17: parts of a text of characters that stand alone are parts of it when folded', () => {
  // Characters that NFKC joins with their neighbours (voice marks, accents) are left out: there a part is another text.
  const alone = fc.array(fc.constantFrom(...'アあｱガ京都ＡａA1①㈱ﬁ'), { maxLength: 8 });
  fc.assert(
    fc.property(alone, fc.nat(8), fc.nat(8), (characters, from, to) => {
      const part = characters.slice(Math.min(from, to), Math.max(from, to)).join('');
      assert.ok(fold(characters.join('')).includes(fold(part)));
    }),
  );
});

test('the bound behind a prefix is above every text that begins with it, and below every other text above it', () => {
  const text = fc.oneof(
    anyText,
    fc.string({ unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'), maxLength: 4 }),
  );
  fc.assert(
    fc.property(text, text, (prefix, other) => {
      const end = afterPrefix(prefix);
      const inside = compareBytes(other, prefix) >= 0 && (end === null || compareBytes(other, end) < 0);
      assert.equal(inside, other.startsWith(prefix), `${pointsOf(prefix)} ${pointsOf(other)}`);
      assert.ok(end === null || compareBytes(prefix + other, end) < 0);
    }),
    { numRuns: 20_000 },
  );
});

test('a text backwards begins with its end backwards', () => {
  fc.assert(
    fc.property(anyText, anyText, (start, end) => {
      assert.equal(reverse(start + end), reverse(end) + reverse(start));
      assert.equal(reverse(reverse(start)), start);
    }),
  );
});

test('P03: auto numbers compare runs of digits as numbers, the rest by code points', () => {
  const piece = fc.constantFrom('A', 'B', '-', '/', ':', '0', '00', '1', '9', '10', '099', '年', '\u{1f600}', '\uffff');
  const number = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    fc
      .tuple(
        fc.constantFrom('A', ''),
        fc.constantFrom('1', '9'),
        fc.constantFrom(8, 9, 10, 98, 99, 100, 997, 998, 999, 1000, 1001, 9999),
      )
      .map(([start, digit, length]) => start + digit.repeat(length)),
  );
  fc.assert(
    fc.property(number, number, (a, b) => {
      assert.equal(
        compareBytes(naturalOrder(a), naturalOrder(b)),
        Math.sign(compareNaturally(a, b)),
        `${pointsOf(a)} ${pointsOf(b)}`,
      );
    }),
    { numRuns: 10_000 },
  );
});

test('D3: a well-formed urlencoded body is read as URLSearchParams reads it', () => {
  const entries = fc.uniqueArray(fc.tuple(anyText, anyText), { selector: ([name]) => name, maxLength: 6 });
  fc.assert(
    fc.property(entries, (parameters) => {
      const body = new URLSearchParams(parameters).toString();
      assert.deepEqual(read(body), [...new URLSearchParams(body)]);
    }),
    { numRuns: 3_000 },
  );
});

test('D3: so is one that encodes less, or leaves parts empty', () => {
  const piece = fc.constantFrom('a', 'b=', '=', '%41', '%e3%81%82', '+', 'あ', '\u{1f600}', '==', '%3D', '%26', '%2B');
  const body = fc.array(
    fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(body, (parts) => {
      const text = parts.join('&');
      const expected = [...new URLSearchParams(text)];
      fc.pre(new Set(expected.map(([name]) => name)).size === expected.length);
      assert.deepEqual(read(text), expected, text);
    }),
    { numRuns: 3_000 },
  );
});

/** A body that must be right. */
function read(body: string): [string, string][] {
  const problems: Problem[] = [];
  const form = parseUrlencoded(Buffer.from(body), problems);
  assert.deepEqual(problems, []);
  return [...form];
}

function pointsOf(text: string): string {
  return Array.from(text, (character) => `U+${character.codePointAt(0)?.toString(16)}`).join(' ');
}
