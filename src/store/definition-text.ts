// A definition as the catalog stores it: JSON of the app.
import type { App } from '../app/app.ts';

/** The app of a stored definition. */
export function parseDefinition(definition: string): App {
  const app = JSON.parse(definition) as App;
  const primaryKey = app.fields.find((field) => field.id === app.primaryKey.id) as App['primaryKey'];
  return { ...app, primaryKey };
}
