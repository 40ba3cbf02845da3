// Exporting: what is written comes back the same into an app of the same definition, in every format; conditions; what a format cannot hold.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileOf } from '../src/fields/file.ts';
import { openDiskStore } from '../src/files/disk.ts';
import { type ExportOptions, exportRecords } from '../src/operations/export-records.ts';
import type { Format } from '../src/operations/exported.ts';
import type { FileSource } from '../src/operations/file-cells.ts';
import { importRecords } from '../src/operations/import-records.ts';
import { readDefinition } from '../src/operations/read-definition.ts';
import { Mistake, type Register } from '../src/store/register.ts';
import { engineAt, flagsFor, freshRegister } from './harness/fresh-register.ts';
import { daicho, temporaryFolder } from './harness/run-daicho.ts';

const DEFINITION = `code: A
fields:
  - { id: a_primarykey, type: id, search: exact }
  - { id: a_text, type: text, name: { ja: 品名, en: Product }, search: partial }
  - { id: a_area, type: text_area, search: partial }
  - { id: a_date, type: date, search: range, name: { ja: 日付 } }
  - { id: a_datetime, type: datetime, search: range }
  - { id: a_time, type: time }
  - { id: a_number, type: number, search: range }
  - { id: a_dropdown, type: dropdown, choices: [新規, 完了] }
  - { id: a_checkbox, type: checkbox, choices: [甲, 乙], search: any_of }
  - { id: a_radio, type: radio, choices: [新規, 完了] }
  - { id: a_list, type: list, choices: [甲, 乙] }
  - { id: a_concatenation, type: concatenation }
  - { id: a_calculation, type: calculation }
  - { id: a_no, type: auto_number, format: "N-{000}" }
  - { id: a_file, type: file }
  - { id: a_image, type: image }
tables:
  - code: a_lines
    fields:
      - { id: line_text, type: text, name: { ja: 品名 }, search: exact }
      - { id: line_number, type: number, search: range }
      - { id: line_date, type: date }
      - { id: line_file, type: file }
  - code: a_marks
    fields:
      - { id: mark, type: text }
`;

type Sent = Readonly<Record<string, string>>;
interface SentRecord {
  readonly form: Sent;
  readonly lines?: readonly (readonly [text: string, number: string, date: string])[];
  readonly marks?: readonly string[];
}

const LONG = '長い文 🚃\r\n'.repeat(3_200);

/** Records that CP932 has no characters for are those of `BEYOND`. */
const RECORDS: readonly SentRecord[] = [
  {
    form: {
      ...{
        a_primarykey: '007',
        a_text: '=1+1',
        a_area: '一行目\r\n二行目\n三行目\r四',
        a_date: '2024-02-29',
        a_no: 'N-041',
      },
      ...{ a_datetime: '2024-02-29 23:59:59', a_time: '23:59:59', a_number: '123456789012345678901234567890' },
      ...{ a_dropdown: '新規', a_checkbox: '甲,乙', a_radio: '完了', a_list: '乙,甲', a_concatenation: '007-甲' },
      a_calculation: '007',
    },
    lines: [
      ['ペン', '1.50', '2026-01-05'],
      ['', '', '2026-01-06'],
      ['紙', '-0.1', ''],
    ],
    marks: ['x'],
  },
  { form: { a_primarykey: '2', a_no: 'N-002' } },
  {
    form: {
      ...{ a_primarykey: ' 3 ', a_text: ' ｶﾅ ', a_area: '"引用", と,カンマ', a_date: '1899-12-31', a_no: 'N-9' },
      ...{ a_datetime: '1900-02-28 00:00:00', a_time: '00:00:00', a_number: '-007.10', a_calculation: '1E5' },
    },
    marks: ['', 'y', '+1', 'TRUE', '#N/A', '2026-01-05'],
  },
  { form: { a_primarykey: '4', a_number: '0.1', a_date: '9999-12-31', a_datetime: '1900-03-01 00:00:00', a_no: '5' } },
  {
    form: { a_primarykey: '5', a_number: '-0', a_date: '0001-01-01', a_text: '_x000D_ <&> \u0001\t', a_no: '6' },
    lines: [['①髙', '0.30', '']],
  },
  {
    form: {
      a_primarykey: '6',
      a_number: '999999999999999',
      a_datetime: '2026-11-21 00:00:00',
      a_time: '12:00:01',
      a_no: '7',
    },
  },
];
const BEYOND: readonly SentRecord[] = [{ form: { a_primarykey: '😀', a_text: LONG, a_area: '〜−\ufeff', a_no: 'é' } }];

