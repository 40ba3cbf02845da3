// JSON is read as JSON.parse reads it, but for `\'`, repeated keys and depth (D2).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type JsonValue, MAX_DEPTH, parseJson } from '../../src/json.ts';

/** As JSON.parse gives it: Maps become objects with members of their own. */
function plain(value: JsonValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]));
  return Array.isArray(value) ? value.map((element: JsonValue) => plain(element)) : value;
}

/** What JSON.parse makes of a text; `undefined` where it refuses. */
function reference(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function compare(text: string): void {
  const read = parseJson(text);
  const expected = reference(text);
  if ('value' in read) {
    if (expected === undefined) {
      // The one thing it takes beyond JSON; `\\'` is a backslash and an apostrophe.
      const withoutEscape = text.replace(/\\(.)/gs, (pair, escaped: string) => (escaped === "'" ? "'" : pair));
      assert.notEqual(withoutEscape, text, JSON.stringify(text));
      assert.deepEqual({ value: plain(read.value) }, reference(withoutEscape), JSON.stringify(text));
    } else assert.deepEqual(plain(read.value), expected.value, JSON.stringify(text));
    return;
  }
  if (read.fault === 'syntax') assert.equal(expected, undefined, JSON.stringify(text));
  assert.ok(read.position >= 1 && read.position <= text.length + 1, JSON.stringify(text));
}

const spaced = fc
  .tuple(fc.json({ maxDepth: 6, stringUnit: 'binary' }), fc.constantFrom(0, 1, '\t', '\r\n'))
  .map(([json, indent]) => {
    return typeof indent === 'number' && indent === 0 ? json : JSON.stringify(JSON.parse(json), null, indent);
  });

test('random JSON is read as JSON.parse reads it', () => {
  fc.assert(fc.property(spaced, compare), { numRuns: 2_000 });
});

const PIECES = [
  ...[
    '"',
    "'",
    '\\',
    "\\'",
    '\\u',
    '\\u00e',
    '\\ud83d',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    ' ',
    '\n',
    '\f',
    '\u00a0',
    '\ufeff',
    '\0',
  ],
  ...[
    '1',
    '-',
    '+',
    '.',
    'e',
    'E5',
    '0',
    '01',
    '1e999',
    'true',
    'false',
    'null',
    'tru',
    'NaN',
    '/*x*/',
    '"a":1',
    '\u2028',
    '\ud83d',
  ],
];

const mutated = fc
  .tuple(
    spaced,
    fc.array(fc.tuple(fc.nat(200), fc.nat(3), fc.constantFrom('', ...PIECES)), { minLength: 1, maxLength: 3 }),
  )
  .map(([json, changes]) => {
    let text = json;
    for (const [at, length, piece] of changes) {
      const start = at % (text.length + 1);
      text = text.slice(0, start) + piece + text.slice(start + length);
    }
    return text;
  });

test('JSON with mistakes is refused where JSON.parse refuses it, and read where it reads it', () => {
  fc.assert(fc.property(mutated, compare), { numRuns: 20_000 });
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join('')),
      compare,
    ),
    { numRuns: 20_000 },
  );
});

test('a repeated key is found, whichever way it is written', () => {
  assert.deepEqual(parseJson('{"a":1, "\\u0061":2}'), { fault: 'repeated_key', position: 9, key: 'a' });
  assert.deepEqual(parseJson('{"x":{"__proto__":1,"__proto__":2}}'), {
    fault: 'repeated_key',
    position: 21,
    key: '__proto__',
  });
});

test(`nesting is read to ${MAX_DEPTH} levels and refused beyond, however deep`, () => {
  assert.ok('value' in parseJson('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)));
  for (const depth of [MAX_DEPTH + 1, 1_000_000]) {
    assert.deepEqual(parseJson('['.repeat(depth)), { fault: 'too_deep', position: MAX_DEPTH + 1 });
    assert.deepEqual(parseJson('{"a":'.repeat(depth)), { fault: 'too_deep', position: MAX_DEPTH * 5 + 1 });
  }
});
