// What a whole run of the tests shares: one PostgreSQL, whose address its test files find in their environment.
import { testDatabase } from './postgres.ts';

let database: Awaited<ReturnType<typeof testDatabase>> | undefined;

export async function globalSetup(): Promise<void> {
  database = await testDatabase();
  process.env.TEST_DATABASE_URL = database.url;
}

export async function globalTeardown(): Promise<void> {
  await database?.close();
}
