// Takes one content into a local file as it arrives, and hashes it on the way.
import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { HEAD, type Received, type Receiver } from './file-store.ts';

/** Bytes gathered for one write. Larger ones are no faster, and the allocator keeps more of them for itself. */
const BLOCK = 64 * 1024;
/** Blocks of one receiver, filled or being written: its memory. */
const BLOCKS = 2;

/** Bytes after which the disk is set to work, so that little is left to wait for at the end. */
const SYNC_EVERY = 16 * 1024 * 1024;
/** Contents whose beginnings are synced at a time: more would take all threads that the process has for files. */
const MOST_SYNCS = 2;
let syncs = 0;

/** Makes the file, whose folder is there. `isDurable`: its bytes are on the disk, past all caches, when `end` resolves. */
export async function openReceiver(path: string, isDurable: boolean): Promise<Receiver> {
  const handle = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  const head = Buffer.alloc(HEAD);
  let size = 0;
  let state: 'receiving' | 'ended' | 'aborted' = 'receiving';
  let failure: { readonly error: unknown } | null = null;

  let block: Buffer | null = Buffer.allocUnsafeSlow(BLOCK);
  let filled = 0;
  let blocks = 1;
  const free: Buffer[] = [];
  /** Of the blocks being written, oldest first. */
  const writes: Promise<void>[] = [];
  /** Writes that found no room, until the last of them has it. */
  let waiting: Promise<void> | undefined;
  let unsynced = 0;
  let syncing: Promise<void> | undefined;

  let discarded: Promise<void> | undefined;
  const discard = () => {
    discarded ??= (async () => {
      // Whatever closing says, nobody reads the file any more.
      await handle.close().catch(() => {});
      await rm(path, { force: true });
    })();
    return discarded;
  };
  const fail = (error: unknown) => {
    failure ??= { error };
    // Where removing fails too, it is for the same reason; `end` and the next `write` report the first one.
    discard().catch(() => {});
  };

  const syncMeanwhile = () => {
    if (!isDurable || unsynced < SYNC_EVERY || syncing !== undefined || syncs >= MOST_SYNCS) return;
    unsynced = 0;
    syncs++;
    // An error is reported to one sync only, so the one at the end might not hear of it.
    syncing = handle
      .datasync()
      .catch(fail)
      .finally(() => {
        syncs--;
        syncing = undefined;
      });
  };

  const takeBlock = () => {
    const freed = free.pop();
    if (freed !== undefined || blocks === BLOCKS) return freed ?? null;
    blocks++;
    return Buffer.allocUnsafeSlow(BLOCK);
  };

  const writeBlock = (full: Buffer, length: number) => {
    const before = writes.at(-1);
    const written = (async () => {
      await before;
      await writeAll(handle, full.subarray(0, length));
      writes.shift();
      free.push(full);
      unsynced += length;
      syncMeanwhile();
    })();
    written.catch(fail);
    writes.push(written);
  };

  /** Takes as many bytes as there is room for; gives the others. */
  const fill = (bytes: Uint8Array): Uint8Array => {
    let rest = bytes;
    while (rest.length > 0) {
      block ??= takeBlock();
      if (block === null) break;
      const taken = Math.min(rest.length, block.length - filled);
      block.set(rest.subarray(0, taken), filled);
      filled += taken;
      rest = rest.subarray(taken);
      if (filled < block.length) break;
      writeBlock(block, filled);
      block = null;
      filled = 0;
    }
    return rest;
  };

  const fillAll = async (bytes: Uint8Array, before: Promise<void> | undefined) => {
    await before;
    let rest = bytes;
    while (state !== 'aborted') {
      rest = fill(rest);
      if (rest.length === 0) return;
      await writes[0];
    }
  };

  return {
    write(bytes) {
      if (state === 'aborted') return undefined;
      if (state === 'ended') throw new Error('the content has ended');
      if (failure !== null) return Promise.reject(failure.error);
      hash.update(bytes);
      if (size < HEAD) head.set(bytes.subarray(0, HEAD - size), size);
      size += bytes.length;
      const rest = waiting === undefined ? fill(bytes) : bytes;
      if (rest.length === 0) return undefined;
      const taken = fillAll(rest, waiting).finally(() => {
        if (waiting === taken) waiting = undefined;
      });
      waiting = taken;
      return taken;
    },

    async end(): Promise<Received> {
      state = 'ended';
      try {
        await waiting;
        if (block !== null && filled > 0) writeBlock(block, filled);
        await writes.at(-1);
        await syncing;
        if (failure !== null) throw failure.error;
        if (isDurable) await handle.datasync();
        await handle.close();
      } catch (error) {
        fail(error);
        // Where removing fails too, it is for the same reason.
        await discard().catch(() => {});
        throw error;
      }
      return { digest: hash.digest('hex'), size, head: head.subarray(0, Math.min(size, HEAD)), path };
    },

    async abort() {
      if (state !== 'receiving') return;
      state = 'aborted';
      await discard();
    },
  };
}

/** Writes behind what is there; the system may take less than all at a time. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}
