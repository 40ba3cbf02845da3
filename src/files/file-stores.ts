// The file store that the settings name.
import type { FileSettings, FileStore } from './file-store.ts';

/** Opens the store of the settings. Only its own code is loaded, and nothing is read or written before something is asked of it. */
export async function openFileStore(settings: FileSettings): Promise<FileStore> {
  if (settings.s3Bucket === '') return (await import('./disk.ts')).openDiskStore(settings.filesDir);
  return (await import('./s3.ts')).openS3Store(settings);
}
