// A server on a fresh register, as the tests use it: real database, real HTTP.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../src/app/app.ts';
import type { Rights } from '../../src/auth/caller.ts';
import { createLog } from '../../src/config/log.ts';
import type { Values } from '../../src/envelope/record.ts';
import type { FileStore } from '../../src/files/file-store.ts';
import { openFileStore } from '../../src/files/file-stores.ts';
import { createHttpServer, type ServerOptions } from '../../src/http/server.ts';
import { readDefinition } from '../../src/operations/read-definition.ts';
import type { Register } from '../../src/store/register.ts';
import type { Store } from '../../src/store/store.ts';
import type { Lang } from '../../src/wire.ts';
import { type FreshRegister, freshRegister } from './fresh-register.ts';

/** A record to put in: field ID → value, table code → rows of field ID → value. */
export interface TestRecord {
  readonly [id: string]: string | readonly { readonly [id: string]: string }[];
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as sent. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly json: any;
}

export interface Running extends Pick<FreshRegister, 'place' | 'query' | 'holds'> {
  readonly url: string;
  readonly store: Store;
  readonly files: FileStore;
  /** Folder of the file store. */
  readonly filesDir: string;
  readonly register: Register;
  readonly log: string[];
  define(yaml: string): Promise<App>;
  /** Puts records in, values as an import would have read them; gives nothing back. */
  put(appCode: string, records: readonly TestRecord[], userId?: string): Promise<void>;
  addUser(id: string, name: string, lang?: Lang): Promise<void>;
  /** Grants rights in the app (unless null) and gives a new key. */
  key(appCode: string, userId: string, rights?: Partial<Rights> | null, expiresAt?: number): Promise<string>;
  post(
    path: string,
    parameters: Record<string, string> | string | FormData,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** `dataset/search` with `param` as JSON. */
  search(parameters: Record<string, string>, param?: unknown): Promise<Reply>;
  /** `data/update` with `param` as JSON. */
  update(parameters: Record<string, string>, param: unknown): Promise<Reply>;
  close(): Promise<void>;
}

const SETTINGS: ServerOptions = {
  ...{ basePath: '', maxRecords: 0, always200: false, svgImages: false },
  ...{ maxBody: 1 << 20, maxFile: 1 << 24, maxFiles: 20, maxUpload: 1 << 25 },
};

/** The settings of a file store in a folder. */
export const NO_S3 = {
  ...{ s3Bucket: '', s3Prefix: '', s3Endpoint: '', s3Region: '', s3AccessKeyId: '', s3SecretAccessKey: '' },
};

/** Reads a definition that must be right. */
export function appOf(yaml: string): { app: App; source: string } {
  const read = readDefinition('test.yaml', yaml);
  if ('problems' in read) assert.fail(read.problems.join('\n'));
  return read;
}

/** Starts a server; close it in `after`. */
export async function startRunning(options: Partial<ServerOptions> = {}): Promise<Running> {
  const { place, openRegister, openStore, query, holds, remove } = await freshRegister();
  const register = await openRegister();
  const store = await openStore();
  const filesDir = mkdtempSync(join(tmpdir(), 'daicho-test-files-'));
  const files = await openFileStore({ ...NO_S3, filesDir });
  const log: string[] = [];
  const settings = { ...SETTINGS, ...options };
  const server = createHttpServer(
    store,
    files,
    settings,
    createLog('debug', (line) => log.push(line)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${settings.basePath}`;
  let keys = 0;

  const post: Running['post'] = async (path, parameters, headers = {}) => {
    const body =
      typeof parameters === 'string' || parameters instanceof FormData ? parameters : new URLSearchParams(parameters);
    const type = typeof parameters === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
    const response = await fetch(url + path, { method: 'POST', body, headers: { ...type, ...headers } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };

  return {
    url,
    place,
    query,
    holds,
    store,
    files,
    filesDir,
    register,
    log,
    post,
    async define(yaml) {
      const { app, source } = appOf(yaml);
      await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
      return app;
    },
    put: (appCode, records, userId = '') => putRecords(register, appCode, records, userId),
    addUser: (id, name, lang = 'ja') => register.addUser({ id, name, lang }),
    async key(appCode, userId, rights = { update: true }, expiresAt) {
      if (rights !== null)
        await register.grant(appCode, userId, { update: false, edit: false, admin: false, ...rights });
      const key = `key-${++keys}-${userId}`;
      await register.addKey(appCode, userId, createHash('sha256').update(key).digest(), expiresAt ?? null);
      return key;
    },
    search: (parameters, param) =>
      post('/webapi/v1/dataset/search', {
        ...parameters,
        ...(param === undefined ? {} : { param: JSON.stringify(param) }),
      }),
    update: (parameters, param) => post('/webapi/v1/data/update', { ...parameters, param: JSON.stringify(param) }),
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await store.close();
      await register.close();
      await files.close();
      rmSync(filesDir, { recursive: true });
      await remove();
    },
  };
}

/** Puts records in through the loader. */
export async function putRecords(
  register: Register,
  appCode: string,
  records: readonly TestRecord[],
  userId = '',
): Promise<void> {
  const app = register.catalog().apps.get(appCode)?.app;
  assert.ok(app);
  const loader = await register.load(appCode, userId, `test-${Math.random()}`);
  const loaded = records.map((record, index) => {
    const values = new Map<string, string>();
    const tables = new Map<string, readonly Values[]>();
    for (const [id, value] of Object.entries(record)) {
      if (typeof value === 'string') values.set(id, value);
      else {
        const fields = app.tables.find(({ code }) => code === id)?.fields ?? [];
        tables.set(
          id,
          value.map((row) => fields.map((field) => row[field.id] ?? '')),
        );
      }
    }
    const primaryKey = values.get(app.primaryKey.id) ?? null;
    return { line: index + 1, primaryKey, values, tables };
  });
  await loader.put(loaded, loaded.length);
  await loader.finish(() => {});
}
