// One app on SQLite and on PostgreSQL: everything is done on both, and both must answer the same bytes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileStore } from '../../src/files/file-stores.ts';
import type { Answer } from '../../src/operations/answer.ts';
import { dataUpdate } from '../../src/operations/data-update.ts';
import { datasetSearch } from '../../src/operations/dataset-search.ts';
import { readDefinition } from '../../src/operations/read-definition.ts';
import { envelopeOf, refusedBy } from '../../src/operations/refused.ts';
import type { Call } from '../../src/operations/request.ts';
import { openPostgresRegister } from '../../src/store/postgres/postgres-register.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { LoadRecord, Register } from '../../src/store/register.ts';
import { openSqliteRegister } from '../../src/store/sqlite/sqlite-register.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { FreshDatabase } from '../harness/database.ts';
import { NO_S3 } from '../harness/running.ts';

export const USERS = ['u1', 'U1', 'u2'];

interface Engine {
  readonly register: Register;
  readonly store: Store;
}

export interface Both {
  /** Applies a definition; the first time it gives a key too. */
  define(source: string): Promise<void>;
  load(userId: string, records: readonly LoadRecord[]): Promise<void>;
  /** The answer of both to a search, times made equal. */
  search(parameters: Readonly<Record<string, string>>, maxRecords?: number): Promise<string>;
  update(parameters: Readonly<Record<string, string>>): Promise<string>;
  /** Proves that everything derived agrees with the values, on both. */
  check(): Promise<void>;
  close(): Promise<void>;
}

let loads = 0;

/** Opens a register and a store on each engine. */
export async function openBoth(database: FreshDatabase, schema: string): Promise<(appCode: string) => Both> {
  const dataDir = mkdtempSync(join(tmpdir(), 'daicho-property-'));
  const place = { url: database.url, schema };
  const engines: readonly Engine[] = [
    { register: openSqliteRegister({ dataDir }), store: openSqliteStore({ dataDir, cacheMiB: 4 }) },
    {
      register: await openPostgresRegister(place),
      store: await openPostgresStore({ ...place, readUrls: [], connections: 2, timeout: 60_000 }),
    },
  ];
  const onBoth = async <T>(work: (engine: Engine) => Promise<T>): Promise<T> => {
    const [first, second] = await Promise.all(engines.map(work));
    assert.deepEqual(second, first);
    return first as T;
  };
  for (const { register } of engines) {
    for (const id of USERS) await register.addUser({ id, name: `名前 ${id}`, lang: 'ja' });
  }
  const asked = async (
    operation: (store: Store, form: ReadonlyMap<string, string>, call: Call) => Promise<Answer>,
    parameters: Readonly<Record<string, string>>,
  ) => {
    const form = new Map(Object.entries(parameters));
    const [first, second] = await Promise.all(engines.map(({ store }) => textFrom(store, form, operation)));
    assert.equal(second, first, JSON.stringify(parameters));
    return first as string;
  };

  return (appCode) => {
    const appkey = `key of ${appCode}`;
    const own = { appcode: appCode, appkey };
    return {
      async define(source) {
        const read = readDefinition('app.json', source);
        if ('problems' in read) assert.fail(read.problems.join('\n'));
        const options = { allowDataLoss: false, dryRun: false, progress: () => {} };
        const { kind } = await onBoth(({ register }) => register.apply(read.app, source, options));
        if (kind !== 'created') return;
        for (const { register } of engines) {
          for (const id of USERS) await register.grant(appCode, id, { update: true, edit: false, admin: false });
          await register.addKey(appCode, 'u1', createHash('sha256').update(appkey).digest(), null);
        }
      },
      async load(userId, records) {
        const fingerprint = `load ${++loads}`;
        await onBoth(async ({ register }) => {
          const loader = await register.load(appCode, userId, fingerprint);
          const results = [await loader.put(records, records.length), await loader.finish(() => {})];
          return results.reduce((sum, { inserted, updated }) => [(sum[0] ?? 0) + inserted, (sum[1] ?? 0) + updated], [
            0, 0,
          ] as number[]);
        });
      },
      search: (parameters, maxRecords = 0) =>
        asked((store, form, call) => datasetSearch(store, form, call, maxRecords), { ...own, ...parameters }),
      update: (parameters) => asked(updating, { ...own, ...parameters }),
      async check() {
        assert.deepEqual(await onBoth(({ register }) => register.check([appCode], () => {})), []);
      },
      async close() {
        for (const { register, store } of engines) {
          await store.close();
          await register.close();
        }
        rmSync(dataDir, { recursive: true });
      },
    };
  };
}

/** An update without files. */
function updating(store: Store, form: ReadonlyMap<string, string>, call: Call): Promise<Answer> {
  return dataUpdate(store, form, call, { files: NO_FILES, svgImages: false });
}

/** A file store that nothing is asked of. */
const NO_FILES = await openFileStore({ ...NO_S3, filesDir: '/dev/null' });

/** What a server would send: the whole body, refusals too. */
async function textFrom(
  store: Store,
  form: ReadonlyMap<string, string>,
  operation: (store: Store, form: ReadonlyMap<string, string>, call: Call) => Promise<Answer>,
): Promise<string> {
  const call: Call = { lang: 'ja', problems: [], uploads: [] };
  try {
    return sameTimes(await bytesOf(await operation(store, form, call)));
  } catch (error) {
    const refused = refusedBy(error, call.lang);
    if (refused.status >= 500) throw error;
    return `${refused.status} ${refused.code} ${envelopeOf(refused)}`;
  }
}

/** Every byte as a character. */
async function bytesOf(answer: Answer): Promise<string> {
  if (answer.kind === 'content' || answer.kind === 'lines')
    throw new Error('no operation of these answers with a file');
  if (answer.kind === 'text') return Buffer.from(answer.text).toString('latin1');
  const parts = [Buffer.from(answer.open)];
  if (answer.kind === 'records') parts.push(Buffer.from(answer.records), Buffer.from(answer.close));
  else {
    for await (const page of answer.pages) parts.push(Buffer.from(page));
    parts.push(Buffer.from(answer.close()));
  }
  return Buffer.concat(parts).toString('latin1');
}

/** The engines write a moment apart. */
function sameTimes(text: string): string {
  return text.replace(/("pms_[iu]_ymd":\{[^}]*?"value":")\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"/g, '$1YYYY-MM-DD HH:MM:SS"');
}
