// Who may import whom, and what only some may do, as data; and a loop over the lines of src/ (ARCHITECTURE).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';

const SRC = join(import.meta.dirname, '../src');

/** The rooms by floor, ground floor first: a room may import those below it, and itself. Folders end in `/`. */
const FLOORS: readonly (readonly string[])[] = [
  ['wire.ts', 'errors.ts', 'json.ts'],
  ['app/'],
  ['fields/'],
  ['formulas/', 'search/', 'update/', 'auth/'],
  ['envelope/', 'messages/'],
  ['sql/'],
  ['store/', 'files/'],
  ['config/'],
  ['operations/'],
  ['http/', 'console/'],
  ['cli/'],
  ['main.ts', 'index.ts'],
];

/** Imports beside the order of the floors: file or room → what it may import too. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  // A definition is read by what its types can do, and its formulas are read with it.
  'app/define': ['fields/', 'formulas/'],
  'app/definition-section.ts': ['fields/field-type.ts'],
  'app/definition-change.ts': ['fields/field-types.ts'],
  // What a column holds is found out by reading it as each type.
  'app/infer.ts': ['fields/'],
};

/** Imports that the order of the floors would allow: room → what it may not import all the same. */
const NOT: Readonly<Record<string, readonly string[]>> = {
  'store/': ['config/', 'messages/'],
  'config/': ['app/', 'fields/', 'search/', 'update/', 'auth/', 'envelope/', 'messages/', 'sql/', 'store/', 'files/'],
  'sql/': ['messages/', 'envelope/', 'auth/'],
  // The log is asked for; the settings are given.
  'operations/': ['config/config.ts', 'config/env.ts'],
  'http/': ['config/config.ts', 'config/env.ts'],
};

/** No package, no `node:` module, no clock, no random number. */
const PURE = [
  'wire.ts',
  'errors.ts',
  'json.ts',
  'app/',
  'fields/',
  'formulas/',
  'search/',
  'update/',
  'auth/',
  'envelope/',
  'messages/',
  'sql/',
];
const IMPURE =
  /\bDate\b|\bMath\.random\b|\bprocess\b|\bperformance\b|\bcrypto\b|\bset(?:Timeout|Interval|Immediate)\b|\bfetch\(/;

/** Package → the only places that import it. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'better-sqlite3': ['store/sqlite/'],
  postgres: ['store/postgres/'],
  commander: ['cli/'],
  yaml: ['operations/', 'cli/app-show.ts'],
  'csv-parse': ['operations/'],
  '@fastify/busboy': ['http/'],
  sharp: ['files/image-decoder.ts'],
  '@aws-sdk/client-s3': ['files/s3.ts'],
};

/** Words → the only places whose code may contain them. */
const WORDS: readonly { readonly what: string; readonly word: RegExp; readonly only: readonly string[] }[] = [
  {
    what: 'the letters rkwa_',
    word: /rkwa_/i,
    // identifier.ts reserves the prefix, so that no name of a definition clashes with the envelope.
    only: ['envelope/', 'wire.ts', 'app/identifier.ts'],
  },
  { what: 'process.env', word: /\bprocess\.env\b/, only: ['config/env.ts'] },
  {
    what: "a comparison of a field's type",
    word: /\.type\s*[!=]==?|[!=]==?\s*\w+(?:\?)?\.type\b|switch \([^)]*\btype\)|\.type\)? ===? /,
    only: ['fields/', 'app/define'],
  },
];

const MOST_LINES = 400;

const files = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(SRC, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  .sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]));

/** What stands on a line but its comment. */
function codeOf(line: string): string {
  return /^\s*(?:\/\/|\/?\*)/.test(line) ? '' : line.replace(/\s\/\/ .*$/, '');
}

/** Every module that a file imports, types included, with its line. */
function importsOf(file: string): { readonly from: string; readonly line: number }[] {
  const text = texts.get(file) ?? '';
  const found = text.matchAll(/(?:^|[;\s}])(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g);
  return Array.from(found, ({ 1: from = '', index }) => ({
    from,
    line: text.slice(0, index).split('\n').length,
  })).filter(({ line }) => codeOf(text.split('\n')[line - 1] ?? '') !== '');
}

