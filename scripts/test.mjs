// Runs every test, or what it is told to run: two files at a time at least, since most of them wait for disks, timers and
// processes longer than they work.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const asked = process.argv.slice(2);
const isNamed = asked.some((argument) => !argument.startsWith('-'));
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${Math.max(2, availableParallelism() - 1)}`,
    '--test-global-setup=test/harness/global.ts',
    ...asked,
    ...(isNamed ? [] : ['test/**/*.test.ts', 'bench/**/*.test.ts']),
  ],
  { cwd: fileURLToPath(new URL('..', import.meta.url)), stdio: 'inherit' },
);
process.exit(status ?? 1);
