// Folders that are there after a power failure too.
import { mkdir, open, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './error-code.ts';

/** Folders whose names this process has put on the disk. */
const durable = new Set<string>();

/** Makes a folder, and those it is in, where they are not there; an absolute path. Nobody else may look into it. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  // One that is there may have been made a moment ago.
  if (first === undefined && durable.has(folder)) return;
  await syncFolder(dirname(folder));
  for (let at = dirname(folder); first !== undefined && at.length >= first.length; at = dirname(at)) {
    await syncFolder(dirname(at));
  }
  durable.add(folder);
}

/** Puts on the disk which names are in a folder. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What lies in a folder; nothing where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
