// A server that only reads forms: real HTTP, the store on disk, and what was read as its answer.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Problem, Refusal } from '../../src/errors.ts';
import { openDiskStore } from '../../src/files/disk.ts';
import type { FileStore } from '../../src/files/file-store.ts';
import { type FormLimits, formTypeOf, type Intake, readForm } from '../../src/http/form.ts';
import type { Upload } from '../../src/operations/request.ts';

export interface ReadFile {
  readonly part: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly digest: string;
  readonly size: number;
  /** Of a file of at most 64 KiB, as it lies on the disk, in base64; '' for a larger one. */
  readonly content: string;
}

export interface ReadForm {
  /** null where the body was read. */
  readonly refused: readonly Problem[] | null;
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly problems: readonly Problem[];
  readonly files: readonly ReadFile[];
}

export interface FormServerOptions {
  readonly limits?: Partial<FormLimits>;
  /** Without it files are taken by the store on disk; null takes none. */
  readonly intake?: ((files: FileStore) => Intake) | null;
}

export interface FormServer {
  readonly url: string;
  readonly port: number;
  /** Sends the pieces one by one, each a chunk of its own, or a body with its length. */
  post(contentType: string, body: string | Buffer | readonly Buffer[]): Promise<ReadForm>;
  /** What has been read of the request that was answered last, whoever sent it. */
  last(): ReadForm | null;
  /** Resolves when a request is answered, or given up by its client. */
  settled(): Promise<ReadForm>;
  /** Files that are arriving or were left. */
  receiving(): string[];
  close(): Promise<void>;
}

export const ROOMY: FormLimits = { maxBody: 32 << 20, maxFile: 1 << 30, maxFiles: 100, maxUpload: 1 << 30 };

export async function formServer({ limits, intake }: FormServerOptions = {}): Promise<FormServer> {
  const folder = mkdtempSync(join(tmpdir(), 'daicho-form-'));
  const files = openDiskStore(folder);
  const into =
    intake === null ? null : (intake?.(files) ?? { receive: () => files.receive(), admit: async () => true });
  const waiting: ((read: ReadForm) => void)[] = [];
  let last: ReadForm | null = null;

  async function read(incoming: IncomingMessage): Promise<ReadForm> {
    const uploads: Upload[] = [];
    const problems: Problem[] = [];
    try {
      const type = formTypeOf(incoming.headers);
      const form = await readForm(type, incoming, { ...ROOMY, ...limits }, problems, into, uploads);
      return { refused: null, form: [...form], problems, files: uploads.map(readFile) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { refused: error.problems, form: [], problems, files: [] };
    } finally {
      for (const { received } of uploads) await files.drop(received);
    }
  }

  const server = createServer({ maxHeaderSize: 128 * 1024 }, async (incoming, response) => {
    const answer = await read(incoming);
    last = answer;
    for (const resolve of waiting.splice(0)) resolve(answer);
    if (answer.refused !== null) response.setHeader('Connection', 'close');
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });

  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    post(contentType, body) {
      return new Promise((resolve, reject) => {
        const outgoing = request({ port, agent, method: 'POST', headers: { 'content-type': contentType } });
        // A refusal can come before all has been sent; it has been read by then.
        let isAnswered = false;
        outgoing.on('error', (error) => isAnswered || reject(error));
        outgoing.on('response', async (response) => {
          isAnswered = true;
          let text = '';
          for await (const piece of response.setEncoding('utf8')) text += piece;
          resolve(JSON.parse(text));
        });
        if (typeof body === 'string' || Buffer.isBuffer(body)) outgoing.end(body);
        else {
          for (const piece of body) if (piece.length > 0) outgoing.write(piece);
          outgoing.end();
        }
      });
    },
    last: () => last,
    settled: () => new Promise((resolve) => waiting.push(resolve)),
    receiving: () => namesIn(join(folder, 'receiving')),
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await files.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function readFile({ part, fileName, contentType, received: { digest, size, path } }: Upload): ReadFile {
  const content = size <= 65_536 ? readFileSync(path).toString('base64') : '';
  return { part, fileName, contentType, digest, size, content };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    // Nothing has been received yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
