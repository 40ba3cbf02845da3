// Importing CSV: encodings, lines that belong together, bad rows, going on after a stop, columns, dry runs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import type { App } from '../src/app/app.ts';
import { type ImportOptions, importRecords } from '../src/operations/import-records.ts';
import { readDefinition } from '../src/operations/read-definition.ts';
import { detectEncoding } from '../src/operations/read-text.ts';
import { scanCsv } from '../src/operations/scan-csv.ts';
import { Mistake, type Register } from '../src/store/register.ts';
import type { Store } from '../src/store/store.ts';
import { engineInUse, flagsFor, freshRegister } from './harness/fresh-register.ts';
import { BIN, environment, temporaryFolder } from './harness/run-daicho.ts';

const DEFINITION = `code: A
fields:
  - { id: a_primarykey, type: id, search: exact, maxLength: 10 }
  - { id: a_no, type: auto_number, format: "N-{000}" }
  - { id: a_name, type: text, name: { ja: 顧客, en: Customer }, maxLength: 5, required: true }
  - { id: a_amount, type: number, name: { ja: 金額 } }
  - { id: a_due, type: date }
  - { id: a_at, type: datetime }
  - { id: a_file, type: file }
  - { id: a_kind, type: text, default: 標準 }
tables:
  - code: a_lines
    fields:
      - { id: line_product, type: text, name: { ja: 品名 }, required: true }
      - { id: line_qty, type: number }
  - code: a_marks
    fields:
      - { id: mark, type: text }
`;

interface Importing {
  readonly folder: string;
  readonly register: Register;
  /** Writes a file and imports it. */
  load(content: string | Uint8Array, options?: Partial<ImportOptions>): ReturnType<typeof importRecords>;
  /** The records as a search gives them, values only, with the rows of a table. */
  records(tablecode?: string): Promise<Record<string, unknown>[]>;
  errors(): string;
}

async function importing(t: TestContext, definition = DEFINITION): Promise<Importing> {
  const folder = temporaryFolder(t);
  const { openRegister, openStore, remove } = await freshRegister();
  const register = await openRegister();
  t.after(() => register.close().finally(remove));
  const read = readDefinition('a.yaml', definition);
  if ('problems' in read) assert.fail(read.problems.join('\n'));
  await register.apply(read.app, read.source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  const file = join(folder, 'a.csv');
  return {
    folder,
    register,
    load(content, options = {}) {
      writeFileSync(file, content);
      const usual = { appCode: 'A', file, map: new Map(), dryRun: false, signal: new AbortController().signal };
      return importRecords(register, { ...usual, progress: () => {}, onIndexing: () => {}, ...options });
    },
    records: async (tablecode) => searchAll(await openStore(), read.app, tablecode),
    errors: () => readFileSync(join(folder, 'a.errors.csv'), 'utf8'),
  };
}

async function searchAll(store: Store, { code }: App, tablecode: string | undefined) {
  try {
    const registered = store.catalog().apps.get(code);
    assert.ok(registered);
    const table = registered.app.tables.find((candidate) => candidate.code === tablecode) ?? null;
    const conditions = { form: [], tables: [], sent: { form: new Map(), tables: new Map() } };
    const found = await store.search(
      registered,
      { conditions, table, limit: null, after: null, revision: false },
      0,
      '',
    );
    if (found.kind === 'none') return [];
    if (found.kind !== 'page') assert.fail(found.kind);
    const records = JSON.parse(`[${Buffer.from(found.records)}]`) as Record<string, unknown>[];
    return records.map(plain);
  } finally {
    await store.close();
  }
}

/** Values only. */
function plain(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([id, entry]) => [
      id,
      Array.isArray(entry) ? entry.map(plain) : (entry as { value: unknown }).value,
    ]),
  );
}

