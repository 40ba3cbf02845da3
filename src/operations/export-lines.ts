// Records as lines of a sheet (P12): the header, and the lines of a record.
import type { App, Field } from '../app/app.ts';
import { cellText, type ExportedRecord } from './exported.ts';

/** The fields of the columns: those of the form, the system fields, those of the tables. */
export function columnsOf({ fields, system, tables }: App): readonly Field[] {
  return [...fields, ...system, ...tables.flatMap((table) => table.fields)];
}

/** The header: field IDs, or names where an import would find the field by its name. */
export function headerOf(app: App, names: boolean): readonly string[] {
  const columns = columnsOf(app);
  if (!names) return columns.map(({ id }) => id);
  const taken = new Map<string, number>();
  for (const field of columns) {
    for (const name of new Set([field.id, ...Object.values(field.name)])) taken.set(name, (taken.get(name) ?? 0) + 1);
  }
  return columns.map((field) => {
    const { ja, en, zh } = field.name;
    const name = ja ?? en ?? zh ?? '';
    // An import leaves system fields out by their IDs.
    return name === '' || taken.get(name) !== 1 || app.system.includes(field) ? field.id : name;
  });
}

/** The lines of a record: the first with the form, each with one row of every table; the primary key stands in all of them. */
export function linesOf(app: App, { primaryKey, form, rows }: ExportedRecord): readonly (readonly string[])[] {
  const key = app.fields.indexOf(app.primaryKey);
  const count = Math.max(1, ...rows.map((ofTable) => ofTable.length));
  return Array.from({ length: count }, (_, row) => {
    const cells = row === 0 ? form.map(cellText) : form.map((_, index) => (index === key ? primaryKey : ''));
    app.tables.forEach(({ fields }, table) => {
      const ofRow = rows[table]?.[row];
      fields.forEach((_, index) => {
        cells.push(cellText(ofRow?.[index] ?? ''));
      });
    });
    return cells;
  });
}
