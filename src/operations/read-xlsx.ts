// The lines of a sheet of XLSX, as many at a time as a piece of it holds: cells as the texts that an import understands (P22).
import { stat } from 'node:fs/promises';
import { Mistake } from '../store/register.ts';
import type { LinesPiece } from './read-csv.ts';
import { openZip, type ZipArchive } from './read-zip.ts';
import type { CsvLine } from './scan-csv.ts';
import { attributeOf } from './scan-xml.ts';
import { PLAIN, textOfMoment, textOfNumber } from './xlsx-values.ts';
import { plainText, readWorkbook, type Sheet, textReader, type Workbook, xmlPieces } from './xlsx-workbook.ts';

/** Columns of a sheet of Excel; a cell that says it is further right is a mistake. */
const MOST_COLUMNS = 16_384;

/** The attributes of a cell as most programs write them: all at once is faster than one by one. */
const USUAL = /^ r="([A-Z]+\d+)"(?: s="(\d+)")?(?: t="(\w+)")?$/;

/** Reads a sheet to its end: the one of the name, else the first that is not hidden. Lines without any value are left out; all have as many cells as the first. */
export async function* readXlsx(file: string, name?: string): AsyncGenerator<LinesPiece> {
  const { size } = await stat(file);
  const archive = await openZip(file);
  const workbook = await readWorkbook(archive);
  const sheet = sheetOf(file, workbook, name);
  let read = 0;
  const onRead = (share: number) => {
    read = Math.round(share * size);
  };
  let width = 0;
  for await (const lines of sheetLines(archive, sheet, workbook, onRead)) {
    const filled = lines.filter(({ cells, fault }) => fault !== undefined || cells.some((cell) => cell !== ''));
    width ||= filled[0]?.cells.length ?? 0;
    for (const { cells } of filled) while (cells.length < width) cells.push('');
    yield { lines: filled, bytes: read };
  }
}

function sheetOf(file: string, { sheets }: Workbook, name: string | undefined): Sheet {
  const found = sheets.find((sheet) => (name === undefined ? !sheet.isHidden : sheet.name === name));
  if (found !== undefined) return found;
  const names = sheets.filter(({ isHidden }) => !isHidden).map((sheet) => sheet.name);
  throw new Mistake(
    name === undefined
      ? `${file} has no sheet that is not hidden`
      : `${file} has no sheet ${name}; its sheets are ${names.join(', ')}`,
  );
}

type Line = CsvLine & { readonly cells: string[] };

async function* sheetLines(
  archive: ZipArchive,
  { part }: Sheet,
  workbook: Workbook,
  onRead: (share: number) => void,
): AsyncGenerator<Line[]> {
  let lines: Line[] = [];
  let cells: string[] = [];
  let fault: string | undefined;
  let line = 0;
  let column = 0;
  let cell = { ref: '', says: '', style: 0, hasFormula: false, value: null as string | null };
  let isInRow = false;
  let isInCell = false;
  let isValue = false;
  const inline = textReader();

  const open = (name: string, attributes: string) => {
    if (name === 'row') {
      line = Number(attributeOf(attributes, 'r') ?? line + 1);
      column = 0;
      isInRow = true;
    } else if (name === 'c' && isInRow) {
      const [, ref = '', style = 0, says = 'n'] = USUAL.exec(attributes) ?? [
        '',
        ...['r', 's', 't'].map((attribute) => attributeOf(attributes, attribute) ?? undefined),
      ];
      cell = { ref, says, style: Number(style), hasFormula: false, value: null };
      if (ref !== '') column = columnOf(ref);
      isInCell = true;
    } else if (isInCell) {
      if (name === 'v') {
        isValue = true;
        cell.value = '';
      } else if (name === 'f') cell.hasFormula = true;
      else inline.open(name, attributes);
    }
  };
  const text = (piece: string) => {
    if (isValue) cell.value += piece;
    else if (isInCell) inline.text(piece);
  };
  const close = (name: string) => {
    if (name === 'v') isValue = false;
    else if (name === 'c' && isInCell) {
      const said = cell.says === 'inlineStr' ? inline.take() : contentOf(cell, workbook);
      if (column >= MOST_COLUMNS) throw new Mistake(`the sheet has a cell ${cell.ref}, which no sheet of Excel has`);
      if (typeof said !== 'string') fault ??= said.fault;
      else if (said !== '') {
        while (cells.length < column) cells.push('');
        cells[column] = said;
      }
      column++;
      isInCell = false;
    } else if (name === 'row') {
      lines.push(fault === undefined ? { cells, line } : { cells, line, fault });
      cells = [];
      fault = undefined;
      isInRow = false;
    } else if (isInCell) inline.close(name);
  };

  for await (const _ of xmlPieces(archive, part, { open, text, close }, onRead)) {
    yield lines;
    lines = [];
  }
}

interface Cell {
  readonly ref: string;
  /** What its value is: `s` for one of the shared texts, … */
  readonly says: string;
  readonly style: number;
  readonly hasFormula: boolean;
  readonly value: string | null;
}

/** What a cell says, or why it says nothing. */
function contentOf(
  { ref, says, style, hasFormula, value }: Cell,
  { texts, shown, is1904 }: Workbook,
): string | { readonly fault: string } {
  if (value === null) {
    return hasFormula
      ? { fault: `cell ${ref} has a formula that was never calculated; save the file in Excel first` }
      : '';
  }
  switch (says) {
    case 's': {
      const index = Number(value);
      return index < texts.count ? texts.at(index) : { fault: `cell ${ref} names a text that the file does not have` };
    }
    case 'str':
      return plainText(value);
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'e':
      return { fault: `cell ${ref} has the error ${value}` };
    case 'd':
      return value.replace('T', ' ').replace(/(?:\.\d+)?Z?$/, '');
  }
  const number = value.trim() === '' ? Number.NaN : Number(value);
  const { kind, ...format } = shown[style] ?? PLAIN;
  if (value === '') return '';
  if (!Number.isFinite(number)) return { fault: `cell ${ref} has a number that is none: ${value.slice(0, 40)}` };
  if (kind === 'number') return textOfNumber(number, 'decimals' in format ? format.decimals : 0);
  return (
    textOfMoment(number, kind, is1904) ?? { fault: `cell ${ref} is shown as a date or time and is none: ${value}` }
  );
}

/** Which column a cell is in, from 0. */
function columnOf(ref: string): number {
  let column = 0;
  for (let at = 0; at < ref.length; at++) {
    const letter = ref.charCodeAt(at) & ~32;
    if (letter < 65 || letter > 90) break;
    column = column * 26 + letter - 64;
  }
  return column - 1;
}