const QUIET = { allowDataLoss: false, dryRun: false, progress: () => {} };

/** Where work is noted that is done at the end. */
interface Ending {
  after(work: () => Promise<unknown>): void;
}

interface Place {
  readonly place: string;
  readonly register: Register;
}

async function freshPlace(t: Ending): Promise<Place> {
  const { place, openRegister, remove } = await freshRegister();
  const register = await openRegister();
  t.after(() => register.close().finally(remove));
  const read = readDefinition('a.yaml', DEFINITION);
  if ('problems' in read) assert.fail(read.problems.join('\n'));
  await register.apply(read.app, read.source, QUIET);
  return { place, register };
}

/** A register with records, put in without any file to import. */
async function filled(t: Ending, records: readonly SentRecord[]): Promise<Place> {
  const made = await freshPlace(t);
  const loader = await made.register.load('A', '', 'test');
  await loader.put(
    records.map(({ form, lines = [], marks = [] }, line) => ({
      ...{ line, primaryKey: form.a_primarykey as string, values: new Map(Object.entries(form)) },
      tables: new Map([
        ['a_lines', lines.map(([text, number, date]) => [text, number, date, ''])],
        ['a_marks', marks.map((mark) => [mark])],
      ]),
    })),
    records.length,
  );
  await loader.finish(() => {});
  return made;
}

/** All values but those of the system fields; of files what they are, not their IDs. */
async function contents({ place }: Place): Promise<{ values: string[]; rows: string[][][] }[]> {
  const source = await (await engineAt(place)).openSource();
  try {
    await source.look();
    const { apps } = await source.catalog();
    const records = await source.records(apps[0]?.id as number, { place: 0 }, 1_000);
    const plain = (value: string) => value.replace(/^[0-9a-f]{32} (?=\d)/, '');
    return records.map(({ values, rows }) => ({
      values: values.slice(0, 16).map(plain),
      rows: rows.map((ofTable) => ofTable.map((row) => row.map(plain))),
    }));
  } finally {
    await source.close();
  }
}

async function write({ place }: Place, options: Partial<ExportOptions> & { readonly format: Format }): Promise<Buffer> {
  const source = await (await engineAt(place)).openSource();
  const pieces: Buffer[] = [];
  try {
    await exportRecords(source, {
      ...{ appCode: 'A', encoding: 'utf-8', names: false, where: [], progress() {} },
      write: async (piece) => void pieces.push(Buffer.from(piece as string)),
      ...options,
    });
    return Buffer.concat(pieces);
  } finally {
    await source.close();
  }
}

async function load(t: TestContext, { register }: Place, format: Format, content: Buffer, files?: FileSource) {
  const file = join(temporaryFolder(t), `a.${format}`);
  writeFileSync(file, content);
  const report = await importRecords(register, {
    ...{ appCode: 'A', file, map: new Map(), dryRun: false, signal: new AbortController().signal },
    ...{ progress() {}, onIndexing() {}, ...(files && { files }) },
  });
  const bad = report.errorsFile === null ? '' : readFileSync(report.errorsFile, 'utf8');
  assert.equal(bad, '');
  return report;
}

