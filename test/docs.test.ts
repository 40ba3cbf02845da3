// The reference says what the code does: every error code, field type, search method, command, setting and decision, and nothing else.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { FIELD_TYPES, SEARCH_METHODS, SYSTEM_FIELDS } from '../src/app/app.ts';
import { FIELD_SETTINGS } from '../src/app/field-settings.ts';
import { commandLine } from '../src/cli/cli.ts';
import { processContext } from '../src/cli/context.ts';
import { SETTINGS } from '../src/config/config.ts';
import { STATUS } from '../src/errors.ts';
import { fieldTypes } from '../src/fields/field-types.ts';
import type { FileStore } from '../src/files/file-store.ts';
import { MOST_BYTES } from '../src/files/image.ts';
import { routes } from '../src/http/routes.ts';
import { imageFormats } from '../src/operations/new-file.ts';
import { LEAST_USELESS_FOR, USELESS_FOR } from '../src/operations/sweep-files.ts';
import type { Store } from '../src/store/store.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCS = join(ROOT, 'docs');
const reference = (name: string) => readFileSync(join(DOCS, 'reference', name), 'utf8');

/** The rows of every table of a page, cell by cell; `section` is the heading above. */
function rowsOf(page: string): { readonly section: string; readonly cells: readonly string[] }[] {
  let section = '';
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('#')) section = line.replace(/^#+ /, '');
    if (!/^\|.*\|$/.test(line) || /^\|[-|]+\|$/.test(line)) return [];
    const cells = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return [{ section, cells }];
  });
}

const codesIn = (cell: string | undefined) => Array.from((cell ?? '').matchAll(/`([^`]+)`/g), ([, code = '']) => code);

describe('errors.md', () => {
  const rows = rowsOf(reference('errors.md')).filter(({ cells }) => /^`/.test(cells[0] ?? ''));

  test('D34: has every error code with its HTTP status, in their order, and nothing else', () => {
    const written = rows.map(({ cells: [code = '', status = ''] }) => [code.slice(1, -1), Number(status)]);
    assert.deepEqual(written, Object.entries(STATUS));
  });

  test('says of every code when it comes and what to do', () => {
    for (const { cells } of rows) {
      assert.equal(cells.length, 4, cells.join(' | '));
      for (const cell of cells.slice(2)) assert.match(cell, /^[`A-Z].*\.$/);
    }
  });
});

describe('definition.md', () => {
  const page = rowsOf(reference('definition.md'));
  const types = page.filter(({ section, cells }) => section === 'Field types' && cells[0] !== 'Type');

  test('D36: has every field type in its order, with the search methods and the keys that it can have', () => {
    const written = types.map(({ cells }) => [codesIn(cells[0])[0], codesIn(cells[2]), codesIn(cells[3]).sort()]);
    const expected = FIELD_TYPES.map((type) => {
      const { maxLength, choices, default: usual, format } = FIELD_SETTINGS[type];
      const keys = { maxLength, choices, default: usual, format: format !== null };
      const possible = Object.entries(keys).flatMap(([key, has]) => (has ? [key] : []));
      return [type, [...fieldTypes[type].searches], possible.sort()];
    });
    assert.deepEqual(written, expected);
  });

  test('has every search method', () => {
    const methods = page.filter(({ section, cells }) => section === 'Search methods' && cells[0] !== 'Method');
    const written = methods.map(({ cells }) => (cells[0] ?? '').replaceAll('`', ''));
    assert.deepEqual(
      written,
      SEARCH_METHODS.filter((method) => method !== 'hidden'),
    );
  });
});

describe('api.md', () => {
  const page = rowsOf(reference('api.md'));

  test('D36: has every type of an entry', () => {
    const types = page.filter(({ section, cells }) => section === 'Records' && cells[0] !== '`type`');
    const written = types.flatMap(({ cells }) => codesIn(cells[0])).sort();
    assert.deepEqual(written, [...FIELD_TYPES, ...SYSTEM_FIELDS, 'pms_revision'].sort());
  });

  test('has every search method', () => {
    const methods = page.filter(({ section, cells }) => section === 'Conditions' && /^`[a-z_]+`$/.test(cells[0] ?? ''));
    assert.deepEqual(
      methods.flatMap(({ cells }) => codesIn(cells[0])),
      SEARCH_METHODS.filter((method) => method !== 'hidden'),
    );
  });

  test('names no error code that does not exist, and each with its HTTP status', () => {
    const named = reference('api.md').matchAll(/\b(\d{3}) `([a-z_]+)`/g);
    const statuses: Readonly<Record<string, number>> = STATUS;
    assert.deepEqual(
      Array.from(named, ([, status, code = '']) => ({ code, status: Number(status) })).filter(
        ({ code, status }) => statuses[code] !== status,
      ),
      [],
    );
  });

  test('names the bounds of files with their settings and defaults, and what an image is', () => {
    const bounds = page.filter(({ section, cells }) => section === 'Limits' && cells[0] !== 'Setting');
    const written = bounds.map(({ cells }) => [codesIn(cells[0])[0], (cells[1] ?? '').replace(' ', '')]);
    const { maxFile, maxUpload, maxFiles, maxBody } = SETTINGS;
    assert.deepEqual(
      written,
      [maxFile, maxUpload, maxFiles, maxBody].map((setting) => [setting.variable, setting.default]),
    );
    const text = reference('api.md');
    for (const format of imageFormats(false).split(', ')) assert.ok(text.includes(format), format);
    assert.ok(text.includes(`at most ${MOST_BYTES / 1024 / 1024} MB.`));
  });

  const options = { basePath: '', maxRecords: 0, maxBody: 0, svgImages: false };
  // Nothing is asked of the stores before a request comes.
  const operations = [...routes({} as Store, {} as FileStore, options).keys()];

  test('has every operation', () => {
    const paths = page.flatMap(({ cells }) => codesIn(cells[1])).filter((code) => code.startsWith('POST '));
    assert.deepEqual(
      paths,
      operations.map((path) => `POST {base_url}${path}`),
    );
  });

  test('shows a call of every operation, each with a param that is JSON', () => {
    const examples = Array.from(
      reference('api.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm),
      ([, example = '']) => example,
    );
    const called = examples.map((example) => /http:\/\/127\.0\.0\.1:4040(\/\S+)/.exec(example)?.[1]);
    assert.deepEqual([...new Set(called)].sort(), [...operations].sort());
    for (const example of examples) {
      for (const [, param = ''] of example.matchAll(/'param=([^']*)'/g))
        assert.doesNotThrow(() => JSON.parse(param), param);
    }
  });

  test('shows bulk lines and bulk answers that are JSON', () => {
    const [, bulk = ''] = reference('api.md').split('\n## Bulk\n');
    const lines = (bulk.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('{"'));
    assert.equal(lines.length, 6);
    for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
  });
});

/** Every command that does something, by its words. */
function commandsOf(
  command: Command,
  words: readonly string[] = [],
): { readonly path: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ path: words.join(' '), command }];
  return command.commands.flatMap((sub) => commandsOf(sub, [...words, sub.name()]));
}

