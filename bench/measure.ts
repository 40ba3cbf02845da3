// Runs the load tool against Daicho and against the bare server, one row at a time.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Measured } from './drive.ts';
import { run, start, stop } from './processes.ts';

const DRIVE = fileURLToPath(new URL('drive.ts', import.meta.url));
const BARE = fileURLToPath(new URL('bare.ts', import.meta.url));

/** What is sent, and how. */
export interface Load {
  readonly path: string;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly stamp?: string;
}

/** Drives the server at a port. */
export async function drive(port: number, scratch: string, load: Load): Promise<Measured> {
  const file = join(scratch, 'bodies.txt');
  writeFileSync(file, load.bodies.join('\n'), 'latin1');
  const options = { port, path: load.path, bodies: file, ...pick(load), stamp: load.stamp ?? '' };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return JSON.parse(await run(DRIVE, args, process.env)) as Measured;
}

function pick({ connections, seconds, warmup }: Load): Pick<Load, 'connections' | 'seconds' | 'warmup'> {
  return { connections, seconds, warmup };
}

/** Drives a bare server that answers that many bytes. */
export async function driveBare(bytes: number, scratch: string, load: Load): Promise<Measured> {
  const bare = start(BARE, [`--bytes=${Math.round(bytes)}`], process.env);
  try {
    if (bare.stdout === null) throw new Error('the bare server has no output');
    const [line] = (await once(createInterface(bare.stdout), 'line')) as [string];
    return await drive(Number(line.split(' ').at(-1)), scratch, load);
  } finally {
    await stop(bare);
  }
}
