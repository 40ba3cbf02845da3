// Text → CP932: the inverse of the decoder that an import reads with, so that what was written comes back.

/** Stands for no character in the table: no character has two bytes that are zero but NUL, which no value has. */
const NONE = 0;
/** Rows that NEC put characters of IBM into a second time; Windows writes these as IBM has them. */
const SECOND = [0xed, 0xee];

let known: Uint16Array | undefined;

/** UTF-16 unit → its byte, or its two bytes; 0 for those that CP932 does not have. */
function table(): Uint16Array {
  if (known !== undefined) return known;
  const decoder = new TextDecoder('shift_jis');
  const codes = new Uint16Array(0x10000);
  const note = (...bytes: readonly number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes));
    const unit = text.charCodeAt(0);
    if (text.length === 1 && unit !== 0xfffd && codes[unit] === NONE) {
      codes[unit] = bytes.reduce((code, byte) => code * 256 + byte, 0);
    }
  };
  for (let byte = 0; byte < 0x100; byte++) note(byte);
  for (let lead = 0x81; lead < 0xfd; lead++) {
    if (SECOND.includes(lead)) continue;
    for (let trail = 0x40; trail < 0xfd; trail++) note(lead, trail);
  }
  known = codes;
  return codes;
}

/** The bytes; null where a character is not in CP932. */
export function encodeCp932(text: string): Buffer | null {
  const codes = table();
  const bytes = Buffer.allocUnsafe(text.length * 2);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = codes[text.charCodeAt(at)] as number;
    if (code === NONE) return null;
    if (code > 0xff) bytes[length++] = code >> 8;
    bytes[length++] = code & 0xff;
  }
  return bytes.subarray(0, length);
}

/** The first character of a text that CP932 does not have; null where it has them all. */
export function notInCp932(text: string): string | null {
  for (const character of text) if (encodeCp932(character) === null) return character;
  return null;
}
