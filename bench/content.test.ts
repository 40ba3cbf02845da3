// Proves that the bench's contents are as large as asked for and never the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentOf, digestOf } from './content.ts';

const MIB = 1 << 20;

test('a content has the size that is asked for', () => {
  for (const bytes of [0, 1, 16, 17, MIB - 1, MIB, MIB + 1, 3 * MIB + 5]) {
    const sizes = Array.from(contentOf(1, bytes), (piece) => piece.length);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      bytes,
    );
  }
});

test('contents of two numbers differ, and so do the blocks of one', () => {
  assert.notEqual(digestOf(1, MIB), digestOf(2, MIB));
  assert.equal(digestOf(1, MIB), digestOf(1, MIB));
  const whole = Buffer.concat(Array.from(contentOf(1, 2 * MIB)));
  assert.notDeepEqual(whole.subarray(0, MIB), whole.subarray(MIB));
});
