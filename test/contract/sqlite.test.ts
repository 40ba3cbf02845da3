// The store on SQLite passes the contract, and shares commits.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, databaseFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteRegister } from '../../src/store/sqlite/sqlite-register.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { appOf, putRecords } from '../harness/running.ts';
import { update } from './asking.ts';
import { storeContract } from './store.ts';

function sqliteBench() {
  const dataDir = mkdtempSync(join(tmpdir(), 'daicho-contract-'));
  const register = openSqliteRegister({ dataDir });
  return {
    dataDir,
    register,
    openStore: () => openSqliteStore({ dataDir, cacheMiB: 16 }),
    isAtRest() {
      // The log can be emptied only where no transaction reads from it.
      const db = connect(dataDir);
      db.pragma('busy_timeout = 0');
      const [{ busy } = { busy: 1 }] = db.pragma('wal_checkpoint(truncate)') as { busy: number }[];
      db.close();
      return busy === 0;
    },
    async remove() {
      await register.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

storeContract('SQLite', sqliteBench);

test('D31: updates that wait together share a commit', async () => {
  const bench = sqliteBench();
  const { app, source } = appOf('code: A\nfields: [{ id: a_primarykey, type: id }, { id: t, type: text }]');
  await bench.register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await bench.register.addUser({ id: 'sato', name: '佐藤', lang: 'ja' });
  await putRecords(
    bench.register,
    'A',
    Array.from({ length: 60 }, () => ({ t: 'x' })),
  );
  const store = bench.openStore();
  // What is committed is appended to the log; updates in one commit write each page once.
  const written = () => statSync(`${databaseFile(bench.dataDir)}-wal`).size;
  const change = (n: number, t: string) => update(store, 'A', { a_primarykey: String(1 + n), t });
  assert.ok(bench.isAtRest());
  for (let n = 0; n < 60; n++) await change(n, 'one by one');
  const alone = written();
  assert.ok(bench.isAtRest());
  await Promise.all(Array.from({ length: 60 }, (_, n) => change(n, 'at once')));
  const together = written();
  assert.ok(together < alone / 4, `${together} bytes against ${alone}`);
  await store.close();
  await bench.remove();
});
