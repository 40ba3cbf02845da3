// JSON as requests write it: strict, objects as Maps so that no name is special, `\'` accepted (D2).

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Why a text is not JSON as we read it; `position` counts UTF-16 units from 1. */
export interface JsonFault {
  readonly fault: 'syntax' | 'repeated_key' | 'too_deep';
  readonly position: number;
  /** The repeated key. */
  readonly key?: string;
}

/** Objects and arrays nested deeper than this are refused. */
export const MAX_DEPTH = 16;

/** The value of a JSON text, or what is wrong with it and where. */
export function parseJson(text: string): { readonly value: JsonValue } | JsonFault {
  const reader = new Reader(text);
  try {
    return { value: reader.document() };
  } catch (error) {
    if (error instanceof Fault) return error.fault;
    throw error;
  }
}

class Fault extends Error {
  readonly fault: JsonFault;
  constructor(fault: JsonFault) {
    super(fault.fault);
    this.fault = fault;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPES = new Map([
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail('syntax');
    return value;
  }

  #fail(fault: JsonFault['fault'], at = this.#at, key?: string): never {
    throw new Fault({ fault, position: at + 1, ...(key === undefined ? {} : { key }) });
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at++;
    }
  }

  #value(depth: number): JsonValue {
    this.#space();
    switch (this.#text.charCodeAt(this.#at)) {
      case 34:
        return this.#string();
      case 123:
        return this.#object(depth + 1);
      case 91:
        return this.#array(depth + 1);
      case 116:
        return this.#word('true', true);
      case 102:
        return this.#word('false', false);
      case 110:
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('syntax');
    this.#at += word.length;
    return value;
  }

  #number(): number {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) this.#fail('syntax');
    this.#at = NUMBER.lastIndex;
    return Number(match[0]);
  }

  #object(depth: number): JsonObject {
    if (depth > MAX_DEPTH) this.#fail('too_deep');
    const members = new Map<string, JsonValue>();
    this.#at++;
    this.#space();
    if (this.#text.charCodeAt(this.#at) === 125) {
      this.#at++;
      return members;
    }
    for (;;) {
      this.#space();
      const start = this.#at;
      if (this.#text.charCodeAt(start) !== 34) this.#fail('syntax');
      const key = this.#string();
      if (members.has(key)) this.#fail('repeated_key', start, key);
      this.#space();
      if (this.#text.charCodeAt(this.#at) !== 58) this.#fail('syntax');
      this.#at++;
      members.set(key, this.#value(depth));
      this.#space();
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 44 && code !== 125) this.#fail('syntax');
      this.#at++;
      if (code === 125) return members;
    }
  }

  #array(depth: number): readonly JsonValue[] {
    if (depth > MAX_DEPTH) this.#fail('too_deep');
    const values: JsonValue[] = [];
    this.#at++;
    this.#space();
    if (this.#text.charCodeAt(this.#at) === 93) {
      this.#at++;
      return values;
    }
    for (;;) {
      values.push(this.#value(depth));
      this.#space();
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 44 && code !== 93) this.#fail('syntax');
      this.#at++;
      if (code === 93) return values;
    }
  }

  #string(): string {
    const text = this.#text;
    let start = ++this.#at;
    let value = '';
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code === 34) return value + text.slice(start, this.#at++);
      if (Number.isNaN(code) || code < 32) this.#fail('syntax');
      if (code !== 92) {
        this.#at++;
        continue;
      }
      value += text.slice(start, this.#at) + this.#escape();
      start = this.#at;
    }
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at + 1);
    if (letter === 'u') {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('syntax');
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = ESCAPES.get(letter);
    if (character === undefined) this.#fail('syntax');
    this.#at += 2;
    return character;
  }
}
