// The lease on long work in an app: one process at a time has it, and it ends with the connection that holds it.
import { Mistake } from '../register.ts';
import { type Connection, type Pool, rowsOf, run } from './connection.ts';
import { lockOf } from './schema.ts';

/** Another process works on the app. */
export class AtWork extends Mistake {}

/** Does work while no other process does any in the same app; refuses with AtWork where one does. */
export async function withLease<T>(
  pool: Pool,
  schema: string,
  what: number | string,
  work: (on: Connection) => Promise<T>,
): Promise<T> {
  const on = await pool.reserve();
  const key = [lockOf(schema), typeof what === 'number' ? what : lockOf(what)];
  try {
    const [row] = await rowsOf<[boolean]>(on, 'select pg_try_advisory_lock($1::int, $2::int)', key);
    if (row?.[0] !== true)
      throw new AtWork('another process is at work on this app; wait for it to finish, or stop it');
    try {
      return await work(on);
    } finally {
      await run(on, 'select pg_advisory_unlock($1::int, $2::int)', key).catch(() => {});
    }
  } finally {
    on.release();
  }
}