const isIn = (file: string, places: readonly string[]) => places.some((place) => file.startsWith(place));
const floorOf = (file: string) => FLOORS.findIndex((rooms) => isIn(file, rooms));
const roomOf = (file: string) => (file.includes('/') ? `${file.split('/')[0]}/` : file);

function mayImport(file: string, imported: string): boolean {
  if (roomOf(file) === roomOf(imported)) return true;
  const forbidden = Object.entries(NOT).filter(([place]) => file.startsWith(place));
  if (forbidden.some(([, places]) => isIn(imported, places))) return false;
  if (floorOf(imported) < floorOf(file)) return true;
  // The ground floor's files are one room.
  if (floorOf(imported) === 0 && floorOf(file) === 0) return true;
  return Object.entries(BESIDE).some(([place, places]) => file.startsWith(place) && isIn(imported, places));
}

/** `file:line text` of every line of code that has the word. */
function linesWith(word: RegExp, places: (file: string) => boolean): string[] {
  return files
    .filter(places)
    .flatMap((file) =>
      (texts.get(file) ?? '')
        .split('\n')
        .flatMap((line, index) => (word.test(codeOf(line)) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
    );
}

describe('who may import whom', () => {
  test('every file stands in a room of the house', () => {
    assert.deepEqual(
      files.filter((file) => floorOf(file) < 0),
      [],
    );
  });

  test('a room imports only what is below it', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter(({ from }) => from.startsWith('.'))
        .map(({ from, line }) => ({
          line,
          imported: relative(SRC, join(SRC, dirname(file), from)).replaceAll('\\', '/'),
        }))
        .filter(({ imported }) => !mayImport(file, imported))
        .map(({ line, imported }) => `${file}:${line} imports ${imported}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('an import names a file that is there', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter(
          ({ from }) =>
            from.startsWith('.') && !texts.has(relative(SRC, join(SRC, dirname(file), from)).replaceAll('\\', '/')),
        )
        .map(({ from, line }) => `${file}:${line} ${from}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('pure rooms import no package and no node: module', () => {
    const wrong = files
      .filter((file) => isIn(file, PURE))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ from }) => !from.startsWith('.'))
          .map(({ from }) => `${file} ${from}`),
      );
    assert.deepEqual(wrong, []);
  });

  test('packages are imported only where they belong, and modules of Node by their full name', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter(({ from }) => !from.startsWith('.') && !from.startsWith('node:'))
        .filter(({ from }) => builtinModules.includes(from) || !isIn(file, PACKAGES[packageOf(from)] ?? []))
        .map(({ from, line }) => `${file}:${line} imports ${from}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('the types of the wire are all that the file of the wire holds', () => {
    assert.deepEqual(
      linesWith(/^(?:export )?(?:const|let|function|class|enum)\b|^import (?!type)/, (file) => file === 'wire.ts'),
      [],
    );
  });
});

function packageOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

describe('what only some may do', () => {
  test('pure rooms use no clock, no random number, nothing of the process', () => {
    assert.deepEqual(
      linesWith(IMPURE, (file) => isIn(file, PURE)),
      [],
    );
  });

  for (const { what, word, only } of WORDS) {
    test(`${what}: only in ${only.join(', ')}`, () => {
      assert.deepEqual(
        linesWith(word, (file) => !isIn(file, only)),
        [],
      );
    });
  }
});

describe('how files are', () => {
  test(`no file has more than ${MOST_LINES} lines`, () => {
    assert.deepEqual(
      files.filter((file) => (texts.get(file) ?? '').split('\n').length > MOST_LINES + 1),
      [],
    );
  });

  test('every file opens with a sentence that says what it is', () => {
    assert.deepEqual(
      files.filter((file) => !/^(?:#!.*\n)?\/\/ \S/.test(texts.get(file) ?? '')),
      [],
    );
  });
});
