// The word that was probably meant by a misspelt one.

/** The word at most two edits (a third of its length at most) away; undefined when none is that near. */
export function nearest(misspelt: string, words: readonly string[]): string | undefined {
  if (misspelt.length > 40) return undefined;
  let best: string | undefined;
  let least = Infinity;
  for (const word of words) {
    const edits = distance(misspelt.toLowerCase(), word.toLowerCase());
    if (edits < least && edits <= Math.min(2, Math.ceil(word.length / 3))) {
      best = word;
      least = edits;
    }
  }
  return best;
}

/** Insertions, deletions and substitutions, and swaps of neighbours, from one word to another. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let edits = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}
