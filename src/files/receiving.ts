// The folder of what is arriving: a file for each content, until it is kept or dropped.
import { randomBytes } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { hasCode } from './error-code.ts';
import type { FileStore } from './file-store.ts';
import { makeFolder, namesIn } from './folder.ts';
import { openReceiver } from './receiver.ts';

export type Receiving = Pick<FileStore, 'receive' | 'drop' | 'removeReceived'>;

/** `isDurable`: what was received is on the disk, past all caches, when its receiver's `end` resolves. */
export function receivingIn(filesDir: string, isDurable: boolean): Receiving {
  const folder = join(resolve(filesDir), 'receiving');
  return {
    async receive() {
      const path = join(folder, `${process.pid}-${randomBytes(12).toString('hex')}`);
      try {
        return await openReceiver(path, isDurable);
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
        await makeFolder(folder);
        return openReceiver(path, isDurable);
      }
    },

    async drop({ path }) {
      await rm(path, { force: true });
    },

    async removeReceived(olderThan) {
      let removed = 0;
      const before = Date.now() - olderThan;
      for (const name of await namesIn(folder)) {
        const path = join(folder, name);
        try {
          if ((await stat(path)).mtimeMs > before) continue;
          await rm(path);
          removed++;
        } catch (error) {
          // Its request was done with it meanwhile.
          if (!hasCode(error, 'ENOENT')) throw error;
        }
      }
      return removed;
    },
  };
}
