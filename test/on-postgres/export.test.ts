// Exporting once more, on PostgreSQL.
import { describe } from 'node:test';
import { useEngine } from '../harness/fresh-register.ts';

useEngine('postgres');
describe('on PostgreSQL: export.test.ts', async () => {
  await import('../export.test.ts');
});
