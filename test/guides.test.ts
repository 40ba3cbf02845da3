// The guides name files, settings and commands that are there, and nothing else.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { commandLine } from '../src/cli/cli.ts';
import { processContext } from '../src/cli/context.ts';
import { SETTINGS, type Setting } from '../src/config/config.ts';

const GUIDES = join(import.meta.dirname, '../docs/guides');

/** Variables in the guides that are not settings of Daicho: PostgreSQL's, Node's, Amazon's, those of containers and shells. */
const OF_OTHERS = [
  ...['PGPASSWORD', 'NODE_EXTRA_CA_CERTS', 'TZ'],
  ...['POSTGRES_USER', 'POSTGRES_PASSWORD', 'DAICHO_PASSWORD', 'USER'],
  ...['AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN', 'KEY'],
];

const pages = readdirSync(GUIDES).map((file) => ({ file, text: readFileSync(join(GUIDES, file), 'utf8') }));

const program = commandLine(processContext({}));

/** What is wrong in a guide, a line for each. */
function problemsOf(text: string): readonly string[] {
  return [...brokenLinks(text), ...wrongVariables(text), ...wrongCommands(text)];
}

const withoutBlocks = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, '');

function brokenLinks(text: string): readonly string[] {
  const links = Array.from(withoutBlocks(text).matchAll(/\]\(([^)#\s]+)/g), ([, link = '']) => link);
  return links
    .filter((link) => !/^https?:/.test(link) && !existsSync(join(GUIDES, link)))
    .map((link) => `no file ${link}`);
}

/** Variables that are set or named, each with the value that it is set to. */
function variablesIn(text: string): readonly { readonly name: string; readonly value?: string }[] {
  const blocks = codeBlocks(text).join('\n');
  const set = [
    // As in a shell and in a file of settings, then as in YAML.
    ...blocks.matchAll(/(?:^|[\s=])([A-Z][A-Z0-9_]+)=('[^']*'|[^\s']*)/gm),
    ...blocks.matchAll(/^ +([A-Z][A-Z0-9_]+): (.*)$/gm),
    ...withoutBlocks(text).matchAll(/`([A-Z][A-Z0-9_]+)=([^`]*)`/g),
  ];
  const named = [
    ...blocks.matchAll(/\$\{?([A-Z][A-Z0-9_]+)/g),
    ...withoutBlocks(text).matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+|HOST|PORT|WORKERS|DISTRIBUTE|PG[A-Z]+)`/g),
  ];
  return [
    ...Array.from(set, ([, name = '', value = '']) => ({ name, value: value.replace(/^'(.*)'$/, '$1') })),
    ...Array.from(named, ([, name = '']) => ({ name })),
  ];
}

function wrongVariables(text: string): readonly string[] {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  return variablesIn(text).flatMap(({ name, value }) => {
    if (OF_OTHERS.includes(name)) return [];
    const setting = settings.find(({ variable }) => variable === name);
    if (setting === undefined) return [`no setting ${name}`];
    // What a unit puts in at its start is not known here.
    const isKnown = value !== undefined && value !== '%i';
    return isKnown && setting.read(value) === undefined ? [`${name} cannot be ${value}`] : [];
  });
}

const codeBlocks = (text: string) =>
  Array.from(text.matchAll(/^ *```\w+\n([\s\S]*?)^ *```/gm), ([, code = '']) => code);

/** The arguments of each call of the command line: in blocks, on lines that begin with it, and in the text. */
function callsIn(text: string): readonly string[] {
  const inText = Array.from(withoutBlocks(text).matchAll(/`(?:sudo )?daicho ([^`…][^`]*)`/g), ([, call = '']) => call);
  const starts = [
    String.raw`(?:sudo )?(?:[A-Z_]+=\S+ )*daicho `,
    'npm run -s daicho -- ',
    'docker compose run --rm (?:-v \\S+ )?daicho1 ',
    String.raw`.*bin/daicho\.js `,
  ];
  const line = new RegExp(`^ *(?:${starts.join('|')})(.*)$`, 'gm');
  const inBlocks = codeBlocks(text).flatMap((code) => Array.from(code.matchAll(line), ([, call = '']) => call));
  return [...inText, ...inBlocks].filter((call) => call !== '"$@"');
}

function wrongCommands(text: string): readonly string[] {
  return callsIn(text).flatMap((call) => {
    const words = call.replace(/\s*#.*$/, '').split(' ');
    let command: Command = program;
    while (command.commands.length > 0 && !words[0]?.startsWith('-')) {
      const sub = command.commands.find((candidate) => candidate.name() === words[0]);
      if (sub === undefined) return [`no command daicho ${call}`];
      command = sub;
      words.shift();
    }
    const known = [...command.options, ...program.options].map(({ long }) => long);
    const options = words.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? []);
    return options.filter((option) => !known.includes(option)).map((option) => `no option ${option}: daicho ${call}`);
  });
}

describe('guides', () => {
  for (const { file, text } of pages) {
    test(`${file}: links, settings and commands are there`, () => assert.deepEqual(problemsOf(text), []));
  }

  test('the list of guides has every one', () => {
    const list = pages.find(({ file }) => file === 'README.md')?.text ?? '';
    const named = Array.from(list.matchAll(/\]\(([a-z0-9-]+\.md)\)/g), ([, file = '']) => file);
    const files = pages.map(({ file }) => file).filter((file) => file !== 'README.md');
    assert.deepEqual([...new Set(named)].sort(), files.sort());
  });

  test('settings, commands and the variables of others are found in them', () => {
    const named = new Set(pages.flatMap(({ text }) => variablesIn(text).map(({ name }) => name)));
    const expected = [
      ...[...OF_OTHERS, 'DATA_DIR', 'DATABASE_URL', 'DATABASE_READ_URLS', 'DISTRIBUTE', 'MAX_BODY', 'PORT'],
      ...['FILES_DIR', 'S3_BUCKET', 'S3_SECRET_ACCESS_KEY'],
    ];
    assert.deepEqual(
      expected.filter((name) => !named.has(name)),
      [],
    );
    const calls = pages.flatMap(({ text }) => callsIn(text));
    for (const start of ['move --to', 'check', 'sweep', 'app apply', 'key issue', 'serve', '--version']) {
      assert.ok(
        calls.some((call) => call.startsWith(start)),
        start,
      );
    }
  });

  test('what is wrong is found', () => {
    const text = [
      'See [this](not-there.md), `MAX_BODIES`, `WORKERS=many` and `daicho archive`; not `daicho@4041`.',
      '```ini',
      "DATABASE_URI='postgres://db/daicho'",
      'DATABASE_URL=mysql://db/daicho',
      'Environment=PROT=4040',
      '```',
      '   ```yaml',
      '   environment:',
      '     DATA_DIRECTORY: /var/lib/daicho',
      '   ```',
      '```sh',
      'sudo daicho app applies customers.yaml',
      'DISTRIBUTE=citus daicho move --from ./data # not --to',
      'npm run -s daicho -- user make suzuki',
      '```',
    ].join('\n');
    assert.deepEqual([...problemsOf(text)].sort(), [
      'DATABASE_URL cannot be mysql://db/daicho',
      'WORKERS cannot be many',
      'no command daicho app applies customers.yaml',
      'no command daicho archive',
      'no command daicho user make suzuki',
      'no file not-there.md',
      'no option --from: daicho move --from ./data # not --to',
      'no setting DATABASE_URI',
      'no setting DATA_DIRECTORY',
      'no setting MAX_BODIES',
      'no setting PROT',
    ]);
  });
});
