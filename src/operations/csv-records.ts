// Lines of a CSV file → records: which lines belong together, and what they say, or why it cannot be.

import type { App, Field } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import type { Problem } from '../errors.ts';
import type { FieldType } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';
import { messageOf } from '../messages/messages.ts';
import type { LoadRecord } from '../store/register.ts';
import type { NewFile } from '../update/change.ts';
import type { Columns } from './csv-columns.ts';
import type { FileCell } from './file-cells.ts';
import { type CellReader, cellReader } from './read-cell.ts';
import type { CsvLine } from './scan-csv.ts';

/** A record that is filled again and again: with millions of them, making each anew takes longer than filling it. */
export type ReusableRecord = {
  -readonly [member in keyof LoadRecord]: LoadRecord[member];
} & {
  readonly values: Map<string, string>;
  readonly tables: Map<string, readonly Values[]>;
  files: readonly NewFile[];
  /** What its cells of file fields say; the values are still to be found. */
  readonly fileCells: FileCell[];
};

export interface RecordReader {
  /** Whether a line goes on with the record that begins in `first`: further rows of its tables (P12). */
  continues(first: CsvLine, line: CsvLine): boolean;
  /** Whether a line says nothing at all. */
  isBlank(line: CsvLine): boolean;
  /** Fills a record with what its lines say; gives what is wrong, line by line, or null. */
  fill(record: ReusableRecord, lines: readonly CsvLine[]): readonly (readonly string[])[] | null;
}

export function emptyRecord(): ReusableRecord {
  return { line: 0, primaryKey: null, values: new Map(), tables: new Map(), files: [], fileCells: [] };
}

export function recordReader(app: App, columns: Columns): RecordReader {
  const { width, key } = columns;
  const form = columns.form.map(({ field, position }) => ({ ...readableColumn(field, field.id), position }));
  const rows = columns.tables.map(({ code, fields }) => ({
    code,
    fields: fields.map(({ field, position }) => ({ ...readableColumn(field, `${code}.${field.id}`), position })),
    positions: fields.flatMap(({ position }) => position ?? []),
  }));
  const formPositions = form.map(({ position }) => position);
  const readKey = cellReader(app.primaryKey, app.primaryKey.id);
  // A new record has none of the values that only other columns could give.
  const given = new Set(form.map(({ id }) => id));
  const lacking = app.fields.filter(
    (field) => field.required && field.default === '' && !given.has(field.id) && field !== app.primaryKey,
  );

  let problems: Problem[] | null = null;
  const readCell = (read: CellReader, cell: string): string => {
    const value = read(cell);
    if (typeof value === 'string') return value;
    problems ??= [];
    problems.push(value);
    return '';
  };

  const fillForm = (record: ReusableRecord, { cells }: CsvLine, reasons: string[]) => {
    const keyCell = key === null ? '' : (cells[key] ?? '');
    record.primaryKey = keyCell === '' ? null : readCell(readKey, keyCell);
    if (record.primaryKey === null) {
      for (const { id } of lacking) reasons.push(`"${id}" is required, and the file has no column for it`);
    }
    for (let index = 0; index < form.length; index++) {
      const { id, read, required, isFilled, holds, position } = form[index] as (typeof form)[number];
      const cell = cells[position] ?? '';
      if (cell !== '' && holds !== undefined) {
        const set = (value: string) => void record.values.set(id, value);
        record.fileCells.push({ at: id, line: 0, holds, cell, set });
      } else if (cell !== '') record.values.set(id, readCell(read, cell));
      else if (isFilled) record.values.delete(id);
      else {
        if (required) reasons.push(`"${id}" is required`);
        record.values.set(id, '');
      }
    }
  };

  const fillRows = (record: ReusableRecord, lines: readonly CsvLine[], reasons: readonly string[][]) => {
    for (const { code, fields, positions } of rows) {
      const values: Values[] = [];
      for (let index = 0; index < lines.length; index++) {
        const { cells } = lines[index] as CsvLine;
        if (allEmpty(cells, positions)) continue;
        const row: string[] = fields.map(({ at, read, required, holds, position, otherwise }, place) => {
          const cell = position === null ? otherwise : (cells[position] ?? '');
          if (cell !== '' && holds !== undefined) {
            const set = (value: string) => {
              row[place] = value;
            };
            record.fileCells.push({ at, line: index, holds, cell, set });
            return '';
          }
          if (cell !== '') return position === null ? cell : readCell(read, cell);
          if (required) reasons[index]?.push(`"${at}" is required`);
          return '';
        });
        values.push(row);
        takeProblems(reasons[index] as string[]);
      }
      record.tables.set(code, values);
    }
  };

  const takeProblems = (reasons: string[]) => {
    if (problems === null) return;
    for (const problem of problems) reasons.push(messageOf(problem, 'en'));
    problems = null;
  };

  return {
    continues(first, { cells }) {
      if (rows.length === 0 || !allEmpty(cells, formPositions)) return false;
      const keyCell = key === null ? '' : (cells[key] ?? '');
      return keyCell === '' || keyCell === first.cells[key ?? 0];
    },
    isBlank: ({ cells }) => cells.every((cell) => cell === ''),
    fill(record, lines) {
      const reasons = lines.map(({ cells, fault }) => {
        if (fault !== undefined) return [fault];
        return cells.length === width ? [] : [`${cells.length} cells, where the header has ${width}`];
      });
      const [first] = lines as readonly [CsvLine, ...CsvLine[]];
      record.line = first.line;
      record.fileCells.length = 0;
      record.files = [];
      if (rows.length > 0 && (key === null || !first.cells[key]) && allEmpty(first.cells, formPositions)) {
        reasons[0]?.push('its columns of the form are empty, and no record is above that it could go on with');
      }
      fillForm(record, first, reasons[0] as string[]);
      takeProblems(reasons[0] as string[]);
      if (rows.length > 0) fillRows(record, lines, reasons);
      return reasons.some((of) => of.length > 0) ? reasons : null;
    },
  };
}

/** A field as the cells of it are read. */
export interface ReadableColumn {
  readonly id: string;
  readonly at: string;
  readonly read: CellReader;
  readonly required: boolean;
  readonly holds: FieldType['holds'];
  /** The server gives the value where there is none. */
  readonly isFilled: boolean;
  /** The value where there is no column. */
  readonly otherwise: string;
}

/** `at` names the field in reasons. */
export function readableColumn(field: Field, at: string): ReadableColumn {
  const { id, required, default: otherwise } = field;
  const { filledBy, holds } = typeOf(field);
  return { id, at, read: cellReader(field, at), required, holds, isFilled: filledBy === 'server', otherwise };
}

function allEmpty(cells: readonly string[], positions: readonly number[]): boolean {
  for (let index = 0; index < positions.length; index++) {
    if ((cells[positions[index] as number] ?? '') !== '') return false;
  }
  return true;
}
