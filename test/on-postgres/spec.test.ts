// The tests of the specification and the decisions once more, on PostgreSQL.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { useEngine } from '../harness/fresh-register.ts';

const FOLDER = join(import.meta.dirname, '../spec');
/** Tests of what the documents say. */
const NOT_AGAIN = ['coverage.test.ts'];

useEngine('postgres');
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts') && !NOT_AGAIN.includes(name))) {
  describe(`on PostgreSQL: ${file}`, { timeout: 300_000 }, async () => {
    await import(join(FOLDER, file));
  });
}
