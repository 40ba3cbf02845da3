// Several servers on one PostgreSQL, each in a process of its own, and clients that ask them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import { openPostgresRegister } from '../../src/store/postgres/postgres-register.ts';
import type { Register } from '../../src/store/register.ts';
import { type RunningServer, startServer, temporaryFolder } from './run-daicho.ts';
import { appOf, putRecords } from './running.ts';

/** No request may take longer, whatever becomes of the database. */
export const LONGEST = 10_000;

export const DEFINITION = `
code: WORK
fields:
  - { id: k_primarykey, type: id, search: exact }
  - { id: n, type: number, search: exact }
  - { id: word, type: text, search: partial }
`;

export const USERS = ['sato', 'suzuki', 'takahashi', 'tanaka'];

export interface Answered {
  /** 0 where the connection broke before the whole answer was there. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly json: any;
  readonly milliseconds: number;
}

export interface Client {
  search(param: object, more?: Readonly<Record<string, string>>): Promise<Answered>;
  update(param: Readonly<Record<string, string>>, more?: Readonly<Record<string, string>>): Promise<Answered>;
}

/** A client of a server, with a key to WORK. */
export function clientOf({ address }: Pick<RunningServer, 'address'>, key: string): Client {
  const post = async (path: string, parameters: Readonly<Record<string, string>>): Promise<Answered> => {
    const started = performance.now();
    const body = new URLSearchParams({ appcode: 'WORK', appkey: key, ...parameters });
    const signal = AbortSignal.timeout(LONGEST * 2);
    let status = 0;
    let text = '';
    try {
      const response = await fetch(`${address}/webapi/v1/${path}`, { method: 'POST', body, signal });
      text = await response.text();
      status = response.status;
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') throw error;
    }
    const milliseconds = performance.now() - started;
    return { status, json: status === 0 ? null : JSON.parse(text), milliseconds };
  };
  return {
    search: (param, more = {}) => post('dataset/search', { param: JSON.stringify(param), ...more }),
    update(param, more = {}) {
      const entries = Object.entries(param).map(([id, value]) => [id, { value }] as const);
      return post('data/update', { mode: 'merge', param: JSON.stringify(Object.fromEntries(entries)), ...more });
    },
  };
}

/** The records of an answer that found some. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records of any shape
export function recordsOf({ json }: Answered): readonly any[] {
  return (Object.values(json).find(Array.isArray) ?? []) as readonly object[];
}

/** A refusal with the envelope of the specification. */
export function assertRefused({ status, json }: Answered, expected: number): void {
  assert.equal(status, expected, JSON.stringify(json));
  assert.equal(json.rkwa_status, 'NG');
  assert.ok(json.rkwa_errmsg.length > 0);
}

export interface Work {
  readonly register: Register;
  /** The key of a user who may update. */
  readonly key: string;
  serve(t: TestContext, ...args: string[]): Promise<RunningServer>;
}

/** A register with the app WORK and records `R0`, `R1`, …, each with n = 0. */
export async function makeWork(url: string, count: number): Promise<Work> {
  const register = await openPostgresRegister({ url, schema: 'daicho' });
  const { app, source } = appOf(DEFINITION);
  await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  for (const id of USERS) {
    await register.addUser({ id, name: id, lang: 'ja' });
    await register.grant('WORK', id, { update: true, edit: false, admin: false });
  }
  const records = Array.from({ length: count }, (_, n) => ({ k_primarykey: `R${n}`, n: '0', word: 'first' }));
  await putRecords(register, 'WORK', records, 'sato');
  return {
    register,
    key: await issue(register, 'sato'),
    serve: (t, ...args) => startServer(t, temporaryFolder(t), '--database-url', url, ...args),
  };
}

/** A new key for a user; its number is the greatest there is. */
export async function issue(register: Register, userId: string): Promise<string> {
  const key = `key-${Math.random()}`;
  await register.addKey('WORK', userId, createHash('sha256').update(key).digest(), null);
  return key;
}
