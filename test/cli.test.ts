// The command line: help, exit codes, settings, and each command on a real register.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { commandLine } from '../src/cli/cli.ts';
import type { Context } from '../src/cli/context.ts';
import { describe as describeProgress, startProgress } from '../src/cli/progress.ts';
import { displayWidth, formatTable } from '../src/cli/table.ts';
import { readConfig, SETTINGS, type SettingName, WrongSettings } from '../src/config/config.ts';
import { BIN, daicho, environment, onFolder, temporaryFolder } from './harness/run-daicho.ts';

const unused = {} as Context;

/** Every command, by its words. */
function allCommands(command = commandLine(unused), words: readonly string[] = []): Map<string, Command> {
  const below = command.commands.flatMap((sub) => [...allCommands(sub as Command, [...words, sub.name()])]);
  return new Map([[words.join(' '), command], ...below]);
}

const ORDERS = `code: ORDERS
name: { ja: 受注 }
fields:
  - { id: ord_primarykey, type: id, search: exact }
  - { id: ord_customer, type: text, search: partial }
  - { id: ord_amount, type: text }
`;

test('there is every command, with help and an example', async () => {
  const commands = allCommands();
  for (const words of [
    ...['serve', 'app infer', 'app apply', 'app list', 'app show', 'app grant', 'app withdraw', 'record import'],
    ...[
      'user add',
      'user list',
      'user set',
      'key issue',
      'key list',
      'key revoke',
      'option web-api',
      'reindex',
      'check',
    ],
  ]) {
    assert.ok(commands.has(words), words);
  }
  for (const [words, command] of commands) {
    let help = '';
    command.configureOutput({
      writeOut: (piece) => {
        help += piece;
      },
    });
    command.outputHelp();
    assert.match(help, /\nExamples?:\n {2}daicho /, words);
    assert.match(help, /--data-dir/, words);
  }
  for (const args of [['--help'], ['app', '--help'], ['record', 'import', '--help'], ['help', 'serve']]) {
    const { code, out, err } = await daicho(args);
    assert.deepEqual([code, err], [0, ''], args.join(' '));
    assert.match(out, /Example/);
  }
});

describe('wrong usage: exit code 2, nothing done', { concurrency: true }, () => {
  const cases: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [[], /Usage/],
    [['app'], /Usage/],
    [['sing'], /unknown command 'sing'/],
    [['serve', '--prt', '1'], /unknown option '--prt'/],
    [['app', 'list', 'extra'], /too many arguments/],
    [['app', 'infer', 'x.csv'], /--code/],
    [['app', 'apply'], /missing required argument/],
    [['record', 'import', 'A', 'x.csv', '--encoding', 'latin1'], /utf-8, cp932/],
    [['record', 'import', 'A', 'x.csv', '--map', 'x'], /COLUMN=FIELD/],
    [['user', 'add', '山田', '--name', 'x'], /user ID/],
    [['user', 'add', 'a'.repeat(65), '--name', 'x'], /user ID/],
    [['user', 'add', 'yamada'], /--name/],
    [['user', 'add', 'yamada', '--name', 'x', '--lang', 'fr'], /ja, en, zh/],
    [['user', 'set', 'yamada'], /--name or --lang/],
    [['key', 'issue', 'A', 'b', '--expires', 'soon'], /2027-03-31/],
    [['key', 'issue', 'A', 'b', '--expires', '2027-02-30'], /no such day/],
    [['key', 'issue', 'A', 'b', '--expires', '2001-01-01'], /over/],
    [['key', 'revoke', 'x'], /number/],
    [['option', 'web-api', 'perhaps'], /on, off/],
  ];
  for (const [args, message] of cases) {
    test(args.join(' ') || '(nothing)', async (t) => {
      const dataDir = join(temporaryFolder(t), 'data');
      const { code, out, err } = await daicho([...args], { DATA_DIR: dataDir });
      assert.equal(code, 2, err);
      assert.match(err, message);
      assert.equal(out, '');
      assert.ok(!existsSync(dataDir));
    });
  }
});