describe('encodings', () => {
  // `顧客,a_no` and `山田①～髙,` with characters that Shift_JIS proper does not have.
  const cp932 = Buffer.from('8cda8b712c615f6e6f0d0a8e52936387408160eee02c0d0a', 'hex');

  test('CP932 is found out, and its own characters are read', async (t) => {
    const { load, records } = await importing(t);
    const report = await load(cp932);
    assert.deepEqual([report.encoding, report.inserted, report.bad], ['cp932', 1, 0]);
    assert.equal((await records())[0]?.a_name, '山田①～髙');
  });

  test('UTF-8 with and without a byte order mark', async (t) => {
    const { load, records } = await importing(t);
    assert.equal((await load('\ufeffa_name\n山田\n')).encoding, 'utf-8');
    assert.equal((await load('a_name\n髙橋\n')).encoding, 'utf-8');
    assert.deepEqual(
      (await records()).map((record) => record.a_name),
      ['山田', '髙橋'],
    );
  });

  test('UTF-8 is found out wherever the pieces of the file end', async (t) => {
    const file = join(temporaryFolder(t), 'x.csv');
    for (let shift = 0; shift < 4; shift++) {
      writeFileSync(file, 'x'.repeat(shift) + '京都😀'.repeat(220_000));
      assert.equal(await detectEncoding(file), 'utf-8');
    }
    writeFileSync(file, Buffer.concat([Buffer.from('京都'.repeat(400_000)), Buffer.from([0x83])]));
    assert.equal(await detectEncoding(file), 'cp932');
  });

  test('an encoding that the file cannot have is refused; UTF-16 is too', async (t) => {
    const { load } = await importing(t);
    await assert.rejects(load(cp932, { encoding: 'utf-8' }), /is not in UTF-8/);
    await assert.rejects(load(Buffer.from('\ufeffa_name\n', 'utf16le')), /UTF-16/);
  });

  test('bytes that are neither UTF-8 nor CP932 make bad rows', async (t) => {
    const { load, errors } = await importing(t);
    const report = await load(Buffer.concat([Buffer.from('a_name\na'), Buffer.from([0xff, 0x0a, 0x62, 0x0a])]));
    assert.deepEqual([report.inserted, report.bad], [1, 1]);
    assert.match(errors(), /neither UTF-8 nor CP932/);
  });
});

describe('lines', () => {
  const scanned = (...pieces: string[]) => {
    const scanner = scanCsv();
    return [...pieces.flatMap((piece) => [...scanner.push(piece)]), ...scanner.finish()];
  };
  const tricky = 'a,"b ""c"", d",\r\n\n"x\r\ny",z"z,"",\r"",1\n,"end"';

  test('quotes, line breaks and empty cells', () => {
    assert.deepEqual(scanned(tricky), [
      { line: 1, cells: ['a', 'b "c", d', ''] },
      { line: 3, cells: ['x\r\ny', 'z"z', '', ''] },
      { line: 5, cells: ['', '1'] },
      { line: 6, cells: ['', 'end'] },
    ]);
  });

  test('wherever the text is cut', () => {
    const whole = scanned(tricky);
    for (let cut = 0; cut <= tricky.length; cut++) {
      assert.deepEqual(scanned(tricky.slice(0, cut), tricky.slice(cut)), whole, `cut at ${cut}`);
    }
    assert.deepEqual(scanned(...tricky), whole);
  });

  test('faults', () => {
    assert.deepEqual(scanned('"a"b,c\n"d\ne'), [
      { line: 1, cells: ['ab', 'c'], fault: 'there is text after a closing quote' },
      { line: 2, cells: ['d\ne'], fault: 'a quote is opened and never closed' },
    ]);
  });
});

