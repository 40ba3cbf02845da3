// Importing XLSX and JSON lines: what cells say, which sheet, bad cells, going on after a stop; files of other programs.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { readXlsx as readElsewhere, writeXlsx as writeElsewhere } from 'hucre/xlsx';
import { type ImportOptions, importRecords } from '../src/operations/import-records.ts';
import { readDefinition } from '../src/operations/read-definition.ts';
import { readXlsx } from '../src/operations/read-xlsx.ts';
import { zipped } from '../src/operations/write-zip.ts';
import { numberOfValue, shownBy, textOfMoment, textOfNumber } from '../src/operations/xlsx-values.ts';
import { Mistake } from '../src/store/register.ts';
import { engineAt, flagsFor, freshRegister } from './harness/fresh-register.ts';
import { daicho, temporaryFolder } from './harness/run-daicho.ts';

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

interface Book {
  /** XML inside of `worksheet`, by name of the sheet; a name in parentheses is hidden. */
  readonly sheets: Readonly<Record<string, string>>;
  readonly styles?: string;
  readonly strings?: string;
  readonly settings?: string;
}

/** A workbook as Excel writes it: the sheets before the texts that they share. */
function book({ sheets, styles = '', strings = '', settings = '' }: Book): Promise<Buffer> {
  const list = Object.entries(sheets);
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  const sheetOf = (name: string, index: number) =>
    name.startsWith('(')
      ? `<sheet name="${name.slice(1, -1)}" sheetId="${index + 1}" state="hidden" r:id="rId${index + 1}"/>`
      : `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`;
  const parts: readonly (readonly [string, string])[] = [
    ['_rels/.rels', `<Relationships>${relation(1, 'officeDocument', '/xl/workbook.xml')}</Relationships>`],
    [
      'xl/workbook.xml',
      `<workbook xmlns:r="${RELATIONS}">${settings}<sheets>${list.map(([name], index) => sheetOf(name, index)).join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships>${list.map((_, index) => relation(index + 1, 'worksheet', `worksheets/s${index + 1}.xml`)).join('')}${relation(98, 'styles', 'styles.xml')}${relation(99, 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    ],
    ...list.map(([, xml], index) => [`xl/worksheets/s${index + 1}.xml`, `<worksheet>${xml}</worksheet>`] as const),
    ['xl/styles.xml', `<styleSheet>${styles}</styleSheet>`],
    ['xl/sharedStrings.xml', `<sst>${strings}</sst>`],
  ];
  return buffer(
    Readable.from(zipped(parts.map(([name, xml]) => ({ name, content: [`<?xml version="1.0"?>\r\n${xml}`] })))),
  );
}

const data = (...rows: readonly string[]) => `<sheetData>${rows.join('')}</sheetData>`;

async function linesOf(t: TestContext, content: Uint8Array, sheet?: string) {
  const file = join(temporaryFolder(t), 'a.xlsx');
  writeFileSync(file, content);
  const lines = [];
  for await (const piece of readXlsx(file, sheet)) lines.push(...piece.lines);
  return lines;
}

const cellsOf = async (t: TestContext, content: Uint8Array, sheet?: string) =>
  (await linesOf(t, content, sheet)).map(({ cells }) => cells);

const DEFINITION = `code: A
fields:
  - { id: a_primarykey, type: id, search: exact }
  - { id: a_name, type: text, name: { ja: 顧客 }, required: true }
  - { id: a_amount, type: number }
  - { id: a_due, type: date }
  - { id: a_kind, type: text, default: 標準 }
tables:
  - code: a_lines
    fields:
      - { id: line_product, type: text, required: true }
      - { id: line_qty, type: number, default: "1" }
`;

async function importing(t: TestContext) {
  const folder = temporaryFolder(t);
  const { openRegister, place, remove } = await freshRegister();
  const register = await openRegister();
  t.after(() => register.close().finally(remove));
  const read = readDefinition('a.yaml', DEFINITION);
  if ('problems' in read) assert.fail(read.problems.join('\n'));
  await register.apply(read.app, read.source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  return {
    ...{ folder, place, register },
    load(name: string, content: string | Uint8Array, options: Partial<ImportOptions> = {}) {
      const file = join(folder, name);
      writeFileSync(file, content);
      return importRecords(register, {
        ...{ appCode: 'A', file, map: new Map(), dryRun: false, signal: new AbortController().signal },
        ...{ progress() {}, onIndexing() {} },
        ...options,
      });
    },
    /** The values of the fields, and of the rows. */
    async records() {
      const source = await (await engineAt(place)).openSource();
      try {
        await source.look();
        const { apps } = await source.catalog();
        const records = await source.records(apps[0]?.id as number, { place: 0 }, 100_000);
        return records.map(({ values, rows }) => [values.slice(0, 5), rows[0]] as const);
      } finally {
        await source.close();
      }
    },
  };
}

describe('cells', () => {
  test('numbers are exact, without exponents, with the digits that Excel keeps', () => {
    const said: readonly (readonly [string, number, string])[] = [
      ['0.1', 0, '0.1'],
      ['1.0E+05', 0, '100000'],
      ['0.30000000000000004', 0, '0.3'],
      ['1.1000000000000001', 0, '1.1'],
      ['123456789012345', 0, '123456789012345'],
      ['1.23456789012345E+20', 0, '123456789012345000000'],
      ['-1E-7', 0, '-0.0000001'],
      ['-12345.678901234567', 0, '-12345.6789012346'],
      ['0', 2, '0.00'],
      ['5', 2, '5.00'],
      ['-0.5', 3, '-0.500'],
      ['1.2345', 2, '1.2345'],
      ['99999999999999999', 0, '100000000000000000'],
    ];
    for (const [written, decimals, text] of said) assert.equal(textOfNumber(Number(written), decimals), text);
  });

  test('a value that a number cannot say the same way is a text', () => {
    for (const value of [
      '007',
      '-0',
      '1234567890123456',
      '.5',
      '5.',
      '1e5',
      '0.1234567890123456',
      '-007.10',
      '1900-02-28',
      '1899-12-31 00:00:00',
    ])
      assert.equal(numberOfValue(value), null, value);
    for (const value of ['0', '-0.1', '1.50', '999999999999999', '0.000000000000001', '100000000000000000000'])
      assert.ok(numberOfValue(value), value);
  });

  test('every second of a day, and days of all years from March 1900 on, come back from their numbers', () => {
    const back = (value: string) => {
      const found = numberOfValue(value);
      assert.ok(found !== null && found.shown.kind !== 'number', value);
      return textOfMoment(Number(String(found.number)), found.shown.kind, false);
    };
    for (let second = 0; second < 86_400; second += 7) {
      const time = new Date(second * 1000).toISOString().slice(11, 19);
      assert.equal(back(time), time);
      assert.equal(back(`9999-12-31 ${time}`), `9999-12-31 ${time}`);
    }
    for (let day = Date.UTC(1900, 2, 1); day <= Date.UTC(9999, 11, 31); day += 97 * 86_400_000) {
      const date = new Date(day).toISOString().slice(0, 10);
      assert.equal(back(date), date);
    }
  });

  test('which formats show dates and times', () => {
    const kinds: readonly (readonly [string, string])[] = [
      ['yyyy/m/d', 'date'],
      ['[$-411]ggge"年"m"月"d"日";@', 'date'],
      ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 'date'],
      ['mmm', 'date'],
      ['m"月"d"日"\\(aaa\\)', 'date'],
      ['yyyy-mm-dd hh:mm:ss', 'datetime'],
      ['m/d/yy h:mm AM/PM', 'datetime'],
      ['[h]:mm:ss', 'time'],
      ['mm:ss.0', 'time'],
      ['h"時"mm"分"', 'time'],
      ['0.00E+00', 'number'],
      ['[Red]#,##0;[Blue]-#,##0', 'number'],
      ['"ymd"0', 'number'],
      ['General', 'number'],
      ['G/標準', 'number'],
      ['@', 'number'],
    ];
    for (const [code, kind] of kinds) assert.equal(shownBy(200, code).kind, kind, code);
    assert.deepEqual(shownBy(200, '#,##0.00_);[Red]\\(#,##0.00\\)'), { kind: 'number', decimals: 2 });
    assert.equal(shownBy(14, undefined).kind, 'date');
    assert.equal(shownBy(57, undefined).kind, 'date');
    assert.equal(shownBy(22, undefined).kind, 'datetime');
  });

  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;m&quot;月&quot;d&quot;日&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="20"/></cellXfs>';
  const strings =
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><r><t>赤</t></r><r><rPr><b/></rPr><t xml:space="preserve"> い</t></r></si><si><t>a&amp;b&#10;c_x000D_</t></si><si/>';

  test('shared and rich texts without their readings, booleans, values of formulas, dates by their formats', async (t) => {
    const rows = [
      '<row r="3" spans="1:9"><c r="B3" t="s"><v>0</v></c><c r="C3" t="inlineStr"><is><r><t>x</t></r><r><t>y</t></r></is></c><c r="D3" t="str"><f>A1&amp;"q"</f><v>q&lt;</v></c></row>',
      '<row r="4"><c r="B4" s="1"><v>46027</v></c><c r="C4" s="2"><v>46027.999988425923</v></c><c r="D4" s="3"><v>0.5</v></c></row>',
      '<row r="5"><c r="B5" s="1"><v>46027.25</v></c><c r="C5" t="b"><v>1</v></c><c r="D5"><f>1/3</f><v>0.33333333333333331</v></c></row>',
      '<row r="6"/><row r="7"><c r="B7" s="1"/></row>',
      "<x:row x:r='8' xmlns:x='m'><x:c r='B8' t='s'><x:v>1</x:v></x:c><x:c t='s'><x:v>2</x:v></x:c><c t='s'><v>3</v></c></x:row>",
      '<row r="9"><c r="B9" s="1"><v>60</v></c><c r="C9" s="1"><v>1</v></c><c t="d" s="1"><v>2026-01-05T10:00:00</v></c></row>',
    ];
    const content = await book({ sheets: { a: `<!-- > -->${data(...rows)}<mergeCells/>` }, styles, strings });
    assert.deepEqual(await linesOf(t, content), [
      { line: 3, cells: ['', '東京', 'xy', 'q<'] },
      { line: 4, cells: ['', '2026-01-05', '2026-01-05 23:59:59', '12:00:00'] },
      { line: 5, cells: ['', '2026-01-05 06:00:00', 'TRUE', '0.333333333333333'] },
      { line: 8, cells: ['', '赤 い', 'a&b\nc\r', ''] },
      { line: 9, cells: ['', '1900-02-29', '1900-01-01', '2026-01-05 10:00:00'] },
    ]);
  });

  test('days are counted from 1904 where the workbook says so', async (t) => {
    const row = '<row><c t="inlineStr"><is><t>d</t></is></c></row><row><c s="1"><v>44565</v></c></row>';
    const content = await book({ sheets: { a: data(row) }, styles, settings: '<workbookPr date1904="1"/>' });
    assert.deepEqual(await cellsOf(t, content), [['d'], ['2026-01-05']]);
  });

  test('the first sheet that is not hidden, or the one of a name', async (t) => {
    const sheet = (text: string) => data(`<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`);
    const content = await book({ sheets: { '(secret)': sheet('x'), one: sheet('1'), 二: sheet('2') } });
    assert.deepEqual(await cellsOf(t, content), [['1']]);
    assert.deepEqual(await cellsOf(t, content, '二'), [['2']]);
    await assert.rejects(linesOf(t, content, 'three'), /has no sheet three; its sheets are one, 二$/);
  });

  test('a file that is damaged is refused, wherever it is cut', async (t) => {
    const rows = Array.from(
      { length: 3_000 },
      (_, row) => `<row><c><v>${row}.${Math.imul(row, 2_654_435_761) >>> 0}</v></c></row>`,
    );
    const content = await book({ sheets: { a: data(...rows) } });
    assert.equal((await linesOf(t, content)).length, 3_000);
    for (const end of [content.length - 1, content.length - 30, content.length >> 1, 100])
      await assert.rejects(linesOf(t, content.subarray(0, end)), Mistake);
    const damaged = Buffer.from(content);
    damaged.fill(0, content.length >> 1, (content.length >> 1) + 200);
    await assert.rejects(linesOf(t, damaged), Mistake);
    const open = await book({ sheets: { a: '<sheetData><row><c><v>1</v></c>' } }).catch(() => null);
    assert.ok(open);
    await assert.rejects(linesOf(t, open), /is not XML as it should be/);
    await assert.rejects(linesOf(t, await book({ sheets: { a: '<!DOCTYPE x [<!ENTITY y "z">]>' } })), /document type/);
  });
});

describe('XLSX', () => {
  const table = (...rows: readonly (readonly (string | number)[])[]) =>
    data(
      ...rows.map(
        (cells) =>
          `<row>${cells.map((cell) => (typeof cell === 'number' ? `<c><v>${cell}</v></c>` : `<c t="inlineStr"><is><t>${cell}</t></is></c>`)).join('')}</row>`,
      ),
    );

  test('records and their rows; cells with errors make bad rows, which go to a CSV file', async (t) => {
    const { load, records, folder } = await importing(t);
    const sheet = table(
      ['a_primarykey', '顧客', 'a_amount', 'line_product'],
      [1, '山田', 0.1, 'ペン'],
      ['', '', '', '紙'],
      [2, '佐藤', '百', ''],
    ).replace(
      '</sheetData>',
      '<row r="9"><c><v>3</v></c><c t="e"><f>B1/0</f><v>#DIV/0!</v></c></row><row r="10"><c><v>4</v></c><c><f>B1</f></c></row></sheetData>',
    );
    const report = await load('a.xlsx', await book({ sheets: { a: sheet } }));
    assert.deepEqual([report.format, report.encoding, report.inserted, report.bad], ['xlsx', null, 1, 3]);
    assert.deepEqual(await records(), [
      [
        ['1', '山田', '0.1', '', '標準'],
        [
          ['ペン', '1'],
          ['紙', '1'],
        ],
      ],
    ]);
    assert.equal(report.errorsFile, join(folder, 'a.errors.csv'));
    const errors = readFileSync(join(folder, 'a.errors.csv'), 'utf8').trimEnd().split('\r\n').slice(1);
    assert.match(errors[0] ?? '', /^2,佐藤,百,,.*a_amount.*not a number/);
    assert.match(errors[1] ?? '', /^3,,,,"?cell B9 has the error #DIV\/0!|^3,,,,.*error #DIV/);
    assert.match(errors[2] ?? '', /^4,,,,.*cell B10|^4,,,,.*formula that was never calculated/);
  });

  test('a stopped import goes on where it was', async (t) => {
    const { load, register } = await importing(t);
    const rows = Array.from({ length: 6_000 }, (_, row) => [`n${row}`, row]);
    const content = await book({ sheets: { a: table(['a_name', 'a_amount'], ...rows) } });
    const stop = new AbortController();
    const first = await load('a.xlsx', content, {
      signal: stop.signal,
      progress: (done) => void (done > 0 && stop.abort()),
    });
    assert.ok(first.stopped && first.inserted > 0 && first.inserted < 6_000);
    const second = await load('a.xlsx', content);
    assert.deepEqual([second.resumedAt, first.inserted + second.inserted], [first.inserted, 6_000]);
    assert.equal(await register.countRecords('A'), 6_000);
  });

  test('what is no XLSX is refused with what to do; options are of their formats', async (t) => {
    const { load } = await importing(t);
    await assert.rejects(load('a.xls', Buffer.from('d0cf11e0a1b11ae100', 'hex')), /save it as XLSX/);
    await assert.rejects(load('a.xlsx', 'a_name\nx\n'), /is not an XLSX file/);
    await assert.rejects(load('a.csv', 'a_name\nx\n', { sheet: 'a' }), /--sheet is for XLSX/);
    await assert.rejects(
      load('a.xlsx', await book({ sheets: { a: table(['a_name']) } }), { encoding: 'cp932' }),
      /--encoding is for CSV/,
    );
    await assert.rejects(load('a.xlsx', await book({ sheets: { a: data() } })), /has no header row/);
  });

  test('app infer and record import by the command line', async (t) => {
    const { folder, place } = await importing(t);
    const file = join(folder, 'b.xlsx');
    writeFileSync(
      file,
      await book({ sheets: { x: table(['y']), b: table(['顧客', 'a_amount'], ['山田', 1.5], ['佐藤', 20]) } }),
    );
    const inferred = await daicho(['app', 'infer', file, '--code', 'B', '--sheet', 'b']);
    assert.match(inferred.out, /type: number/);
    const report = JSON.parse(
      (await daicho(['record', 'import', 'A', file, '--sheet', 'b', '--json', ...flagsFor(place)])).out,
    );
    assert.deepEqual([report.inserted, report.format], [2, 'xlsx']);
  });
});

describe('another program', () => {
  test('reads what is written: types, texts as they are, the frozen header', async (t) => {
    const { load, place, folder } = await importing(t);
    await load(
      'a.csv',
      'a_primarykey,a_name,a_amount,a_due\n007," =1+1\r\nx_x000D_",1.50,2026-01-05\n2,#N/A,1234567890123456789,1899-12-31\n',
    );
    const file = join(folder, 'out.xlsx');
    assert.equal((await daicho(['record', 'export', 'A', '--output', file, ...flagsFor(place)])).code, 0);
    const { sheets } = await readElsewhere(readFileSync(file));
    assert.equal(sheets[0]?.name, 'A');
    assert.deepEqual(sheets[0]?.rows[0]?.slice(0, 4), ['a_primarykey', 'a_name', 'a_amount', 'a_due']);
    assert.deepEqual(sheets[0]?.rows[1]?.slice(0, 4), ['007', ' =1+1\r\nx_x000D_', 1.5, new Date('2026-01-05')]);
    assert.deepEqual(sheets[0]?.rows[2]?.slice(0, 4), ['2', '#N/A', '1234567890123456789', '1899-12-31']);
    assert.equal(sheets[0]?.freezePane?.rows, 1);
  });

  test('writes what is read', async (t) => {
    const content = await writeElsewhere({
      sheets: [
        {
          name: 'x',
          rows: [
            ['a', 'b', 'c'],
            ['東京', 0.1, new Date(Date.UTC(2026, 0, 5))],
            [true, '山\n田', -12.5],
          ],
        },
      ],
    });
    assert.deepEqual(await cellsOf(t, content), [
      ['a', 'b', 'c'],
      ['東京', '0.1', '2026-01-05'],
      ['TRUE', '山\n田', '-12.5'],
    ]);
  });
});

describe('JSON lines', () => {
  test('a record has the fields that its line has; the others keep their values, or get their defaults', async (t) => {
    const { load, records } = await importing(t);
    const first = await load(
      'a.jsonl',
      '{"a_name":"山田","a_amount":100,"a_lines":[{"line_product":"ペン"},{"line_product":"紙","line_qty":""}]}\n\n{"a_name":"佐藤","a_kind":null,"pms_i_usr":"x"}',
    );
    assert.deepEqual([first.format, first.inserted, first.bad], ['jsonl', 2, 0]);
    await load('b.jsonl', '{"a_primarykey":"1","a_amount":"2.50"}\r\n');
    assert.deepEqual(await records(), [
      [
        ['1', '山田', '2.50', '', '標準'],
        [
          ['ペン', '1'],
          ['紙', ''],
        ],
      ],
      [['2', '佐藤', '', '', ''], []],
    ]);
  });

  test('bad lines go to a file of JSON lines with the reasons, which can be imported when put right', async (t) => {
    const { load, records, folder } = await importing(t);
    const lines = [
      '{"a_name":"山田","a_amount":"百","a_due":"2026-02-30"}',
      '{"a_amount":"1"}',
      '{"a_name":"佐藤","none":1}',
      '{"a_name":"鈴木"',
      '{"a_name":["x"]}',
      '{"a_name":"高橋","a_lines":[{"line_qty":"1"},[]]}',
      '{"a_name":"a","a_name":"b"}',
      '{"a_name":"x","a_amount":12345678901234567890123}',
      '[1]',
      '{ }',
    ];
    const report = await load('a.jsonl', `${lines.join('\n')}\n{"a_name":"good"}\n`);
    assert.deepEqual([report.inserted, report.bad], [1, lines.length]);
    const written = readFileSync(join(folder, 'a.errors.jsonl'), 'utf8');
    const errors = written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).error as string);
    const reasons = [
      /a_amount.*not a number.*a_due.*not a date/,
      /"a_name" is required/,
      /no field none/,
      /not JSON, from character/,
      /"a_name" is not a text/,
      /"a_lines.line_product" is required.*row 2 of "a_lines"/,
      /"a_name" is there twice/,
      /"a_amount" is not a text/,
      /not a JSON object/,
      /"a_name" is required/,
    ];
    for (const [index, reason] of reasons.entries()) assert.match(errors[index] ?? '', reason);
    const [first = ''] = written.split('\n');
    const again = await load('a.jsonl', first.replace('百', '100').replace('2026-02-30', '2026-02-28'));
    assert.deepEqual([again.inserted, again.errorsFile], [1, null]);
    assert.ok(!existsSync(join(folder, 'a.errors.jsonl')));
    assert.deepEqual((await records())[1]?.[0], ['2', '山田', '100', '2026-02-28', '標準']);
  });

  test('--map says which field a member is for, or none', async (t) => {
    const { load, records } = await importing(t);
    await load('a.jsonl', '{"who":"山田","x":{"y":[1]}}\n', {
      map: new Map([
        ['who', 'a_name'],
        ['x', ''],
      ]),
    });
    assert.equal((await records())[0]?.[0][1], '山田');
    await assert.rejects(load('a.jsonl', '{}\n', { map: new Map([['x', 'none']]) }), /there is no field none/);
  });
});
