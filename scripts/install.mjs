// Installs what package-lock.json asks for, if it is not there yet; runs under any Node from 20 up, before every npm script.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.daicho-lock`;
const wanted = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
if (!installed) {
  console.error('Installing what Daicho needs (once) …');
  // The environment of the running npm script names files of this npm; the new one must not take them for its own.
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error('npm ci failed; what it printed above says why.');
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
