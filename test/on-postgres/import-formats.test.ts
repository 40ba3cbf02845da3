// Importing XLSX and JSON lines once more, on PostgreSQL.
import { describe } from 'node:test';
import { useEngine } from '../harness/fresh-register.ts';

useEngine('postgres');
describe('on PostgreSQL: import-formats.test.ts', async () => {
  await import('../import-formats.test.ts');
});
