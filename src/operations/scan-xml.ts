// XML, piece by piece → its tags and texts. Names are without their prefix; a document type is refused, so that nothing is declared in it.

export interface XmlHandler {
  /** `attributes` as they are written: `attributeOf` finds one of them. */
  open(name: string, attributes: string): void;
  text(text: string): void;
  close(name: string): void;
}

export interface XmlScanner {
  push(text: string): void;
  /** The text has ended; throws where it is not whole. */
  finish(): void;
}

/** Characters of a tag or of a text between tags. */
const LONGEST = 16_000_000;

/** A text that is not XML as it is read here. */
export class NotXml extends Error {}

export function scanXml({ open, text: onText, close }: XmlHandler): XmlScanner {
  let text = '';
  let depth = 0;

  const tag = (inside: string) => {
    if (inside.charCodeAt(0) === 47) {
      depth--;
      close(localName(inside.slice(1).trimEnd()));
      return;
    }
    const isEmpty = inside.charCodeAt(inside.length - 1) === 47;
    const end = inside.search(/[\s/]/);
    const name = localName(end < 0 ? inside : inside.slice(0, end));
    open(name, end < 0 ? '' : inside.slice(end, isEmpty ? -1 : undefined));
    if (isEmpty) close(name);
    else depth++;
  };

  /** Where what begins with `<` ends, having told it; -1 where it is not whole yet. */
  const markup = (at: number): number => {
    const next = text.charCodeAt(at + 1);
    if (next !== 33 && next !== 63) {
      const end = tagEnd(text, at + 1);
      if (end >= 0) tag(text.slice(at + 1, end));
      return end < 0 ? -1 : end + 1;
    }
    if (next === 63) return after('?>', at);
    if (text.startsWith('<!--', at)) return after('-->', at + 4);
    if (text.startsWith('<![CDATA[', at)) {
      const end = text.indexOf(']]>', at);
      if (end >= 0) onText(text.slice(at + 9, end).replace(/\r\n?/g, '\n'));
      return end < 0 ? -1 : end + 3;
    }
    if (text.length - at < 9) return -1;
    throw new NotXml('it has a document type');
  };
  const after = (end: string, at: number) => {
    const found = text.indexOf(end, at);
    return found < 0 ? -1 : found + end.length;
  };

  return {
    push(piece) {
      text = text === '' ? piece : text + piece;
      let at = 0;
      while (at < text.length) {
        const next = text.charCodeAt(at) === 60 ? markup(at) : text.indexOf('<', at);
        if (next < 0) break;
        if (text.charCodeAt(at) !== 60 && depth > 0) onText(unescaped(text.slice(at, next)));
        at = next;
      }
      text = text.slice(at);
      if (text.length > LONGEST) throw new NotXml('a tag or a text in it does not end');
    },
    finish() {
      if (depth !== 0 || text.trim() !== '') throw new NotXml('it ends too early');
    },
  };
}

const ATTRIBUTE = /\s*([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/** The value of an attribute, whatever its prefix; null where there is none. */
export function attributeOf(attributes: string, name: string): string | null {
  ATTRIBUTE.lastIndex = 0;
  for (let found = ATTRIBUTE.exec(attributes); found !== null; found = ATTRIBUTE.exec(attributes)) {
    if (localName(found[1] as string) === name) return unescaped(found[2] ?? found[3] ?? '');
  }
  return null;
}

/** The `>` that ends a tag: one in quotes does not. */
function tagEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 62) return at;
    if (code !== 34 && code !== 39) continue;
    at = text.indexOf(code === 34 ? '"' : "'", at + 1);
    if (at < 0) return -1;
  }
  return -1;
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1);

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

function unescaped(text: string): string {
  const plain = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  if (!plain.includes('&')) return plain;
  return plain.replace(/&([^;&]*);?/g, (whole, name: string) => {
    const point = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
    const code =
      point === null ? -1 : Number.parseInt(point[1] ?? (point[2] as string), point[1] === undefined ? 10 : 16);
    const character = NAMED.get(name) ?? (code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : null);
    if (character === null || !whole.endsWith(';')) throw new NotXml(`${whole.slice(0, 20)} is not XML`);
    return character;
  });
}
