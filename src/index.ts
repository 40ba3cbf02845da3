// For embedding: a store over a data folder, and a server over the store.
import type { Server } from 'node:http';
import { createLog } from './config/log.ts';
import { createHttpServer, type ServerOptions } from './http/server.ts';
import { openSqliteRegister } from './store/sqlite/sqlite-register.ts';
import { openSqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';

export type { Store } from './store/store.ts';
export type * from './wire.ts';

/** Opens the register in a data folder; makes both where they are missing. Close it when the server is closed. */
export async function openStore(options: { readonly dataDir: string; readonly cacheMiB?: number }): Promise<Store> {
  await openSqliteRegister(options).close();
  return openSqliteStore({ cacheMiB: 64, ...options });
}

/** A `node:http` server over a store, not yet listening; errors go to standard error. */
export function createServer(store: Store, options: Partial<ServerOptions> = {}): Server {
  const settings = { basePath: '', maxRecords: 0, maxBody: 10 * 1024 * 1024, always200: false, ...options };
  return createHttpServer(store, settings, createLog('error'));
}
