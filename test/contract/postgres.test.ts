// The store on PostgreSQL passes the contract.
import { openPostgresRegister } from '../../src/store/postgres/postgres-register.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { freshDatabase } from '../harness/database.ts';
import { type Bench, storeContract } from './store.ts';

async function postgresBench(): Promise<Bench> {
  const database = await freshDatabase();
  const place = { url: database.url, schema: 'daicho' };
  const register = await openPostgresRegister(place);
  return {
    register,
    openStore: () => openPostgresStore({ ...place, readUrls: [], connections: 3, timeout: 60_000 }),
    async isAtRest() {
      const [[count] = []] = await database.query(
        `select count(*)::int from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      );
      return count === 0;
    },
    async remove() {
      await register.close();
      await database.drop();
    },
  };
}

storeContract('PostgreSQL', postgresBench);
