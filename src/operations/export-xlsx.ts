// Records as one sheet of XLSX, its lines those of CSV (P12): numbers, dates and times as such, all else as text (P22).
import type { App } from '../app/app.ts';
import { typeOf } from '../fields/field-types.ts';
import { Mistake } from '../store/register.ts';
import { columnsOf, headerOf, linesOf } from './export-lines.ts';
import { type ExportedRecord, type Piece, placeOf, type RecordsWriter } from './exported.ts';
import { zipped } from './write-zip.ts';
import { numberOfValue, type Shown } from './xlsx-values.ts';

/** Limits of Excel: lines and columns of a sheet, UTF-16 units of a cell. */
const MOST_LINES = 1_048_576;
const MOST_COLUMNS = 16_384;
const MOST_UNITS = 32_767;
/** UTF-16 units after which text goes on its way, so that little of a sheet is in memory. */
const PIECE = 1 << 15;

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PART = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

const CONTENT_TYPES = `${DECLARATION}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${PART}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${PART}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${PART}.styles+xml"/></Types>`;
const RELATIONS = `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;
const WORKBOOK_RELATIONS = `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`;

/** Formats of the cells by number of their style: the default one, the header, texts, moments, then numbers by their decimals. */
const HEADER = 1;
const TEXT = 2;
const MOMENTS = { date: 3, datetime: 4, time: 5 } as const;
const NUMBERS = 6;
const CODES = [
  'yyyy-mm-dd',
  'yyyy-mm-dd hh:mm:ss',
  'hh:mm:ss',
  ...Array.from({ length: 15 }, (_, index) => `0.${'0'.repeat(index + 1)}`),
];
/** Formats of a file's own begin with this number. */
const OWN = 164;

const STYLES = `${DECLARATION}<styleSheet xmlns="${MAIN}"><numFmts count="${CODES.length}">${CODES.map((code, index) => `<numFmt numFmtId="${OWN + index}" formatCode="${code}"/>`).join('')}</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${3 + CODES.length}">${styleOf(0, 0)}${styleOf(49, 1)}${styleOf(49, 0)}${CODES.map((_, index) => styleOf(OWN + index, 0)).join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

const VIEW =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';

/** Writes a workbook whose sheet has the app's code as its name; what Excel cannot hold ends it with a Mistake. */
export function xlsxWriter(code: string, names: boolean): RecordsWriter {
  return (app, records) =>
    zipped([
      { name: '[Content_Types].xml', content: [CONTENT_TYPES] },
      { name: '_rels/.rels', content: [RELATIONS] },
      { name: 'xl/workbook.xml', content: [workbook(code)] },
      { name: 'xl/_rels/workbook.xml.rels', content: [WORKBOOK_RELATIONS] },
      { name: 'xl/styles.xml', content: [STYLES] },
      { name: 'xl/worksheets/sheet1.xml', content: sheet(app, headerOf(app, names), records) },
    ]);
}

function styleOf(format: number, font: number): string {
  return `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`;
}

/** An app code has none of the characters that a sheet's name cannot have; it may be longer than the 31 of one. */
function workbook(code: string): string {
  return `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="${code.slice(0, 31)}" sheetId="1" r:id="rId1"/></sheets></workbook>`;
}

async function* sheet(
  app: App,
  header: readonly string[],
  records: AsyncIterable<readonly ExportedRecord[]>,
): AsyncGenerator<Piece> {
  if (header.length > MOST_COLUMNS)
    throw new Mistake(
      `${header.length.toLocaleString('en')} fields: a sheet of Excel has ${MOST_COLUMNS.toLocaleString('en')} columns; write CSV`,
    );
  const columns = columnsOf(app).map((field, index) => ({
    id: field.id,
    letters: lettersOf(index),
    isOrdered: typeOf(field).compares === 'order',
  }));
  yield `${DECLARATION}<worksheet xmlns="${MAIN}">${VIEW}<sheetData><row r="1">${header.map((name, index) => textCell(`${lettersOf(index)}1`, name, HEADER)).join('')}</row>`;
  let line = 1;
  for await (const batch of records) {
    let text = '';
    for (const record of batch) {
      for (const cells of linesOf(app, record)) {
        if (++line > MOST_LINES)
          throw new Mistake(
            `a sheet of Excel has ${MOST_LINES.toLocaleString('en')} lines, and the records need more; write CSV, or a part of them with --where`,
          );
        text += `<row r="${line}">`;
        for (let index = 0; index < columns.length; index++) {
          const cell = cells[index] as string;
          if (cell === '') continue;
          const { id, letters, isOrdered } = columns[index] as (typeof columns)[number];
          if (cell.length > MOST_UNITS)
            throw new Mistake(
              `${placeOf(record, id)}: a cell of Excel has ${MOST_UNITS.toLocaleString('en')} characters at most, and this value ${cell.length.toLocaleString('en')}; write CSV`,
            );
          const number = isOrdered ? numberOfValue(cell) : null;
          const ref = `${letters}${line}`;
          text +=
            number === null
              ? textCell(ref, cell, TEXT)
              : `<c r="${ref}" s="${styleNumber(number.shown)}"><v>${number.number}</v></c>`;
        }
        text += '</row>';
      }
      if (text.length < PIECE) continue;
      yield text;
      text = '';
    }
    yield text;
  }
  yield '</sheetData></worksheet>';
}

function styleNumber(shown: Shown): number {
  if (shown.kind !== 'number') return MOMENTS[shown.kind];
  return shown.decimals === 0 ? 0 : NUMBERS + shown.decimals - 1;
}

function textCell(ref: string, text: string, style: number): string {
  const space = /^\s|\s$|[\t\n\r]/.test(text) ? ' xml:space="preserve"' : '';
  return `<c r="${ref}" s="${style}" t="inlineStr"><is><t${space}>${escaped(text)}</t></is></c>`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what XML cannot have
const SPECIAL = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g;

/** Text as XML has it; what XML does not have as `_xHHHH_`, and so what looks like that. */
function escaped(text: string): string {
  return text.replace(SPECIAL, (character) => {
    if (character === '&') return '&amp;';
    if (character === '<') return '&lt;';
    if (character === '>') return '&gt;';
    return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  });
}

/** `A` for the first column, `AA` for the 27th. */
function lettersOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : lettersOf(Math.floor(index / 26) - 1) + letter;
}
