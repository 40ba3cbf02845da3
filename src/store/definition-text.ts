// A definition as the catalog stores it: JSON of the app.
import { type App, type Field, plainField } from '../app/app.ts';

/** The app of a stored definition. Settings that it was stored without are at their defaults. */
export function parseDefinition(definition: string): App {
  const app = JSON.parse(definition) as App;
  const complete = (fields: readonly Field[]): readonly Field[] =>
    fields.map((field) => ({ ...plainField(field.id, field.type), ...field }));
  const fields = complete(app.fields);
  const tables = app.tables.map((table) => ({ ...table, fields: complete(table.fields) }));
  const primaryKey = fields.find((field) => field.id === app.primaryKey.id) as App['primaryKey'];
  return { ...app, fields, tables, system: complete(app.system), primaryKey };
}