describe('settings', () => {
  const wrong: { readonly [name in SettingName]: readonly string[] } = {
    port: ['abc', '-1', '65536', '1.5', ''],
    host: ['a b', 'http://x', ''],
    dataDir: ['', 'a\0'],
    databaseUrl: ['mysql://host/database', 'host/database', 'postgres://a b'],
    distribute: ['Citus', 'yes'],
    databaseReadUrls: ['host', 'postgres://a/b,', ',postgres://a/b'],
    databaseConnections: ['0', '1001'],
    databaseTimeout: ['-1', '1.5'],
    basePath: ['pms', '/pms/', '/', '/a b', '/a//b'],
    httpStatus: ['200', 'Semantic'],
    maxBody: ['0', '10GB', '10 MB', '1000MB', '-1'],
    filesDir: ['a\0'],
    maxFile: ['0', '6GB', '1TB', '-1'],
    maxFiles: ['-1', '10001', 'all'],
    maxUpload: ['0', '501GB'],
    svgImages: ['yes', 'ON'],
    historyDays: ['-1', '1.5', 'all'],
    s3Bucket: ['a b', 'bucket/prefix', '-x'],
    s3Prefix: ['/x', 'a b', 'a?b'],
    s3Endpoint: ['s3.example.com', 'ftp://s3.example.com', 'https://user:secret@s3.example.com'],
    s3Region: ['', 'a b'],
    s3AccessKeyId: ['a b'],
    s3SecretAccessKey: ['a b'],
    maxRecords: ['-1', 'all'],
    cacheMiB: ['0', '1.5'],
    workers: ['0', '65', 'auto', '2.5'],
    webhookPrivate: ['yes', 'ON'],
    logLevel: ['verbose', 'INFO'],
  };
  for (const [name, texts] of Object.entries(wrong) as [SettingName, readonly string[]][]) {
    test(`${SETTINGS[name].variable} cannot be any of ${JSON.stringify(texts)}`, () => {
      for (const text of texts) {
        assert.throws(
          () => readConfig([name], { [name]: text }, {}),
          (error: Error) => {
            assert.ok(error instanceof WrongSettings);
            assert.equal(
              error.message,
              `${SETTINGS[name].flag} is ${'isSecret' in SETTINGS[name] ? 'wrong' : JSON.stringify(text)}; expected ${SETTINGS[name].expected}`,
            );
            return true;
          },
        );
      }
    });
  }

  test('defaults', () => {
    assert.deepEqual(readConfig(Object.keys(SETTINGS) as SettingName[], {}, {}), {
      ...{ port: 4040, host: '127.0.0.1', dataDir: './data', databaseUrl: '', basePath: '', httpStatus: 'semantic' },
      ...{ maxBody: 10_485_760, maxRecords: 0, cacheMiB: 64, workers: 1, logLevel: 'info' },
      ...{ distribute: '', databaseReadUrls: [], databaseConnections: 8, databaseTimeout: 30 },
      ...{ filesDir: '', maxFile: 1_073_741_824, maxFiles: 100, maxUpload: 2_147_483_648, svgImages: false },
      ...{ historyDays: 0, webhookPrivate: false },
      ...{
        s3Bucket: '',
        s3Prefix: '',
        s3Endpoint: '',
        s3Region: 'us-east-1',
        s3AccessKeyId: '',
        s3SecretAccessKey: '',
      },
    });
  });

  test('a wrong address of a database is not shown, since it may hold a password', () => {
    assert.throws(
      () => readConfig(['databaseUrl'], {}, { DATABASE_URL: 'mysql://sato:geheim@host/database' }),
      (error: Error) =>
        error.message.startsWith('DATABASE_URL is wrong; expected') && !error.message.includes('geheim'),
    );
  });

  test('read replicas with commas between their addresses, which may hold some themselves', () => {
    const urls = readConfig(['databaseReadUrls'], {}, { DATABASE_READ_URLS: 'postgres://a/x, postgresql://b,c/x' });
    assert.deepEqual(urls.databaseReadUrls, ['postgres://a/x', 'postgresql://b,c/x']);
  });

  test('sizes in bytes, KB and MB', () => {
    const size = (text: string) => readConfig(['maxBody'], {}, { MAX_BODY: text }).maxBody;
    assert.deepEqual(['10485760', '512KB', '10MB', '1mb'].map(size), [10_485_760, 524_288, 10_485_760, 1_048_576]);
  });

  test('a wrong one stops the start with one line, from the environment and from a flag', async () => {
    const { code, out, err } = await daicho(['serve'], { PORT: 'abc' });
    assert.deepEqual([code, out, err], [2, '', 'daicho: PORT is "abc"; expected a whole number from 0 to 65535\n']);
    const flag = await daicho(['serve', '--port', 'x'], { PORT: '4040' });
    assert.equal(flag.err, 'daicho: --port is "x"; expected a whole number from 0 to 65535\n');
  });
});