describe('what is exported, imported into an app of the same definition, gives the same records', () => {
  const ways: readonly (readonly [title: string, options: { format: Format } & Partial<ExportOptions>])[] = [
    ['CSV in UTF-8', { format: 'csv' }],
    ['CSV in CP932', { format: 'csv', encoding: 'cp932' }],
    ['CSV with the names of fields', { format: 'csv', names: true }],
    ['JSON lines', { format: 'jsonl' }],
    ['XLSX', { format: 'xlsx' }],
    ['XLSX with the names of fields', { format: 'xlsx', names: true }],
  ];
  /** The records of RECORDS, and those of BEYOND too. */
  let some: Place;
  let all: Place;
  const ends: (() => Promise<unknown>)[] = [];
  const ending: Ending = { after: (work) => void ends.push(work) };
  before(async () => {
    some = await filled(ending, RECORDS);
    all = await filled(ending, [...RECORDS, ...BEYOND]);
  });
  after(async () => {
    for (const end of ends) await end();
  });
  for (const [title, options] of ways) {
    test(title, async (t) => {
      const from = options.encoding === 'cp932' ? some : all;
      const to = await freshPlace(t);
      const report = await load(t, to, options.format, await write(from, options));
      const expected = await contents(from);
      assert.deepEqual([report.inserted, report.format], [expected.length, options.format]);
      if (options.format === 'jsonl') {
        // Written again it is the same text, but for the moments of the system fields.
        const plain = (text: Buffer) => text.toString().replace(/"pms_[iu]_ymd":"[^"]*"/g, '');
        assert.equal(plain(await write(to, options)), plain(await write(from, options)));
      } else {
        // In a sheet a row of nothing but empty cells is none.
        for (const { rows } of expected)
          for (const table of rows)
            table.splice(0, table.length, ...table.filter((row) => row.some((value) => value !== '')));
      }
      assert.deepEqual(await contents(to), expected);
    });
  }

  for (const format of ['csv', 'jsonl', 'xlsx'] as const) {
    test(`${format} with the contents of files`, async (t) => {
      const folder = temporaryFolder(t);
      const store = openDiskStore(join(folder, 'store'));
      mkdirSync(join(folder, 'in'));
      const image = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      );
      for (const [name, bytes] of [
        ['見積書.pdf', '%PDF'],
        ['点.png', image],
        ['c.txt', 'c'],
      ] as const)
        writeFileSync(join(folder, 'in', name), bytes);
      const from = await freshPlace(t);
      const csv = 'a_primarykey,a_file,a_image,line_file\n1,見積書.pdf,点.png,c.txt\n,,,\n1,,,見積書.pdf\n2,,,\n';
      await load(t, from, 'csv', Buffer.from(csv), { folder: join(folder, 'in'), store, svg: false, dryRun: false });
      const out = join(folder, 'out');
      const content = await write(from, { format, files: { folder: out, store } });
      assert.deepEqual(readdirSync(join(out, '1')).sort(), ['a_file', 'a_image', 'line_file_1', 'line_file_2']);
      assert.deepEqual(readFileSync(join(out, '1/a_image/点.png')), image);
      const to = await freshPlace(t);
      const other = openDiskStore(join(folder, 'other'));
      await load(t, to, format, content, { folder: out, store: other, svg: false, dryRun: false });
      const records = await contents(to);
      assert.deepEqual(records, await contents(from));
      assert.match(records[0]?.values[14] ?? '', / 見積書\.pdf$/);
      // Without contents the cells hold IDs, which the same register knows.
      const again = await load(t, from, format, await write(from, { format }));
      assert.deepEqual([again.updated, again.bad], [2, 0]);
      await store.close();
      await other.close();
    });
  }
});

test('JSON lines have each field as it is kept, tables as arrays, files as objects', async (t) => {
  const from = await filled(t, RECORDS.slice(0, 1));
  const [line] = (await write(from, { format: 'jsonl' })).toString().trimEnd().split('\n');
  const record = JSON.parse(line ?? '') as Record<string, unknown>;
  assert.equal(record.a_number, '123456789012345678901234567890');
  assert.deepEqual(record.a_marks, [{ mark: 'x' }]);
  assert.deepEqual((record.a_lines as unknown[])[0], {
    line_text: 'ペン',
    line_number: '1.50',
    line_date: '2026-01-05',
    line_file: '',
  });
  assert.equal(fileOf(record.a_file as string), null);
});

test('names stand in the header where an import finds the field by them; others keep their IDs', async (t) => {
  const from = await filled(t, []);
  const [header = ''] = (await write(from, { format: 'csv', names: true })).toString().split('\r\n');
  // 品名 is the name of two fields.
  assert.match(header, /^\ufeffa_primarykey,a_text,a_area,日付,a_datetime,.*pms_u_ymd,line_text,/);
});

