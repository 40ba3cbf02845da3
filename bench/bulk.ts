// Puts records in, and takes them out again, with one bulk request each.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { formValues, lineRows } from './records.ts';
import { APP_CODE, FORM_FIELDS, LINE_FIELDS, PLAIN_FIELDS } from './register.ts';

const PATH = '/webapi/x1/data/bulk';

/** Name of what is measured, for `--only`. */
export const BULK = 'bulk';

export interface Bulk {
  readonly records: number;
  /** Records put in, and taken out, each second of the whole request. */
  readonly insertRate: number;
  readonly deleteRate: number;
}

/** Records after the last of the register, so many; it has those that it had when this is done. */
export async function measureBulk(
  port: number,
  key: string,
  seed: number,
  last: number,
  records: number,
): Promise<Bulk> {
  const numbers = Array.from({ length: records }, (_, index) => last + 1 + index);
  const insertSeconds = await send(
    port,
    key,
    numbers.map((n) => JSON.stringify({ insert: recordOf(seed, n) })),
  );
  const deleteSeconds = await send(
    port,
    key,
    numbers.map((n) => JSON.stringify({ delete: { [FORM_FIELDS[0]]: { value: formValues(seed, n)[0] } } })),
  );
  return { records, insertRate: records / insertSeconds, deleteRate: records / deleteSeconds };
}

const entries = (ids: readonly string[], values: readonly string[]) =>
  Object.fromEntries(ids.map((id, index) => [id, { value: values[index] }]));

/** A record of the app as a line has it. */
export function recordOf(seed: number, n: number): Record<string, unknown> {
  return {
    ...entries(FORM_FIELDS, formValues(seed, n)),
    bench_lines: lineRows(seed, n).map((row) => entries(LINE_FIELDS, row)),
  };
}

/** The same of the app with fewer fields. */
export function plainRecordOf(seed: number, n: number): Record<string, unknown> {
  return entries(PLAIN_FIELDS, formValues(seed, n).slice(0, PLAIN_FIELDS.length));
}

function send(port: number, key: string, lines: readonly string[]): Promise<number> {
  return sendLines(port, { appcode: APP_CODE, appkey: key }, new Blob([lines.join('\n')]), lines.length);
}

/** Seconds until the last of so many lines was answered. */
export async function sendLines(
  port: number,
  parameters: Readonly<Record<string, string>>,
  lines: Blob,
  count: number,
): Promise<number> {
  const body = new FormData();
  for (const [name, value] of Object.entries(parameters)) body.set(name, value);
  body.set('lines', lines, 'lines.ndjson');
  const from = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', body });
  let answered = 0;
  for await (const answer of createInterface(Readable.fromWeb(response.body as ReadableStream<Uint8Array>))) {
    if (!answer.startsWith('{"rkwa_status":"OK","rkwa_errorcount":0'))
      throw new Error(`a line was answered: ${answer}`);
    answered++;
  }
  if (answered !== count) throw new Error(`${answered} lines of ${count} were answered`);
  return (performance.now() - from) / 1000;
}
