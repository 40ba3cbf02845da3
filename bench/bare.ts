// A bare node:http server that reads each request's body and answers a fixed number of bytes: what Daicho is measured against.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string' }, bytes: { type: 'string' } } });
const bytes = Number(values.bytes ?? 1000);

const OPENING = '{"rkwa_status":"OK","filler":"';
const answer = Buffer.from(`${OPENING}${'x'.repeat(Math.max(0, bytes - OPENING.length - 2))}"}`);

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    Buffer.concat(parts);
    response.writeHead(200, { 'Content-Type': 'application/json;charset=UTF-8', 'Content-Length': answer.length });
    response.end(answer);
  });
});
server.listen(Number(values.port ?? 0), '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
