// JSON lines → records, each of the fields that its own line has, or why it cannot be.
import type { App, Field, Table } from '../app/app.ts';
import type { Values } from '../envelope/record.ts';
import { type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { messageOf } from '../messages/messages.ts';
import { Mistake } from '../store/register.ts';
import { ERROR_COLUMN } from './csv-columns.ts';
import { type ReadableColumn, type RecordReader, type ReusableRecord, readableColumn } from './csv-records.ts';
import type { ErrorsFormat } from './errors-file.ts';
import { textOfNumber } from './xlsx-values.ts';

/** Reads records of members named by field IDs and table codes; `map` says otherwise for names it has, '' to leave one out. */
export function jsonRecordReader(app: App, map: ReadonlyMap<string, string>): RecordReader {
  const form = new Map(app.fields.map((field) => [field.id, readableColumn(field, field.id)]));
  const tables = new Map(
    app.tables.map((table) => [
      table.code,
      { table, fields: table.fields.map((field) => readableColumn(field, `${table.code}.${field.id}`)) },
    ]),
  );
  for (const [name, id] of map)
    if (id !== '' && !form.has(id) && !tables.has(id))
      throw new Mistake(`--map ${name}=${id}: there is no field ${id} of the form`);
  const required = app.fields.filter((field) => field.required && field.default === '' && field !== app.primaryKey);

  const fill = (record: ReusableRecord, sent: JsonObject, reasons: string[]) => {
    const members = new Map<string, JsonValue>();
    for (const [name, value] of sent) {
      const id = map.get(name) ?? name;
      if (id === '' || id === ERROR_COLUMN || isSystem(app, id)) continue;
      if (!form.has(id) && !tables.has(id)) reasons.push(`there is no field ${id}`);
      members.set(id, value);
    }
    const key = cellReader(
      form.get(app.primaryKey.id) as ReadableColumn,
      members.get(app.primaryKey.id) ?? '',
      reasons,
      null,
    );
    record.primaryKey = key === '' ? null : key;
    for (const field of required) {
      const isGiven = members.has(field.id) || record.primaryKey !== null;
      if (!isGiven) reasons.push(`"${field.id}" is required`);
    }
    for (const [id, value] of members) {
      const column = form.get(id);
      const table = tables.get(id);
      if (column !== undefined && id !== app.primaryKey.id) {
        const set = (text: string) => void record.values.set(id, text);
        const text = cellReader(column, value, reasons, (fileCell) => record.fileCells.push({ ...fileCell, set }));
        // The server gives the value where there is none.
        if (text !== '' || !column.isFilled) set(text);
      }
      if (table !== undefined) record.tables.set(id, rowsOf(table, value, record, reasons));
    }
  };

  return {
    continues: () => false,
    isBlank: ({ cells }) => cells[0] === '',
    fill(record, [line]) {
      const reasons: string[] = [];
      record.line = line?.line ?? 0;
      record.primaryKey = null;
      record.values.clear();
      record.tables.clear();
      record.fileCells.length = 0;
      record.files = [];
      const sent = parseJson(line?.cells[0] ?? '');
      if (!('value' in sent)) {
        const { fault, key, position } = sent;
        reasons.push(
          fault === 'repeated_key' ? `"${key}" is there twice` : `it is not JSON, from character ${position} on`,
        );
      } else if (sent.value instanceof Map) fill(record, sent.value, reasons);
      else reasons.push('it is not a JSON object');
      return reasons.length > 0 ? [reasons] : null;
    },
  };
}

const isSystem = (app: App, id: string) => app.system.some((field) => field.id === id);

interface ReadableTable {
  readonly table: Table;
  readonly fields: readonly ReadableColumn[];
}

function rowsOf(
  { table, fields }: ReadableTable,
  sent: JsonValue,
  record: ReusableRecord,
  reasons: string[],
): Values[] {
  if (!Array.isArray(sent)) {
    reasons.push(`"${table.code}" is not an array of rows`);
    return [];
  }
  return (sent as readonly JsonValue[]).map((sentRow, index) => {
    if (!(sentRow instanceof Map)) {
      reasons.push(`row ${index + 1} of "${table.code}" is not an object`);
      return [];
    }
    for (const id of sentRow.keys())
      if (!table.fields.some((field: Field) => field.id === id)) reasons.push(`there is no field ${table.code}.${id}`);
    const row: string[] = fields.map((column, place) => {
      const value = sentRow.get(column.id);
      if (value === undefined && column.otherwise !== '') return column.otherwise;
      const set = (text: string) => {
        row[place] = text;
      };
      return cellReader(column, value ?? '', reasons, (fileCell) => record.fileCells.push({ ...fileCell, set }));
    });
    return row;
  });
}

/** The value of a member, '' where a file is still to be found, which is told to `onFile`. */
function cellReader(
  { at, read, required, holds }: ReadableColumn,
  sent: JsonValue,
  reasons: string[],
  onFile:
    | ((cell: { at: string; line: number; holds: NonNullable<ReadableColumn['holds']>; cell: string }) => void)
    | null,
): string {
  const cell = textOf(sent);
  if (cell === null) reasons.push(`"${at}" is not a text`);
  else if (cell === '') {
    if (required && onFile !== null) reasons.push(`"${at}" is required`);
  } else if (holds !== undefined) onFile?.({ at, line: 0, holds, cell });
  else {
    const value = read(cell);
    if (typeof value === 'string') return value;
    reasons.push(messageOf(value, 'en'));
  }
  return '';
}

/** A text, a number that is exact, a file by its ID; null for anything else. */
function textOf(sent: JsonValue): string | null {
  if (typeof sent === 'string') return sent;
  if (sent === null) return '';
  if (typeof sent === 'number') {
    const text = textOfNumber(sent, 0);
    return Number(text) === sent ? text : null;
  }
  const id = sent instanceof Map ? sent.get('id') : null;
  return typeof id === 'string' ? id : null;
}

/** Bad records as they came, with a last member that says why; a line that is none as the text of a member. */
export const jsonlErrors: ErrorsFormat = {
  begin: '',
  write: ([line], [reasons]) => {
    const text = line?.cells[0] ?? '';
    const sent = parseJson(text);
    const isObject = 'value' in sent && sent.value instanceof Map;
    const why = `${JSON.stringify(ERROR_COLUMN)}:${JSON.stringify((reasons ?? []).join(' / '))}`;
    if (!isObject) return `{"line":${JSON.stringify(text)},${why}}\n`;
    const members = text.replace(/\}$/, '').trimEnd();
    return `${members}${members === '{' ? '' : ','}${why}}\n`;
  },
};
