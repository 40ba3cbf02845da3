// The operations beside the specification once more, on PostgreSQL.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { useEngine } from '../harness/fresh-register.ts';

const FOLDER = join(import.meta.dirname, '../x1');

useEngine('postgres');
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))) {
  describe(`on PostgreSQL: x1/${file}`, { timeout: 300_000 }, async () => {
    await import(join(FOLDER, file));
  });
}
