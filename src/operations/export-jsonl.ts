// Records as JSON lines: an object a record, with every field, its tables as arrays of objects.
import type { Field } from '../app/app.ts';
import type { ExportedCell, RecordsWriter } from './exported.ts';

export const writeJsonl: RecordsWriter = async function* (app, records) {
  const form = [...app.fields, ...app.system].map(keyOf);
  const tables = app.tables.map((table) => ({ key: keyOf({ id: table.code }), fields: table.fields.map(keyOf) }));
  for await (const batch of records) {
    const lines = batch.map((record) => {
      const arrays = tables.map(
        ({ key, fields }, table) =>
          `${key}[${(record.rows[table] ?? []).map((row) => objectOf(fields, row)).join(',')}]`,
      );
      const members = [membersOf(form, record.form), ...arrays].join(',');
      return `{${members}}\n`;
    });
    yield lines.join('');
  }
};

const keyOf = ({ id }: Pick<Field, 'id'>) => `${JSON.stringify(id)}:`;

function membersOf(keys: readonly string[], cells: readonly ExportedCell[]): string {
  return keys.map((key, index) => key + jsonOf(cells[index] ?? '')).join(',');
}

const objectOf = (keys: readonly string[], cells: readonly ExportedCell[]) => `{${membersOf(keys, cells)}}`;

function jsonOf(cell: ExportedCell): string {
  if (typeof cell === 'string') return JSON.stringify(cell);
  const { id, name, size, path } = cell;
  return JSON.stringify(path ?? { id, name, size });
}