describe('conditions', () => {
  const keysOf = async (place: Place, ...where: string[]) => {
    const lines = (await write(place, { format: 'jsonl', where })).toString().split('\n').slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as { a_primarykey: string }).a_primarykey);
  };

  test('those of a search, all to be met; of a table by its code', async (t) => {
    const place = await filled(t, RECORDS);
    assert.deepEqual(await keysOf(place, 'a_date=1800-01-01', 'a_date_to=2100-12-31'), ['007', ' 3 ']);
    assert.deepEqual(await keysOf(place, 'a_number=0.05'), ['007', '4', '6']);
    assert.deepEqual(await keysOf(place, 'a_checkbox=乙,丙'), ['007']);
    assert.deepEqual(await keysOf(place, 'a_text=1+'), ['007']);
    assert.deepEqual(await keysOf(place, 'a_lines.line_text=①髙', 'a_lines.line_number_to=0.3'), ['5']);
    assert.deepEqual(await keysOf(place, 'a_text=='), ['007']);
    assert.deepEqual(await keysOf(place, 'a_primarykey=nothing'), []);
    assert.deepEqual(
      await keysOf(place, 'a_text='),
      RECORDS.map(({ form }) => form.a_primarykey),
    );
  });

  test('more than one batch of them, each once', async (t) => {
    const records = Array.from({ length: 1_300 }, (_, index) => ({
      form: { a_primarykey: `k${index}`, a_number: String(index % 2) },
    }));
    const place = await filled(t, records);
    assert.deepEqual(
      await keysOf(place, 'a_number=1'),
      records.filter(({ form }) => form.a_number === '1').map(({ form }) => form.a_primarykey),
    );
  });

  test('every mistake in them is told', async (t) => {
    const place = await filled(t, []);
    const where = ['x', 'nothing=1', 'a_date=today', 'a_time=10:00', 'none.mark=1', 'a_lines.none=1'];
    await assert.rejects(
      write(place, { format: 'csv', where: ['x', 'a_primarykey=1', 'a_primarykey=2'] }),
      /"x" is not field=keyword\n.*a_primarykey is given twice/,
    );
    await assert.rejects(write(place, { format: 'csv', where: where.slice(1) }), (error: Error) => {
      assert.ok(error instanceof Mistake);
      for (const part of ['nothing', 'a_date', 'a_time', 'none', 'a_lines.none'])
        assert.match(error.message, new RegExp(`"${part}`));
      return true;
    });
  });
});

describe('what a format cannot hold ends the export with the record, the field and the reason', () => {
  test('a character that CP932 does not have', async (t) => {
    const place = await filled(t, [...RECORDS.slice(0, 1), { form: { a_primarykey: '8', a_text: 'a😀' } }]);
    await assert.rejects(
      write(place, { format: 'csv', encoding: 'cp932' }),
      /^Mistake: record 2 \(8\), a_text: CP932 does not have the character 😀 \(U\+1F600\); write UTF-8/,
    );
  });

  test('more characters than a cell of Excel has; as many as it has are written', async (t) => {
    const place = await filled(t, [
      { form: { a_primarykey: '1', a_area: 'x'.repeat(32_767) } },
      { form: { a_primarykey: '2', a_area: 'y'.repeat(32_768) } },
    ]);
    await assert.rejects(
      write(place, { format: 'xlsx' }),
      /record 2 \(2\), a_area: a cell of Excel has 32,767 characters/,
    );
    assert.match((await write(place, { format: 'csv' })).toString(), /y{32768}/);
  });
});

test('the command: the format by the name of the file; a file that is not whole never has its name', async (t) => {
  const { place } = await filled(t, [...RECORDS, ...BEYOND]);
  const folder = temporaryFolder(t);
  const run = (...args: string[]) => daicho(['record', 'export', 'A', ...args, ...flagsFor(place)]);
  const sheet = join(folder, 'a.XLSX');
  const ran = await run('--output', sheet, '--where', 'a_number=0.05', '--json');
  assert.deepEqual(JSON.parse(ran.out), { app: 'A', output: sheet, format: 'xlsx', records: 3, files: 0 });
  assert.equal(readFileSync(sheet).toString('latin1', 0, 4), 'PK\x03\x04');
  const csv = join(folder, 'a.csv');
  writeFileSync(csv, 'before');
  const refused = await run('--output', csv, '--encoding', 'cp932');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /CP932 does not have the character/);
  assert.deepEqual([readFileSync(csv, 'utf8'), existsSync(`${csv}.part`)], ['before', false]);
  const printed = await run('--format', 'jsonl');
  assert.equal(printed.out.split('\n').length, RECORDS.length + BEYOND.length + 1);
  assert.match((await run('--format', 'xlsx', '--encoding', 'utf-8')).err, /--encoding is for CSV/);
  assert.match((await run('--output', join(folder, 'none', 'a.csv'))).err, /ENOENT/);
});
