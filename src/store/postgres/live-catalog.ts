// The catalog as this process has it: read again at a notice, when its version is looked at, and when an answer has another.
import { Unavailable } from '../store.ts';
import { catalogVersion, channelOf, readCatalog, type VersionedCatalog } from './catalog.ts';
import { guarded, type Place, type Pool } from './connection.ts';

/** Milliseconds between two looks at the version, for notices that were missed. */
const LOOK_EVERY = 500;

export interface LiveCatalog {
  current(): VersionedCatalog;
  /** Whether the database has another catalog than this one; then it is read. */
  renewed(seen: { readonly version: string }): Promise<boolean>;
  close(): Promise<void>;
}

/** Reads the catalog and keeps it up to date; `pool` is for looking, the notices come over a connection of their own. */
export async function liveCatalog({ schema }: Place, pool: Pool): Promise<LiveCatalog> {
  let catalog = await readCatalog(pool);
  let reading: Promise<void> | null = null;
  let isClosed = false;

  /** Reads it anew; whoever asks while it is being read waits for one more reading, since this one may have been too early. */
  const read = async (): Promise<void> => {
    if (reading !== null) await reading.catch(() => {});
    reading ??= readCatalog(pool, catalog)
      .then((newer) => {
        catalog = newer;
      })
      .finally(() => {
        reading = null;
      });
    await reading;
  };
  const look = async (): Promise<void> => {
    if ((await catalogVersion(pool)) !== catalog.version) await read();
  };
  // What fails here fails for the requests too, which say so.
  const lookQuietly = () => void look().catch(() => {});

  const timer = setInterval(lookQuietly, LOOK_EVERY);
  timer.unref();
  // It listens again by itself when the connection was lost, and looks then.
  pool.listen(channelOf(schema), { onNotice: lookQuietly, onListening: lookQuietly });

  return {
    current: () => catalog,
    renewed: (seen) =>
      guarded('read', async () => {
        if (isClosed) throw new Unavailable('the database is closed');
        if (seen.version !== catalog.version) return true;
        if ((await catalogVersion(pool)) === seen.version) return false;
        await read();
        return catalog.version !== seen.version;
      }),
    async close() {
      isClosed = true;
      clearInterval(timer);
      await reading?.catch(() => {});
    },
  };
}
