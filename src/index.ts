// For embedding: a store over a data folder or a database, and a server over the store.
import type { Server } from 'node:http';
import { createLog } from './config/log.ts';
import { createHttpServer, type ServerOptions } from './http/server.ts';
import { type EngineSettings, engineOf } from './store/engine.ts';
import type { Store } from './store/store.ts';

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

/** A `node:http` server over a store, not yet listening; errors go to standard error. */
export function createServer(store: Store, options: Partial<ServerOptions> = {}): Server {
  const settings = { basePath: '', maxRecords: 0, maxBody: 10 * 1024 * 1024, always200: false, ...options };
  return createHttpServer(store, settings, createLog('error'));
}
