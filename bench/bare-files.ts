// A bare node:http server that puts bodies durably into files and gives files out: what Daicho's files are measured against.
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { folder: { type: 'string' } } });
const folder = String(values.folder);
const ANSWER = '{"rkwa_status":"OK"}';
let files = 0;

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await pipeline(request, createWriteStream(join(folder, `upload-${++files}`), { flush: true }));
  const names = await open(folder);
  await names.sync();
  await names.close();
  response.writeHead(200, { 'Content-Type': 'application/json;charset=UTF-8', 'Content-Length': ANSWER.length });
  response.end(ANSWER);
}

async function give(request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const path = join(folder, basename(request.url ?? ''));
  const { size } = await stat(path);
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': size });
  createReadStream(path).pipe(response);
}

// Any other path gives the file of its name.
const server = createServer((request, response) => {
  const answered = request.url === '/upload' ? take(request, response) : give(request, response);
  answered.catch((error) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