describe('columns', () => {
  test('by ID or by name in any language; system fields and the column of errors are left out with a note', async (t) => {
    const { load, records } = await importing(t);
    const { notes } = await load('a_primarykey,Customer,金額,pms_i_ymd,error\n7,山田,100,2020-01-01,x\n');
    assert.equal(notes.length, 2);
    const [record] = await records();
    assert.deepEqual([record?.a_primarykey, record?.a_name, record?.a_amount], ['7', '山田', '100']);
  });

  test('--map says which field, or none', async (t) => {
    const { load, records } = await importing(t);
    await load('得意先,備考\n山田,x\n', {
      map: new Map([
        ['得意先', 'a_name'],
        ['備考', ''],
      ]),
    });
    assert.equal((await records())[0]?.a_name, '山田');
  });

  test('a file that cannot be imported as a whole leaves nothing behind', async (t) => {
    const { load, records } = await importing(t);
    const refused: readonly (readonly [
      content: string,
      map: readonly (readonly [string, string])[],
      message: RegExp,
    ])[] = [
      ['a_name,得意先\n', [], /the column 得意先 is no field.*a_name \(顧客\)/],
      ['a_name,顧客\n', [], /the columns a_name and 顧客 are both for the field a_name/],
      ['a_amount\n', [], /a_name is required and no column/],
      ['mark\n', [], /no column is a field of the form/],
      ['a_name,line_qty\n', [], /line_product is required and no column/],
      ['a_name,x\n', [['x', 'nothing']], /there is no field nothing/],
      ['a_name\n', [['y', '']], /the file has no column y/],
      ['', [], /no header row/],
    ];
    for (const [content, map, message] of refused) {
      await assert.rejects(load(content, { map: new Map(map) }), (error: Error) => {
        assert.ok(error instanceof Mistake);
        assert.match(error.message, message);
        return true;
      });
    }
    assert.equal((await load('a_name\n山田\n')).inserted, 1);
    assert.equal((await records()).length, 1);
    await assert.rejects(load('a_name\n', { appCode: 'NONE' }), /there is no app NONE/);
    await assert.rejects(load('a_name\n', { userId: 'nobody' }), /there is no user nobody/);
  });
});

describe('records', () => {
  test('a primary key that exists is updated; absent or empty ones are the next whole numbers', async (t) => {
    const { load, records } = await importing(t);
    const first = await load('a_primarykey,a_name,a_amount\n5,山田,1\n,佐藤,2\nX-1,鈴木,3\n');
    assert.deepEqual([first.inserted, first.updated], [3, 0]);
    const second = await load('a_primarykey,a_name\n5,山本\n,田中\n');
    assert.deepEqual([second.inserted, second.updated], [1, 1]);
    assert.deepEqual(
      (await records()).map((record) => [record.a_primarykey, record.a_name, record.a_amount]),
      [
        ['5', '山本', '1'],
        ['6', '佐藤', '2'],
        ['X-1', '鈴木', '3'],
        ['7', '田中', ''],
      ],
    );
  });

  test('auto numbers that are given are kept; defaults are for fields without a column', async (t) => {
    const { load, records } = await importing(t);
    await load('a_name,a_no\n山田,N-041\n佐藤,\n');
    await load('a_name,a_kind\n鈴木,\n');
    assert.deepEqual(
      (await records()).map((record) => [record.a_no, record.a_kind]),
      [
        ['N-041', '標準'],
        ['N-042', '標準'],
        ['N-043', ''],
      ],
    );
  });

  test('dates, times and numbers as spreadsheets write them', async (t) => {
    const { load, records } = await importing(t);
    const report = await load(
      'a_name,a_due,a_at,a_amount\nx,2026/1/5,2026/1/5 9:05,"－１，２３４．５"\ny,２０２６／０１／０５,2026-01-05T10:00,"1,000"\n z ,2026-1-5,2026/12/31 23:5:9,−1\n',
    );
    assert.equal(report.bad, 0);
    assert.deepEqual(
      (await records()).map((record) => [record.a_name, record.a_due, record.a_at, record.a_amount]),
      [
        ['x', '2026-01-05', '2026-01-05 09:05:00', '-1234.5'],
        ['y', '2026-01-05', '2026-01-05 10:00:00', '1000'],
        [' z ', '2026-01-05', '2026-12-31 23:05:09', '-1'],
      ],
    );
  });

  test('lines without form fields are further rows of the record above', async (t) => {
    const { load, records } = await importing(t);
    const lines = [
      'a_primarykey,a_name,line_product,line_qty,mark',
      '1,山田,ペン,3,x',
      ',,紙,,',
      ',,,,y',
      ',,,,',
      '2,佐藤,,,',
      '3,鈴木,机,1,',
      '3,,椅子,2,',
    ];
    const report = await load(`${lines.join('\n')}\n`);
    assert.deepEqual([report.inserted, report.updated, report.bad], [3, 0, 0]);
    const rows = (await records('a_lines')).map((record) => record.a_lines);
    assert.deepEqual(rows, [
      [
        { line_product: 'ペン', line_qty: '3' },
        { line_product: '紙', line_qty: '' },
      ],
      [],
      [
        { line_product: '机', line_qty: '1' },
        { line_product: '椅子', line_qty: '2' },
      ],
    ]);
    assert.deepEqual(
      (await records('a_marks')).map((record) => record.a_marks),
      [[{ mark: 'x' }, { mark: 'y' }], [], []],
    );
    await load('a_primarykey,a_name,mark\n1,山田,z\n');
    assert.deepEqual(
      (await records('a_lines')).map((record) => record.a_lines),
      rows,
    );
    assert.deepEqual((await records('a_marks'))[0]?.a_marks, [{ mark: 'z' }]);
  });
});

