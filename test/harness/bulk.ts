// Sends lines to x1/data/bulk and takes its answer apart.
import { entries } from '../spec/opened.ts';

export interface BulkReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Without empty ones. */
  readonly lines: readonly string[];
}

/** A line that asks for one thing: a verb and the values it is asked with. */
export function line(verb: string, values: Record<string, string>, more = {}, beside = {}): string {
  return JSON.stringify({ [verb]: { ...entries(values), ...more }, ...beside });
}

/** Sends lines to a server, as a file or as a parameter. */
export async function sendBulk(
  address: string,
  parameters: Readonly<Record<string, string>>,
  lines: readonly string[] | string,
  asFile = true,
): Promise<BulkReply> {
  const text = typeof lines === 'string' ? lines : `${lines.join('\n')}\n`;
  let body: FormData | URLSearchParams;
  if (asFile) {
    body = new FormData();
    for (const [name, value] of Object.entries(parameters)) body.set(name, value);
    body.set('lines', new Blob([text]), 'lines.ndjson');
  } else body = new URLSearchParams({ ...parameters, lines: text });
  const response = await fetch(`${address}/webapi/x1/data/bulk`, { method: 'POST', body });
  const answer = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    lines: answer.split('\n').filter((of) => of !== ''),
  };
}
