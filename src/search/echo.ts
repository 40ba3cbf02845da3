// The echo of a search that finds nothing: every field of the search form with the condition sent for it (spec 4.1, D21).
import { type App, type Field, searchForm } from '../app/app.ts';
import type { SentConditions } from './condition.ts';

/** JSON members, without braces: field IDs, table fields nested under their table code. */
export function renderEcho(app: App, sent: SentConditions): string {
  const members = echoOf([...app.fields, ...app.system], sent.form);
  for (const table of app.tables) {
    const nested = echoOf(table.fields, sent.tables.get(table.code) ?? new Map());
    if (nested.length > 0) members.push(`"${table.code}":{${nested.join(',')}}`);
  }
  return members.join(',');
}

function echoOf(fields: readonly Field[], sent: ReadonlyMap<string, string>): string[] {
  const members: string[] = [];
  for (const { id, search } of searchForm(fields)) {
    members.push(`"${id}":${JSON.stringify(sent.get(id) ?? '')}`);
    if (search === 'range') members.push(`"${id}_to":${JSON.stringify(sent.get(`${id}_to`) ?? '')}`);
  }
  return members;
}