describe('which Node', () => {
  const old = ['/usr/local/bin/node', '/usr/bin/node'].find((node) => {
    if (!existsSync(node)) return false;
    return Number(execFileSync(node, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' })) < 24;
  });

  test('an old one is refused in one line', {
    skip: old === undefined && 'this machine has no Node before 24',
  }, async () => {
    const { code, out, err } = await daicho(['app', 'list'], {}, old);
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /^Daicho needs Node 24 or newer; this is \d+\.\d+\.\d+\. In a clone, npm start and npm run daicho bring their own\.\n$/,
    );
  });

  test('an old one, made believe, is refused too', () => {
    const script = `Object.defineProperty(process.versions, 'node', { value: '18.0.0' }); import(${JSON.stringify(BIN)})`;
    assert.throws(
      () => execFileSync(process.execPath, ['-e', script], { env: environment(), stdio: 'pipe' }),
      ({ status, stderr }) => status === 1 && /^Daicho needs Node 24 or newer; this is 18\.0\.0\./.test(String(stderr)),
    );
  });

  test('the command has nothing in it that an old Node cannot read', () => {
    const source = readFileSync(BIN, 'utf8').replaceAll(/\/\/.*/g, '');
    assert.doesNotMatch(source, /^\s*(?:import|export)\s|import\.meta|\bawait\b|\?\?|\?\./m);
  });
});

test('apps, users, rights and keys from the first to the last', async (t) => {
  const folder = temporaryFolder(t);
  const run = onFolder(join(folder, 'data'));
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);
  const orders = join(folder, 'orders.yaml');
  writeFileSync(orders, ORDERS);

  assert.deepEqual(await json('app', 'list'), []);
  assert.match((await run('app', 'apply', orders, '--dry-run')).out, /^ORDERS: would be made/);
  assert.deepEqual(await json('app', 'list'), []);
  const [applied] = await json('app', 'apply', orders);
  assert.deepEqual([applied.app, applied.kind, applied.applied], ['ORDERS', 'created', true]);
  assert.match((await run('app', 'apply', orders)).out, /^ORDERS: nothing to change/);
  assert.equal((await run('app', 'show', 'ORDERS')).out, ORDERS);
  assert.equal((await json('app', 'show', 'ORDERS')).fields[1].id, 'ord_customer');

  assert.equal((await run('user', 'add', 'yamada', '--name', '山田太郎')).code, 0);
  const twice = await run('user', 'add', 'yamada', '--name', '山田太郎');
  assert.equal(twice.code, 1);
  assert.match(twice.err, /^daicho: .*yamada.*\n$/);
  assert.equal((await run('user', 'set', 'yamada', '--name', '山田花子', '--lang', 'en')).code, 0);
  assert.equal((await run('app', 'grant', 'ORDERS', 'yamada', '--update')).code, 0);
  const [user] = await json('user', 'list');
  assert.deepEqual(user, {
    ...{ id: 'yamada', name: '山田花子', lang: 'en' },
    apps: [{ app: 'ORDERS', update: true, edit: false, admin: false }],
  });
  assert.equal((await run('app', 'grant', 'NONE', 'yamada')).code, 1);
  assert.equal((await run('app', 'grant', 'ORDERS', 'nobody')).code, 1);

  const issued = await run('key', 'issue', 'ORDERS', 'yamada', '--expires', '90d');
  assert.match(issued.out, /^[A-Za-z0-9_-]{43}\n$/);
  const second = await json('key', 'issue', 'ORDERS', 'yamada', '--expires', '2999-12-31');
  assert.deepEqual([second.id, second.expiresAt], [2, '2999-12-31T15:00:00.000Z']);
  assert.equal((await run('key', 'revoke', '1')).code, 0);
  assert.equal((await run('key', 'revoke', '1')).code, 1);
  const keys = await json('key', 'list', 'ORDERS');
  assert.deepEqual(
    keys.map((key: { state: string }) => key.state),
    ['revoked', 'valid'],
  );
  const table = (await run('key', 'list', 'ORDERS')).out;
  assert.match(table, /^ID {2}USER {4}STATE/);
  assert.ok(!table.includes(second.key) && !table.includes(issued.out.trim()));
  const database = readFileSync(join(folder, 'data', 'daicho.db'));
  assert.ok(!database.includes(second.key) && !database.includes(issued.out.trim()));

  assert.equal((await run('app', 'withdraw', 'ORDERS', 'yamada')).code, 0);
  assert.match((await run('key', 'issue', 'ORDERS', 'yamada')).err, /has no right/);
  assert.match((await run('option', 'web-api', 'off')).err, /off/);
  assert.equal((await run('reindex')).code, 0);
  assert.deepEqual(await json('check'), { apps: ['ORDERS'], problems: [] });
  const unknown = await run('app', 'show', 'NONE');
  assert.deepEqual([unknown.code, unknown.err], [1, 'daicho: there is no app NONE\n']);
});