describe('command-line.md', () => {
  const page = reference('command-line.md');
  const commands = commandsOf(commandLine(processContext({})));

  test('lists every command, and nothing else', () => {
    const listed = rowsOf(page).flatMap(({ cells }) => /^\[`([^`]+)`\]\(#/.exec(cells[0] ?? '')?.[1] ?? []);
    assert.deepEqual(listed.sort(), commands.map(({ path }) => path).sort());
  });

  for (const { path, command } of commands) {
    test(`${path}: every argument and option is there`, () => {
      // The settings of `serve` have a page of their own.
      const options = path === 'serve' ? [] : command.options.map(({ long }) => long ?? '');
      assert.deepEqual(
        options.filter((option) => !page.includes(option)),
        [],
      );
      assert.match(page, new RegExp(`daicho ${path}\\b`));
    });
  }

  test('sweep: how long something is left at least, and where nothing is said', () => {
    const row = rowsOf(page).find(({ cells }) => codesIn(cells[0])[0] === '--older-than MINUTES');
    const numbers = row?.cells[1]?.match(/\d+/g)?.map(Number);
    assert.deepEqual(numbers, [USELESS_FOR / 60_000, LEAST_USELESS_FOR / 60_000]);
  });

  test('names no option that no command has', () => {
    const known = new Set(commands.flatMap(({ command }) => command.options.map(({ long }) => long)));
    for (const option of ['--help', '--version', '--data-dir', '--database-url', '--distribute']) known.add(option);
    const named = Array.from(page.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g), ([option]) => option);
    assert.deepEqual(
      [...new Set(named)].filter((option) => !known.has(option)),
      [],
    );
  });
});

describe('settings.md', () => {
  test('has every setting with its flag and its default, in their order, and nothing else', () => {
    const rows = rowsOf(reference('settings.md')).filter(({ cells }) => /^`[A-Z0-9_]+`$/.test(cells[0] ?? ''));
    const written = rows.map(({ cells }) => [...codesIn(cells[0]), ...codesIn(cells[1]), codesIn(cells[2])[0] ?? '']);
    assert.deepEqual(
      written,
      Object.values(SETTINGS).map((setting) => [setting.variable, setting.flag, setting.default]),
    );
  });
});

describe('pages', () => {
  test('the index of decisions names every page, and every page is named', () => {
    const folder = join(DOCS, 'decisions');
    const index = readFileSync(join(folder, 'README.md'), 'utf8');
    const named = Array.from(index.matchAll(/\]\(([DP]\d\d-[^)]+\.md)\)/g), ([, file = '']) => file);
    assert.deepEqual(
      named.sort(),
      readdirSync(folder)
        .filter((file) => file !== 'README.md')
        .sort(),
    );
  });

  test('every decision has a heading with its number, and says what was considered', () => {
    for (const file of readdirSync(join(DOCS, 'decisions')).filter((name) => name !== 'README.md')) {
      const text = readFileSync(join(DOCS, 'decisions', file), 'utf8');
      const number = file.startsWith('D') ? file.slice(0, 3).replace('D0', 'D') : file.slice(0, 3);
      assert.match(text, new RegExp(`^# ${number} `), file);
      assert.match(text, /^## Considered$/m, file);
    }
  });

  test('a link leads to a page that is there, and to a heading that it has', () => {
    const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
    const files = [
      ...pages.map((page) => join(DOCS, page)),
      ...readdirSync(ROOT)
        .filter((file) => file.endsWith('.md'))
        .map((file) => join(ROOT, file)),
    ];
    const broken = files.flatMap((file) => {
      const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
      return Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
        .filter((link) => !/^https?:/.test(link) && !leadsSomewhere(file, link))
        .map((link) => `${file.slice(ROOT.length + 1)}: ${link}`);
    });
    assert.deepEqual(broken, []);
  });
});

function leadsSomewhere(file: string, link: string): boolean {
  const [path = '', heading] = link.split('#') as [string, string?];
  const target = path === '' ? file : join(dirname(file), path);
  if (!existsSync(target)) return false;
  if (heading === undefined) return true;
  const headings = Array.from(readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm), ([, title = '']) => title);
  const anchors = headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return anchors.includes(heading);
}
