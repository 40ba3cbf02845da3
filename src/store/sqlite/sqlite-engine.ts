// SQLite as the engine of a register: a database file in the data folder.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, EngineSettings } from '../engine.ts';
import { isUnavailable } from './connection.ts';
import { openSqliteSource } from './move-source.ts';
import { openSqliteTarget } from './move-target.ts';
import { hasSqliteRegister, openSqliteRegister } from './sqlite-register.ts';
import { openSqliteStore } from './sqlite-store.ts';

export function sqliteEngine({ dataDir, cacheMiB }: EngineSettings): Engine {
  return {
    place: `the data folder ${dataDir}`,
    hasRegister: async () => hasSqliteRegister(dataDir),
    openRegister: async () => openSqliteRegister({ dataDir }),
    openStore: async () => openSqliteStore({ dataDir, cacheMiB }),
    async makeRegister(fill) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      const workplace = mkdtempSync(join(dataDir, 'first-start-'));
      try {
        const register = openSqliteRegister({ dataDir: workplace });
        const filled = await fill(register).finally(() => register.close());
        for (const name of readdirSync(workplace)) renameSync(join(workplace, name), join(dataDir, name));
        return filled;
      } finally {
        rmSync(workplace, { recursive: true, force: true });
      }
    },
    openSource: async () => openSqliteSource(dataDir),
    openTarget: async (move) => openSqliteTarget(dataDir, move),
    isUnavailable,
  };
}