test('apply: every problem of every file before anything is done', async (t) => {
  const folder = temporaryFolder(t);
  const run = onFolder(join(folder, 'data'));
  const files = ['good.yaml', 'bad.yaml', 'worse.yaml', 'twice.yaml'].map((name) => join(folder, name));
  const [good = '', bad = '', worse = '', twice = ''] = files;
  writeFileSync(good, ORDERS);
  writeFileSync(bad, ORDERS.replace('partial', 'range'));
  writeFileSync(worse, 'code: X\n');
  writeFileSync(twice, ORDERS);
  const { code, err } = await run('app', 'apply', ...files);
  assert.equal(code, 1);
  assert.match(err, /bad\.yaml:5: .*range/);
  assert.match(err, /worse\.yaml:1: .*fields/);
  assert.match(err, /twice\.yaml: defines the app ORDERS/);
  assert.deepEqual(JSON.parse((await run('app', 'list', '--json')).out), []);
  const missing = await run('app', 'apply', join(folder, 'none.yaml'));
  assert.equal(missing.code, 1);
  assert.match(missing.err, /^daicho: ENOENT.*\n$/);
});

test('apply: what would be lost is listed, and lost only when that is allowed', async (t) => {
  const folder = temporaryFolder(t);
  const run = onFolder(join(folder, 'data'));
  const definition = join(folder, 'orders.yaml');
  writeFileSync(definition, ORDERS);
  writeFileSync(join(folder, 'orders.csv'), 'ord_primarykey,ord_customer,ord_amount\n1,青葉,100\n2,北都,たくさん\n');
  await run('app', 'apply', definition);
  assert.equal((await run('record', 'import', 'ORDERS', join(folder, 'orders.csv'))).code, 0);
  writeFileSync(
    definition,
    ORDERS.replace(/.*ord_customer.*\n/, '').replace('ord_amount, type: text', 'ord_amount, type: number'),
  );
  const refused = await run('app', 'apply', definition);
  assert.equal(refused.code, 1);
  assert.match(refused.out, /LOST: field ord_customer/);
  assert.match(refused.out, /LOST: 1 values of ord_amount .*たくさん/);
  assert.match(refused.err, /--allow-data-loss/);
  assert.match((await run('app', 'show', 'ORDERS')).out, /ord_customer/);
  assert.equal((await run('app', 'apply', definition, '--dry-run')).code, 1);
  assert.equal((await run('app', 'apply', definition, '--allow-data-loss')).code, 0);
  assert.doesNotMatch((await run('app', 'show', 'ORDERS')).out, /ord_customer/);
  assert.equal((await run('check')).code, 0);
});

