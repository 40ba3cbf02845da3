// What a killed process left unfinished is finished by the next server on the folder.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { openSqliteRegister } from '../../src/store/sqlite/sqlite-register.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { appOf, putRecords } from '../harness/running.ts';

const COMMAND = fileURLToPath(new URL('../../bin/daicho.js', import.meta.url));
const RECORDS = 30_000;

test('a reindex that was killed is finished by a store that opens the folder, and nothing is lost', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daicho-resume-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const register = openSqliteRegister({ dataDir });
  const { app, source } = appOf(
    'code: R\nfields:\n- { id: r_primarykey, type: id }\n- { id: word, type: text, search: partial }\n',
  );
  await register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
  await putRecords(
    register,
    'R',
    Array.from({ length: RECORDS }, (_, i) => ({ word: `言葉${i}` })),
  );
  const before = register.catalog().apps.get('R')?.generation as number;

  const child = spawn(process.execPath, [COMMAND, 'reindex', 'R', '--data-dir', dataDir], { stdio: 'ignore' });
  const db = new Database(join(dataDir, 'daicho.db'), { readonly: true });
  const position = db.prepare('select position from builds').pluck();
  while (!((position.get() as number | undefined) ?? 0)) await wait(2);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(position.get() !== undefined, 'the reindex was killed before its end');
  db.close();

  const store = openSqliteStore({ dataDir, cacheMiB: 16 });
  await store.resume();
  await store.close();
  assert.equal(register.catalog().apps.get('R')?.generation, before + 1);
  assert.equal(await register.countRecords('R'), RECORDS);
  assert.deepEqual(await register.check(['R'], () => {}), []);
  await register.close();
});
