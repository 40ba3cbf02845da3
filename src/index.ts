// For embedding: a store over a data folder or a database, and a server over the store.
import type { Server } from 'node:http';
import { createLog } from './config/log.ts';
import type { FileSettings, FileStore } from './files/file-store.ts';
import { openFileStore } from './files/file-stores.ts';
import { createHttpServer, type ServerOptions } from './http/server.ts';
import { type EngineSettings, engineOf } from './store/engine.ts';
import type { Store } from './store/store.ts';

export type { FileStore } from './files/file-store.ts';
export type { Store } from './store/store.ts';
export type * from './wire.ts';

/**
 * Opens the register in a data folder or, with `databaseUrl`, in a PostgreSQL database; makes it where there is none. Close it
 * when the server is closed.
 */
export async function openStore(
  options: Partial<EngineSettings> & (Pick<EngineSettings, 'dataDir'> | Pick<EngineSettings, 'databaseUrl'>),
): Promise<Store> {
  const engine = await engineOf({ ...DEFAULTS, ...options });
  await (await engine.openRegister()).close();
  return engine.openStore();
}

const DEFAULTS: EngineSettings = {
  ...{ dataDir: '', cacheMiB: 64 },
  ...{ databaseUrl: '', distribute: '', databaseReadUrls: [], databaseConnections: 8, databaseTimeout: 30 },
};

/**
 * Opens the store of the contents of files: a folder or, with `s3Bucket`, an S3-compatible store; the folder is then for what is
 * arriving. Close it when the server is closed.
 */
export function openFiles(options: Partial<FileSettings> & Pick<FileSettings, 'filesDir'>): Promise<FileStore> {
  return openFileStore({ ...FILE_DEFAULTS, ...options });
}

const FILE_DEFAULTS = {
  ...{ s3Bucket: '', s3Prefix: '', s3Endpoint: '', s3Region: 'us-east-1', s3AccessKeyId: '', s3SecretAccessKey: '' },
};

/** A `node:http` server over a store and a file store, not yet listening; errors go to standard error. */
export function createServer(store: Store, files: FileStore, options: Partial<ServerOptions> = {}): Server {
  return createHttpServer(store, files, { ...SERVER_DEFAULTS, ...options }, createLog('error'));
}

const MIB = 1024 * 1024;
const SERVER_DEFAULTS: ServerOptions = {
  ...{ basePath: '', maxRecords: 0, always200: false, svgImages: false },
  ...{ maxBody: 10 * MIB, maxFile: 1024 * MIB, maxFiles: 100, maxUpload: 2048 * MIB },
};
