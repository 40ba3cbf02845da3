// What a register and its stores must do once more, on PostgreSQL, where the store contract does not say it.
import { join } from 'node:path';
import { describe } from 'node:test';
import { useEngine } from '../harness/fresh-register.ts';

const FOLDER = join(import.meta.dirname, '../contract');

useEngine('postgres');
for (const file of ['apply', 'rebuild', 'load', 'resume', 'durability']) {
  describe(`on PostgreSQL: ${file}.test.ts`, async () => {
    await import(join(FOLDER, `${file}.test.ts`));
  });
}
