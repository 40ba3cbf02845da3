// A register and a store on it for each test, an app and its records, and other processes at work on them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach } from 'node:test';
import type { Applied, Register } from '../../src/store/register.ts';
import type { Store } from '../../src/store/store.ts';
import { engineInUse, type FreshRegister, freshRegister } from '../harness/fresh-register.ts';
import { appOf, putRecords, type TestRecord } from '../harness/running.ts';
import { appNow, type RecordAnswer, recordsFor, update } from './asking.ts';

export const BASE = `code: A
fields:
  - { id: a_primarykey, type: id }
  - { id: t, type: text, search: partial }
  - { id: n, type: text, search: exact }
tables:
  - { code: lines, fields: [{ id: p, type: text, search: partial }, { id: q, type: text, search: exact }] }
`;
export const RECORDS: readonly TestRecord[] = [
  {
    a_primarykey: '1',
    t: '京都',
    n: '1,000.50',
    lines: [
      { p: '筆', q: '3' },
      { p: '紙', q: 'many' },
    ],
  },
  { a_primarykey: '2', t: '東京', n: 'abc', lines: [] },
];
/** Records of an app that takes long enough to be rebuilt for others to come in between. */
export const MANY = engineInUse() === 'sqlite' ? 20_000 : 6_000;

/** Those of the test that runs. */
export let fresh: FreshRegister;
export let register: Register;
export let store: Store;

/** Opens them before each test of a file, with the user `sato` (佐藤), and removes them after it. */
export function openForEachTest(): void {
  beforeEach(async () => {
    fresh = await freshRegister();
    register = await fresh.openRegister();
    await register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
    store = await fresh.openStore();
  });
  afterEach(async () => {
    await store.close();
    await register.close();
    await fresh.remove();
  });
}

export function apply(yaml: string, options: { allowDataLoss?: boolean; dryRun?: boolean } = {}): Promise<Applied> {
  const { app, source } = appOf(yaml);
  return register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {}, ...options });
}

export const changed = (...replacements: readonly (readonly [string, string])[]) =>
  replacements.reduce((yaml, [from, to]) => {
    assert.ok(yaml.includes(from), from);
    return yaml.replace(from, to);
  }, BASE);

/** Values of every record, rows included. */
export async function valuesOf(): Promise<unknown[]> {
  const records = await recordsFor(store, 'A', {}, { tablecode: (await appNow(store, 'A')).app.tables[0]?.code ?? '' });
  return records.map((record) => plain(record));
}

export function plain(record: RecordAnswer): Record<string, unknown> {
  const entries = Object.entries(record).filter(([id]) => !id.startsWith('pms_'));
  return Object.fromEntries(entries.map(([id, entry]) => [id, Array.isArray(entry) ? entry.map(plain) : entry.value]));
}

export async function checkIsClean(): Promise<void> {
  assert.deepEqual(await register.check([...register.catalog().apps.keys()], () => {}), []);
}

/** A child process on the register; `line` is called for each that it writes, and can send it a signal: SIGKILL, unless another. */
export function start(
  command: string,
  argument: string,
  line: (text: string, send: (signal?: NodeJS.Signals) => void) => void = () => {},
): Promise<string> {
  const script = join(import.meta.dirname, 'register-process.ts');
  const child = spawn(process.execPath, [script, fresh.place, command, argument], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', (text) => line(text, (signal = 'SIGKILL') => child.kill(signal)));
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? String(code))));
}

/** An update, and the moments of its beginning and of its answer among all of these. */
interface AnsweredUpdate {
  readonly value: string;
  readonly begun: number;
  readonly ended: number;
}

/** Updates one record after another until told to stop; each answered value must be there in the end. */
export function updating(): { stop(): Promise<void> } {
  const answered = new Map<string, AnsweredUpdate[]>();
  let moment = 0;
  let stopped = false;
  const one = async (lane: number) => {
    for (let n = 0; !stopped; n++) {
      // Records from every part of the app, some of them again and again.
      const key = String(1 + ((lane * 5_003 + n * 7_919) % MANY));
      const value = `lane ${lane} turn ${n}`;
      const begun = ++moment;
      const { kind } = await update(store, 'A', { a_primarykey: key, t: value });
      if (kind === 'stale') continue;
      assert.equal(kind, 'updated');
      answered.set(key, [...(answered.get(key) ?? []), { value, begun, ended: ++moment }]);
    }
  };
  const lanes = Promise.all([0, 1, 2, 3].map(one));
  return {
    async stop() {
      stopped = true;
      await lanes;
      assert.ok(answered.size > 0);
      const stored = new Map(
        (await recordsFor(store, 'A', {})).map((record) => [record.a_primarykey.value, record.t.value]),
      );
      assert.equal(stored.size, MANY);
      // Lanes meet on records; whoever came last has its value there. The moments tell whether others were under way at once.
      for (const [key, updates] of answered) {
        assert.equal(stored.get(key), updates.at(-1)?.value, `record ${key}: ${JSON.stringify(updates)}`);
      }
    },
  };
}

export const many = () =>
  putRecords(
    register,
    'A',
    Array.from({ length: MANY }, (_, n) => ({
      a_primarykey: String(n + 1),
      t: `京都 ${n}`,
      n: String(n),
      lines: n % 50 === 0 ? [{ p: '筆', q: '1' }] : [],
    })),
    'sato',
  );
export const OTHER = changed(['{ id: n, type: text, search: exact }', '{ id: n, type: number, search: range }']);
