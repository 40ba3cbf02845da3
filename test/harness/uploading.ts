// Uploads and downloads as clients send them, and what then lies in the folder of a file store.
import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Who asks: `appcode` and `appkey`, and what else every request has. */
export type Credentials = Readonly<Record<string, string>>;

export interface Uploaded {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly json: any;
}

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** X-Error-Code of a refusal; null for a file. */
  readonly code: string | null;
}

/** A file as a client sends it. */
export function fileOf(content: string | Buffer, name: string, type = 'text/plain'): File {
  return new File([new Uint8Array(Buffer.from(content))], name, { type });
}

/** The parts of an update: `values` become its param, `parts` its files. */
export function updateForm(
  credentials: Credentials,
  values: Readonly<Record<string, string>>,
  parts: Readonly<Record<string, File>>,
): FormData {
  const form = new FormData();
  const param = Object.fromEntries(Object.entries(values).map(([id, value]) => [id, { value }]));
  for (const [name, value] of Object.entries(credentials)) form.set(name, value);
  form.set('param', JSON.stringify(param));
  for (const [name, part] of Object.entries(parts)) form.set(name, part);
  return form;
}

/** Updates a record with files; rejects where the connection ends without an answer. */
export async function upload(address: string, ...parts: Parameters<typeof updateForm>): Promise<Uploaded> {
  const response = await fetch(`${address}/webapi/v1/data/update`, { method: 'POST', body: updateForm(...parts) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

/** Downloads a file. */
export async function download(
  address: string,
  credentials: Credentials,
  fileid: string,
  headers: Record<string, string> = {},
): Promise<Downloaded> {
  const body = new URLSearchParams({ ...credentials, fileid });
  const response = await fetch(`${address}/webapi/x1/file/download`, { method: 'POST', body, headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, code: response.headers.get('x-error-code') };
}

/** Paths of the files in the folder of a file store, those that are arriving too. */
function pathsIn(filesDir: string): string[] {
  const found = readdirSync(filesDir, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Names of all that lies in the folder of a file store: digests, thumbnails, and what is arriving or was left. */
export function namesIn(filesDir: string): string[] {
  return pathsIn(filesDir)
    .map((path) => basename(path))
    .sort();
}

/** What is arriving, or was left by an interrupted request. */
export function arriving(filesDir: string): string[] {
  return pathsIn(join(filesDir, 'receiving'));
}

/** The contents that are kept, by their digest; thumbnails are left out. */
export function contentsIn(filesDir: string): ReadonlyMap<string, Buffer> {
  const kept = pathsIn(filesDir).filter((path) => /^[0-9a-f]{64}$/.test(basename(path)));
  return new Map(kept.map((path) => [basename(path), readFileSync(path)]));
}

/** Makes everything in the folder of a file store as old as so many minutes. */
export function age(filesDir: string, minutes: number): void {
  const then = new Date(Date.now() - minutes * 60_000);
  for (const path of pathsIn(filesDir)) utimesSync(path, then, then);
}
