// Compares statements with the text files that hold them. UPDATE_GOLDEN=1 writes the files anew.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A statement that was run. */
export interface Ran {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface Golden {
  /** Compares with the file, or writes it. */
  compare(name: string, title: string, ran: readonly Ran[]): void;
  /** Proves that no file is left of a search that is no more. */
  assertNoOther(): void;
}

/** The files of one engine; `clauses` are the words that begin a line. */
export function goldenIn(folder: string, clauses: string): Golden {
  const written = new Set<string>();
  const lineStart = new RegExp(` (?=(?:${clauses})\\b)`, 'g');
  return {
    compare(name, title, ran) {
      const text = shown(title, ran, lineStart);
      const file = join(folder, `${name}.sql`);
      written.add(`${name}.sql`);
      if (process.env.UPDATE_GOLDEN === '1') {
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, text);
      } else assert.equal(text, readFileSync(file, 'utf8'), `${name}.sql is another; UPDATE_GOLDEN=1 writes it anew`);
    },
    assertNoOther: () => assert.deepEqual(readdirSync(folder).sort(), [...written].sort()),
  };
}

/** Statements with their values, a clause a line. */
function shown(title: string, ran: readonly Ran[], lineStart: RegExp): string {
  const statements = ran.map(({ text, values }) => {
    const lines = text.replace(lineStart, '\n  ');
    const list = values.map((value) => (typeof value === 'string' ? visible(value) : String(value)));
    return `${lines};\n${list.map((value) => `-- ${value}\n`).join('')}`;
  });
  return `-- ${title}\n\n${statements.join('\n')}`;
}

/** Private use characters and controls as escapes; times as they may be, those of the records aside, which lie in 2024. */
function visible(value: string): string {
  const escaped = JSON.stringify(value).replace(
    /[\ue000-\uf8ff\u{10ffff}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  const written = /\b(?!2024)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g;
  return escaped.replace(written, 'YYYY-MM-DD HH:MM:SS');
}
