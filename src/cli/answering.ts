// A process that answers requests: a server over an open store, from its port to its last answer.
import type { Config } from '../config/config.ts';
import type { Log } from '../config/log.ts';
import { openFileStore } from '../files/file-stores.ts';
import { createHttpServer } from '../http/server.ts';
import { startSweeping } from '../operations/sweeping.ts';
import { startDelivering } from '../operations/webhook-delivering.ts';
import { engineOf } from '../store/engine.ts';
import type { Store } from '../store/store.ts';
import { fileSettings, opening } from './context.ts';
import { gracefulEnd } from './graceful-end.ts';
import { listen } from './listen.ts';

/** Something that answers requests. */
export interface Answering {
  readonly port: number;
  /** Accepts nothing more; resolves when all requests in flight are answered. */
  end(): Promise<void>;
}

/** Opens the stores and listens; `resumes`: this process takes up the work that others left unfinished, sweeps, and delivers to webhooks. */
export async function startAnswering(config: Config, log: Log, resumes: boolean): Promise<Answering> {
  const { httpStatus, ...options } = config;
  const store = await openStore(config);
  const files = await openFileStore(fileSettings(config));
  const server = createHttpServer(store, files, { ...options, always200: httpStatus === 'always-200' }, log);
  const end = gracefulEnd(server);
  let endSweeping = async () => {};
  let endDelivering = async () => {};
  const close = async () => {
    await endSweeping();
    await endDelivering();
    await store.close();
    await files.close();
  };
  try {
    const port = await listen(server, config);
    if (resumes) {
      resume(store, log);
      endSweeping = startSweeping(
        () => store.catalog(),
        { engine: config, files: fileSettings(config), historyDays: config.historyDays },
        log,
      );
      const { dataDir, databaseUrl, webhookPrivate: allowPrivate } = config;
      endDelivering = startDelivering(() => store.catalog(), { place: { dataDir, databaseUrl }, allowPrivate }, log);
    }
    return { port, end: () => end().finally(close) };
  } catch (error) {
    await close();
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