describe('bad rows', () => {
  test('go to a file with every reason; the good ones are kept', async (t) => {
    const { load, records, errors, folder } = await importing(t);
    const report = await load(
      [
        'a_primarykey,a_name,a_amount,a_due,a_file',
        '1,山田,100,2026-01-05,',
        '2,山田太郎さん,百,2026-02-30,',
        '3,,1,,',
        '4,佐藤',
        '5,佐藤,1,,,',
        '6,鈴\u0000木,1,,',
        '12345678901,田中,1,,',
        '7,"a"b,1,,',
        '8,高橋,1,,f1',
      ].join('\n'),
    );
    assert.deepEqual([report.inserted, report.bad], [1, 8]);
    assert.equal(report.errorsFile, join(folder, 'a.errors.csv'));
    assert.equal((await records()).length, 1);
    const [header, ...bad] = errors().split('\r\n');
    assert.equal(header, '\ufeffa_primarykey,a_name,a_amount,a_due,a_file,error');
    for (const reason of [/a_name.*too long/, /a_amount.*not a number/, /a_due.*not a date/])
      assert.match(bad[0] ?? '', reason);
    assert.match(bad[1] ?? '', /^3,,1,,,.*a_name.*is required/);
    assert.match(bad[2] ?? '', /^4,佐藤,,,,.*2 cells, where the header has 5/);
    assert.match(bad[3] ?? '', /^5,佐藤,1,,,,.*6 cells/);
    assert.match(bad[4] ?? '', /a_name.*NUL/);
    assert.match(bad[5] ?? '', /a_primarykey.*too long/);
    assert.match(bad[6] ?? '', /closing quote/);
    // Files are looked at when all else is good.
    assert.match(bad[7] ?? '', /^8,高橋,1,,f1,.*a_file.*names no file/);
    assert.equal(bad.length, 9);
  });

  test('a bad further line makes its whole record bad', async (t) => {
    const { load, errors, records } = await importing(t);
    const report = await load('a_name,line_product,line_qty\n,紙,1\n山田,ペン,3\n,紙,多い\n,,9\n佐藤,机,1\n');
    assert.deepEqual([report.inserted, report.bad], [1, 2]);
    assert.deepEqual(
      (await records()).map((record) => record.a_name),
      ['佐藤'],
    );
    const lines = errors().trimEnd().split('\r\n').slice(1);
    assert.match(lines[0] ?? '', /^,紙,1,.*no record is above/);
    assert.equal(lines[1], '山田,ペン,3,');
    assert.match(lines[2] ?? '', /^,紙,多い,.*a_lines\.line_qty/);
    assert.match(lines[3] ?? '', /^,,9,.*a_lines\.line_product.*required/);
  });

  test('the file, put right, can be imported as it is; the next import without bad rows removes it', async (t) => {
    const { load, errors, folder } = await importing(t);
    await load('a_name,a_amount\n山田,百\n');
    const corrected = errors().replace('百', '100');
    const report = await load(corrected);
    assert.deepEqual([report.inserted, report.bad, report.errorsFile], [1, 0, null]);
    assert.ok(!existsSync(join(folder, 'a.errors.csv')));
  });

  test('a dry run reads everything and writes nothing but them', async (t) => {
    const { load, errors, records } = await importing(t);
    const report = await load('a_name,a_amount\n山田,100\n佐藤,百\n', { dryRun: true });
    assert.deepEqual([report.good, report.bad, report.inserted], [1, 1, 0]);
    assert.match(errors(), /佐藤,百/);
    assert.deepEqual(await records(), []);
  });
});

