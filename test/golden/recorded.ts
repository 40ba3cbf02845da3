// A database connection that notes what it runs on the tables of records, and how SQLite plans it.
import type { Connection, Statement } from '../../src/store/sqlite/connection.ts';
import type { Ran } from './golden.ts';

const RUNNING = ['run', 'get', 'all', 'iterate'] as const;

/** Makes the connection note every statement that names a table of records or begins or ends something. */
export function recorded(db: Connection): { readonly ran: Ran[]; plan(text: string): readonly string[] } {
  const ran: Ran[] = [];
  const prepare = db.prepare.bind(db) as unknown as (text: string) => Statement;
  const note = (text: string, values: readonly unknown[]) => {
    if (/"app_\d|temp\.hits|^(?:begin|commit|rollback|savepoint|release)\b/.test(text)) ran.push({ text, values });
  };
  db.prepare = ((text: string) => {
    const statement = prepare(text);
    for (const name of RUNNING) {
      const method = statement[name].bind(statement) as (...values: unknown[]) => unknown;
      const noting = (...values: unknown[]) => {
        note(text, values);
        return method(...values);
      };
      Object.assign(statement, { [name]: noting });
    }
    return statement;
  }) as typeof db.prepare;
  const exec = db.exec.bind(db);
  db.exec = (text: string) => {
    note(text, []);
    return exec(text);
  };
  return {
    ran,
    plan(text) {
      const nothing = Array.from(text.replace(/'[^']*'|"[^"]*"/g, '').matchAll(/\?/g), () => null);
      const steps = prepare(`explain query plan ${text}`).all(...nothing) as { detail: string }[];
      return steps.map(({ detail }) => detail);
    },
  };
}
