// Fills empty apps, each with one bulk request that is done whole or not at all, in a register of its own.
import { openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainRecordOf, recordOf, sendLines } from './bulk.ts';
import { writeRecords } from './csv.ts';
import { command, firstAnswer, issueKey, serve } from './daicho.ts';
import { USER } from './load.ts';
import { stop, watchMemory } from './processes.ts';
import { APP_CODE, DEFINITION, PLAIN_CODE, PLAIN_DEFINITION } from './register.ts';

/** Name of what is measured, for `--only`. */
export const FILL = 'fill';

export interface Fill {
  readonly records: number;
  /** Records each second of the whole request, indexes included: of the order register, and of seven fields without a table. */
  readonly rate: number;
  readonly plainRate: number;
  /** Most memory of the server meanwhile, in bytes. */
  readonly memory: number | null;
}

const MAX_BYTES = '5GB';

export async function measureFill(scratch: string, seed: number, records: number): Promise<Fill> {
  const data = join(scratch, 'filled');
  const where = { data, database: '' };
  for (const definition of [DEFINITION, PLAIN_DEFINITION]) {
    const file = join(scratch, 'fill.yaml');
    writeFileSync(file, definition);
    await command(where, 'app', 'apply', file);
  }
  await command(where, 'user', 'add', USER, '--name', '計測', '--lang', 'ja');
  await command(where, 'option', 'web-api', 'on');
  const keys = new Map<string, string>();
  for (const code of [APP_CODE, PLAIN_CODE]) {
    await command(where, 'app', 'grant', code, USER, '--update');
    keys.set(code, await issueKey(where, USER, code));
  }
  const server = await serve(where, 1, { MAX_FILE: MAX_BYTES, MAX_UPLOAD: MAX_BYTES });
  await firstAnswer(
    server,
    new URLSearchParams({ appcode: APP_CODE, appkey: keys.get(APP_CODE) as string }).toString(),
    performance.now(),
  );
  const most = watchMemory(server.process);
  const rateOf = async (code: string, record: typeof recordOf) => {
    const lines = join(scratch, 'fill.ndjson');
    await writeRecords(lines, '', records, (n) => `${JSON.stringify({ insert: record(seed, n) })}\n`);
    const parameters = { appcode: code, appkey: keys.get(code) as string, atomic: '1' };
    const seconds = await sendLines(server.port, parameters, await openAsBlob(lines), records);
    rmSync(lines);
    return records / seconds;
  };
  try {
    const rate = await rateOf(APP_CODE, recordOf);
    return { records, rate, plainRate: await rateOf(PLAIN_CODE, plainRecordOf), memory: most() };
  } finally {
    most();
    await stop(server.process);
    rmSync(data, { recursive: true });
  }
}