describe('going on after a stop', () => {
  const many = (count: number) =>
    `a_name,a_amount,mark\n${Array.from({ length: count }, (_, i) => `n${i % 9999},${i % 1000 === 7 ? 'bad' : i},m\n,,w\n`).join('')}`;

  for (const isEmpty of [true, false]) {
    test(`in an app that ${isEmpty ? 'is empty' : 'has records'}: every record once, every bad row once`, async (t) => {
      const { load, errors, register } = await importing(t);
      if (!isEmpty) await load('a_name\n山田\n');
      const content = many(20_000);
      let stopped = 0;
      let good = 0;
      for (let round = 0; ; round++) {
        assert.ok(round < 20);
        const stop = new AbortController();
        let seen = 0;
        const report = await load(content, {
          signal: stop.signal,
          progress: (done) => {
            if (++seen === 1 && done > 0 && round < 2) stop.abort();
          },
        });
        good += report.inserted;
        if (!report.stopped) break;
        stopped++;
      }
      assert.ok(stopped > 0);
      assert.equal(good, 20_000 - 20);
      assert.equal(await register.countRecords('A'), 20_000 - 20 + (isEmpty ? 0 : 1));
      assert.equal(errors().match(/^n/gm)?.length, 20);
      assert.deepEqual(await register.check(['A'], () => {}), []);
    });
  }

  test('Ctrl-C finishes the batch and says how to go on', async (t) => {
    const count = engineInUse() === 'sqlite' ? 120_000 : 30_000;
    const folder = temporaryFolder(t);
    const { place, remove } = await freshRegister();
    t.after(remove);
    const file = join(folder, 'a.csv');
    writeFileSync(file, many(count));
    writeFileSync(join(folder, 'a.yaml'), DEFINITION);
    const start = (...args: string[]) =>
      spawn(process.execPath, [BIN, ...args, ...flagsFor(place)], {
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    await once(start('app', 'apply', join(folder, 'a.yaml')), 'close');
    const first = start('record', 'import', 'A', file);
    const out = text(first.stdout);
    const closed = once(first, 'close');
    while (!existsSync(join(folder, 'a.errors.csv'))) await new Promise((resolve) => setTimeout(resolve, 20));
    first.kill('SIGINT');
    await closed;
    assert.equal(first.exitCode, 1);
    assert.match(await out, /Stopped\. To go on .*daicho record import A/);
    const second = start('record', 'import', 'A', file, '--json');
    const report = JSON.parse(await text(second.stdout));
    assert.ok(report.resumedAt > 0 && report.resumedAt < count);
    assert.equal(report.resumedAt + report.good + report.bad, count);
  });
});

test('who puts the records in: the user named, else the first administrator, else nobody', async (t) => {
  const { load, register, records } = await importing(t);
  await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await load('a_name\nx\n');
  await load('a_name\ny\n', { userId: 'sato' });
  await register.grant('A', 'sato', { update: true, edit: true, admin: true });
  await load('a_name\nz\n');
  const users = (await records()).map(({ pms_i_usr }) => pms_i_usr);
  const sato = { id: 'sato', name: '佐藤' };
  assert.deepEqual(users, [{ id: '', name: '' }, sato, sato]);
});
