// A server with one app, an ordinary user and a key of theirs, as most tests of the specification need it.
import assert from 'node:assert/strict';
import type { ServerOptions } from '../../src/http/server.ts';
import { type Reply, type Running, startRunning, type TestRecord } from '../harness/running.ts';

export interface Opened {
  readonly running: Running;
  /** `appcode` and `appkey` of the user `yamada`, who may search and update. */
  readonly credentials: { readonly appcode: string; readonly appkey: string };
  search(param?: unknown, more?: Record<string, string>): Promise<Reply>;
  update(param: unknown, more?: Record<string, string>): Promise<Reply>;
  /** The primary keys of the records found, in their order, with spaces between; '' where nothing matches. */
  find(param: unknown, more?: Record<string, string>): Promise<string>;
  /** The record with a primary key as a search for it returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: records of any shape
  record(primaryKey: string, more?: Record<string, string>): Promise<any>;
}

/** Starts a server with the app of a definition; `yamada` (山田 太郎) puts the records in. */
export async function openApp(
  definition: string,
  records: readonly TestRecord[],
  options: Partial<ServerOptions> = {},
): Promise<Opened> {
  const running = await startRunning(options);
  const { app, credentials } = await setUp(running, definition, records).catch(async (error: unknown) => {
    // A server left running would keep the test's process from ending.
    await running.close();
    throw error;
  });
  const { primaryKey, recordsKey } = app;
  const search: Opened['search'] = (param, more = {}) => running.search({ ...credentials, ...more }, param);
  const records_ = async (param: unknown, more: Record<string, string>) => {
    const { status, json, text } = await search(param, more);
    assert.equal(status, 200, text);
    return json.rkwa_errorcount === 0 ? json[more.tablecode ?? recordsKey] : [];
  };
  return {
    running,
    credentials,
    search,
    update: (param, more = {}) => running.update({ ...credentials, ...more }, param),
    find: async (param, more = {}) =>
      (await records_(param, more)).map((record: never) => keyOf(record, primaryKey.id)).join(' '),
    record: async (key, more = {}) =>
      (await records_({}, more)).find((record: never) => keyOf(record, primaryKey.id) === key),
  };
}

async function setUp(running: Running, definition: string, records: readonly TestRecord[]) {
  const app = await running.define(definition);
  await running.addUser('yamada', '山田 太郎');
  const credentials = { appcode: app.code, appkey: await running.key(app.code, 'yamada') };
  await running.put(app.code, records, 'yamada');
  return { app, credentials };
}

function keyOf(record: Record<string, { value: string }>, id: string): string | undefined {
  return record[id]?.value;
}

/** `param` of an update: field ID → value to `{"value": …}` entries; takes any name as a key. */
export function entries(values: Record<string, string>): Record<string, { value: string }> {
  return Object.fromEntries(Object.entries(values).map(([id, value]) => [id, { value }]));
}

/** The envelope of a refused call in the reply, checked for being one. */
export function refusal({ status, headers, text, json }: Reply): {
  status: number;
  code: string | null;
  messages: string[];
} {
  assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8', text);
  assert.deepEqual(Object.keys(json), ['rkwa_status', 'rkwa_errorcount', 'rkwa_errmsg'], text);
  assert.equal(json.rkwa_status, 'NG', text);
  assert.equal(json.rkwa_errorcount, json.rkwa_errmsg.length, text);
  return { status, code: headers.get('x-error-code'), messages: json.rkwa_errmsg };
}

/** The body of an answer from the end of the envelope on, without the last brace. */
export function afterEnvelope(text: string): string {
  const fine = '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null,';
  assert.ok(text.startsWith(fine) && text.endsWith('}'), text);
  return text.slice(fine.length, -1);
}