test('infer, apply, import', async (t) => {
  const folder = temporaryFolder(t);
  const run = onFolder(join(folder, 'data'));
  const csv = join(folder, 'places.csv');
  writeFileSync(csv, '町名,人口,調査日\n京都,1463723,2020/10/1\n"大阪, 北",2752412,2020-10-01\n');
  const inferred = await run('app', 'infer', csv, '--code', 'PLACES');
  assert.equal(inferred.code, 0, inferred.err);
  assert.match(inferred.out, /type: number/);
  const definition = join(folder, 'places.yaml');
  writeFileSync(definition, inferred.out);
  assert.equal((await run('app', 'apply', definition)).code, 0);
  const report = JSON.parse((await run('record', 'import', 'PLACES', csv, '--json')).out);
  assert.deepEqual([report.inserted, report.bad], [2, 0]);
  assert.equal((await run('app', 'infer', csv, '--code', 'a b')).code, 1);
});

test('tables are aligned where characters are two columns wide', () => {
  assert.equal(displayWidth('受注ｱ㈱é'), 8);
  const table = formatTable(
    ['CODE', 'NAME', 'N'],
    [
      ['A', '受注', '1'],
      ['LONGER', 'ab\u001b[31m', '2'],
    ],
  );
  assert.equal(table, 'CODE    NAME     N\nA       受注     1\nLONGER  ab [31m  2\n');
});

test('progress: a bar on a terminal, a line now and then elsewhere, nothing for short work', () => {
  assert.equal(describeProgress('', 'records', 250, 1000, 5), '25% 250 of 1,000 records, 50/s, 15 s left');
  assert.equal(describeProgress('indexing', 'steps', 3, 0, 0), 'indexing: 3 steps');
  const written: string[] = [];
  let time = 0;
  const stream = { isTTY: false, write: (text: string) => written.push(text) };
  const plain = startProgress(stream, 'records', () => time);
  for (let done = 0; done <= 100; done++) {
    time += 100;
    plain.report(done, 100);
  }
  assert.deepEqual(
    written.map((line) => line.split('%')[0]),
    ['19', '39', '59', '79', '99'],
  );
  written.length = 0;
  const bar = startProgress({ ...stream, isTTY: true, columns: 40 }, 'records', () => time);
  time += 500;
  bar.report(50, 100);
  bar.end();
  assert.match(written[0] ?? '', /^\r\[#{12}-{12}\] 50%/);
  assert.equal(written[1], '\r\x1b[2K');
});

describe('the reference', () => {
  const page = (name: string) => readFileSync(new URL(`../docs/reference/${name}.md`, import.meta.url), 'utf8');

  test('has every command and option, and no others', () => {
    const text = page('command-line');
    const commands = allCommands();
    const leaves = [...commands].filter(([, command]) => command.commands.length === 0);
    const listed = [...text.matchAll(/^\| \[`([^`]+)`\]/gm)].map(([, words]) => words);
    assert.deepEqual(listed.toSorted(), leaves.map(([words]) => words).toSorted());
    const settings = Object.values(SETTINGS).map(({ flag }) => flag);
    const flags = new Set([...commands.values()].flatMap(({ options }) => options.map(({ long }) => long)));
    const expected = [...flags].filter(
      (flag) => flag !== null && flag !== undefined && !(settings as string[]).includes(flag),
    );
    const written = new Set(text.match(/(?<![\w-])--[a-z][a-z0-9-]*/g));
    for (const flag of expected) assert.ok(written.has(flag as string), flag as string);
    for (const flag of written) assert.ok(flags.has(flag) || flag === '--help', flag);
  });

  test('has every setting, and no others', () => {
    const rows = page('settings').matchAll(/^\| `([A-Z0-9_]+)` \| `(--[a-z0-9-]+)` \| (?:`([^`]*)`|empty) \|/gm);
    const listed = [...rows].map(([, variable, flag, usual]) => [variable, flag, usual ?? '']);
    assert.deepEqual(
      listed,
      Object.values(SETTINGS).map((setting) => [setting.variable, setting.flag, setting.default]),
    );
  });
});
