// Importing CSV once more, on PostgreSQL.
import { describe } from 'node:test';
import { useEngine } from '../harness/fresh-register.ts';

useEngine('postgres');
describe('on PostgreSQL: import.test.ts', async () => {
  await import('../import.test.ts');
});
