// A database of a test's own in the PostgreSQL that the tests run against.
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { testDatabase } from './postgres.ts';

export interface FreshDatabase {
  readonly url: string;
  /** Rows of a query, for looking behind the store's back. */
  query(text: string): Promise<readonly (readonly unknown[])[]>;
  drop(): Promise<void>;
}

/** Makes an empty database; `drop` in `after`. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const server = await testDatabase();
  const name = `daicho_test_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const inside = postgres(url.href, {
    max: 1,
    idle_timeout: 1,
    onnotice: () => {},
    connection: { search_path: 'daicho' },
  });
  return {
    url: url.href,
    query: async (text) => Array.from(await inside.unsafe(text).values(), (row) => [...row]),
    async drop() {
      await inside.end({ timeout: 5 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end({ timeout: 5 });
      await server.close();
    },
  };
}
