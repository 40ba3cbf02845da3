// A process that answers requests: a server over an open store, from its port to its last answer.
import type { Config } from '../config/config.ts';
import type { Log } from '../config/log.ts';
import { createHttpServer } from '../http/server.ts';
import { engineOf } from '../store/engine.ts';
import type { Store } from '../store/store.ts';
import { opening } from './context.ts';
import { gracefulEnd } from './graceful-end.ts';
import { listen } from './listen.ts';

/** Something that answers requests. */
export interface Answering {
  readonly port: number;
  /** Accepts nothing more; resolves when all requests in flight are answered. */
  end(): Promise<void>;
}

/** Opens the store and listens; `resumes`: this process takes up the work that others left unfinished. */
export async function startAnswering(config: Config, log: Log, resumes: boolean): Promise<Answering> {
  const { httpStatus, ...options } = config;
  const store = await openStore(config);
  const server = createHttpServer(store, { ...options, always200: httpStatus === 'always-200' }, log);
  const end = gracefulEnd(server);
  try {
    const port = await listen(server, config);
    if (resumes) resume(store, log);
    return { port, end: () => end().finally(() => store.close()) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openStore(config: Config): Promise<Store> {
  const engine = await engineOf(config);
  return opening(engine, () => engine.openStore());
}

function resume(store: Store, log: Log): void {
  store.resume().catch((error: Error) => {
    log.error('unfinished work cannot be gone on with', () => ({ error: error.stack ?? String(error) }));
  });
}
