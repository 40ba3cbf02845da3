// Asking a store as an operation does: a request's `param` in, records or a result out.
import assert from 'node:assert/strict';
import type { App } from '../../src/app/app.ts';
import { type JsonObject, parseJson } from '../../src/json.ts';
import type { Search } from '../../src/search/condition.ts';
import { parseConditions } from '../../src/search/parse.ts';
import type { Found, RegisteredApp, Store, Updated } from '../../src/store/store.ts';
import type { Change } from '../../src/update/change.ts';
import { changeOf } from '../harness/change.ts';

export interface Options {
  readonly tablecode?: string;
  readonly limit?: number;
  readonly after?: string;
  readonly revision?: boolean;
}

/** An entry as the tests look at it. */
export interface RecordAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: entries of any type, rows of any table
  readonly [id: string]: any;
}

export function appIn(store: Store, code: string): RegisteredApp {
  const registered = store.catalog().apps.get(code);
  assert.ok(registered, code);
  return registered;
}

/** The app as the database has it now. */
export async function appNow(store: Store, code: string): Promise<RegisteredApp> {
  await store.renewed(store.catalog());
  return appIn(store, code);
}

/** Asks as an operation does: what is stale is asked again. */
async function asked<Result extends { readonly kind: string }>(
  store: Store,
  code: string,
  ask: (registered: RegisteredApp) => Result | Promise<Result>,
): Promise<Result> {
  let result = await ask(store.catalog().apps.get(code) ?? (await appNow(store, code)));
  for (let again = 0; result.kind === 'stale' && again < 5; again++) result = await ask(await appNow(store, code));
  return result;
}

function objectOf(param: object): JsonObject {
  const parsed = parseJson(JSON.stringify(param));
  assert.ok('value' in parsed);
  return parsed.value as JsonObject;
}

export function searchFor(app: App, param: object, options: Options = {}): Search {
  const conditions = parseConditions(app, objectOf(param));
  if (!('sent' in conditions)) assert.fail(JSON.stringify(conditions));
  const table = app.tables.find(({ code }) => code === options.tablecode) ?? null;
  const { limit = null, after = null, revision = false } = options;
  return { conditions, table, limit, after, revision };
}

export async function find(
  store: Store,
  code: string,
  param: object,
  options: Options = {},
  maxRecords = 0,
): Promise<Found> {
  return asked(store, code, (registered) =>
    store.search(registered, searchFor(registered.app, param, options), maxRecords, 'sato'),
  );
}

/** The records of what was found, read to the end. */
export async function recordsOf(found: Found): Promise<RecordAnswer[]> {
  if (found.kind === 'none') return [];
  if (found.kind === 'page') return parse([found.records]);
  if (found.kind !== 'stream') assert.fail(found.kind);
  const pages: Uint8Array[] = [];
  for await (const page of found.pages) pages.push(page);
  return parse(pages);
}

export function parse(pages: readonly Uint8Array[]): RecordAnswer[] {
  return JSON.parse(`[${Buffer.concat(pages).toString()}]`) as RecordAnswer[];
}

export async function recordsFor(
  store: Store,
  code: string,
  param: object,
  options: Options = {},
): Promise<RecordAnswer[]> {
  return recordsOf(await find(store, code, param, options));
}

export function changeFor(
  app: App,
  param: Readonly<Record<string, string>>,
  mode: 'merge' | 'replace' = 'merge',
): Change {
  const entries = Object.fromEntries(Object.entries(param).map(([id, value]) => [id, { value }]));
  return changeOf(app, objectOf(entries), mode);
}

export function update(
  store: Store,
  code: string,
  param: Readonly<Record<string, string>>,
  userId = 'sato',
): Promise<Updated> {
  return asked(store, code, (registered) => store.update(registered, changeFor(registered.app, param), userId));
}
