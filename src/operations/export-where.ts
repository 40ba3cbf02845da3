// Conditions as a command line writes them, `field=keyword` each → those of a search (spec 4.1).
import type { App } from '../app/app.ts';
import type { JsonValue } from '../json.ts';
import { messageOf } from '../messages/messages.ts';
import type { Conditions } from '../search/condition.ts';
import { parseConditions } from '../search/parse.ts';
import { Mistake } from '../store/register.ts';

/** The conditions; a field of a table is `table.field`. A Mistake says everything that is wrong with them. */
export function conditionsOf(app: App, where: readonly string[]): Conditions {
  const param = new Map<string, JsonValue>();
  const tables = new Map<string, Map<string, JsonValue>>();
  const problems: string[] = [];
  for (const text of where) {
    const equals = text.indexOf('=');
    if (equals < 1) {
      problems.push(`"${text}" is not field=keyword`);
      continue;
    }
    const name = text.slice(0, equals);
    // No ID has a dot in it.
    const [field = '', table] = name.split('.').reverse();
    const group = table === undefined ? param : (tables.get(table) ?? new Map<string, JsonValue>());
    if (table !== undefined) tables.set(table, group);
    if (group.has(field)) problems.push(`${name} is given twice`);
    group.set(field, text.slice(equals + 1));
  }
  for (const [code, group] of tables) param.set(code, group);
  const conditions = problems.length > 0 ? [] : parseConditions(app, param);
  if ('form' in conditions) return conditions;
  problems.push(...conditions.map((problem) => messageOf(problem, 'en')));
  throw new Mistake(`--where: ${problems.join('\n--where: ')}`);
}
