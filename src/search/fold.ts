// Folding: letter case, full and half width, Hiragana and Katakana make no difference (D17).

// Kanji, Hiragana, punctuation that NFKC leaves alone, plain ASCII without capitals: text that folding does not change.
const UNCHANGED = /^[ -@[-~\u3001-\u301d\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\r\n\t]*$/;
const KATAKANA = /[\u30a1-\u30fa\u30fd\u30fe]/g;
// These four have no Hiragana of one character.
const VOICED = new Map([...'ヷヸヹヺ'].map((kana, index) => [kana, `${'わゐゑを'.charAt(index)}\u3099`]));

/** The form in which texts that differ only in case, width or kana are equal. */
export function fold(text: string): string {
  if (UNCHANGED.test(text)) return text;
  return (
    text
      .normalize('NFKC')
      // Down, up and down again: what has no capital of one letter (ß) meets its capital (ẞ) and its capitals (SS).
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .normalize('NFKC')
      .replaceAll('ς', 'σ')
      .replace(KATAKANA, (kana) => VOICED.get(kana) ?? String.fromCharCode(kana.charCodeAt(0) - 0x60))
  );
}
