// Listens on the address of the settings, or says in one line why it cannot.
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Config } from '../config/config.ts';
import { Mistake } from '../store/register.ts';

type Address = Pick<Config, 'port' | 'host'>;

/** Refuses an address that cannot be listened on; gives a port that was free just now. */
export async function probe(address: Address): Promise<number> {
  const server = createServer();
  const port = await listen(server as Server, address);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Listens; gives the port. */
export function listen(server: Server, { port, host }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const reason = code === 'EADDRINUSE' ? `port ${port} of ${host} is in use; choose another with --port` : message;
      reject(new Mistake(`cannot listen: ${reason}`));
    });
    server.listen({ port, host }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
