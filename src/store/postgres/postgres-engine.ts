// PostgreSQL as the engine of a register: a schema in a database.
import { randomBytes } from 'node:crypto';
import { quote } from '../../sql/sql.ts';
import type { Engine, EngineSettings } from '../engine.ts';
import { guarded, isUnavailable, openPool, type Pool, run, withoutPassword } from './connection.ts';
import { openPostgresSource } from './move-source.ts';
import { openPostgresTarget } from './move-target.ts';
import { openPostgresRegister } from './postgres-register.ts';
import { openPostgresStore } from './postgres-store.ts';
import { hasSchema } from './schema.ts';

/** Schema of the register. */
export const SCHEMA = 'daicho';

export function postgresEngine(settings: EngineSettings): Engine {
  const { databaseUrl: url, databaseReadUrls, databaseConnections, databaseTimeout } = settings;
  const distribute = settings.distribute === 'citus';
  const place = { url, schema: SCHEMA, distribute };
  const inDatabase = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
    const pool = openPool(place, { max: 1, timeout: 0 });
    try {
      return await guarded('read', () => work(pool));
    } finally {
      await pool.end({ timeout: 5 });
    }
  };
  return {
    place: `the database ${withoutPassword(url)}`,
    hasRegister: () => inDatabase((pool) => hasSchema(pool, SCHEMA)),
    openRegister: () => openPostgresRegister(place),
    openStore: () =>
      openPostgresStore({
        ...place,
        readUrls: databaseReadUrls,
        connections: databaseConnections,
        timeout: databaseTimeout * 1_000,
      }),
    async makeRegister(fill) {
      const workplace = `${SCHEMA}_first_start_${randomBytes(6).toString('hex')}`;
      try {
        const register = await openPostgresRegister({ ...place, schema: workplace });
        const filled = await fill(register).finally(() => register.close());
        await inDatabase((pool) => run(pool, `alter schema ${quote(workplace)} rename to ${quote(SCHEMA)}`));
        return filled;
      } catch (error) {
        await inDatabase((pool) => run(pool, `drop schema if exists ${quote(workplace)} cascade`));
        // There is a schema of that name by now.
        if ((error as { code?: string }).code === '42P06') return null;
        throw error;
      }
    },
    openSource: () => openPostgresSource(place),
    openTarget: (move) => openPostgresTarget(place, move),
    isUnavailable,
  };
}
