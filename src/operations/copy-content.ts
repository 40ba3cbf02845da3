// Copies a content from one file store to another.
import type { FileStore } from '../files/file-store.ts';
import type { StoredFile } from '../store/store.ts';

/** Copies the content of a file to where it is not there in full. False where the source does not have it as the register says. */
export async function copyContent(from: FileStore, to: FileStore, { digest, size }: StoredFile): Promise<boolean> {
  if ((await to.find(digest))?.size === size) return true;
  const content = await from.read(digest);
  if (content === null) return false;
  const receiver = await to.receive();
  try {
    for await (const bytes of content) await receiver.write(bytes as Buffer);
  } catch (error) {
    await receiver.abort();
    throw error;
  }
  const received = await receiver.end();
  try {
    if (received.digest !== digest) return false;
    await to.keep(received);
    return true;
  } finally {
    await to.drop(received);
  }
}
