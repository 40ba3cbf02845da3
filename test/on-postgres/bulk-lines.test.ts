// Lines of one bulk request that depend on each other once more, on PostgreSQL.
import { useEngine } from '../harness/fresh-register.ts';

useEngine('postgres');
await import('../contract/bulk-lines.test.ts');
