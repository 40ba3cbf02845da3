// Puts records in, and takes them out again, with one bulk request each.
import { formValues, lineRows } from './records.ts';
import { APP_CODE, FORM_FIELDS, LINE_FIELDS } from './register.ts';

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

function recordOf(seed: number, n: number): Record<string, unknown> {
  const entries = (ids: readonly string[], values: readonly string[]) =>
    Object.fromEntries(ids.map((id, index) => [id, { value: values[index] }]));
  return {
    ...entries(FORM_FIELDS, formValues(seed, n)),
    bench_lines: lineRows(seed, n).map((row) => entries(LINE_FIELDS, row)),
  };
}

/** Seconds until the last line was answered. */
async function send(port: number, key: string, lines: readonly string[]): Promise<number> {
  const body = new FormData();
  body.set('appcode', APP_CODE);
  body.set('appkey', key);
  body.set('lines', new Blob([lines.join('\n')]), 'lines.ndjson');
  const from = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', body });
  const answers = (await response.text()).trimEnd().split('\n');
  const seconds = (performance.now() - from) / 1000;
  const wrong = answers.find((answer) => !answer.startsWith('{"rkwa_status":"OK","rkwa_errorcount":0'));
  if (answers.length !== lines.length || wrong !== undefined) throw new Error(`a bulk line was answered: ${wrong}`);
  return seconds;
}
