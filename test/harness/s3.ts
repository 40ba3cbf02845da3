// An S3-compatible service of a test's own, on a free port, with one bucket in a temporary folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSettings } from '../../src/files/file-store.ts';

export interface S3Service {
  /** What a store needs to use the bucket. */
  readonly settings: Omit<FileSettings, 'filesDir' | 's3Prefix'>;
  /** The file behind an object of the bucket, to make it older than it is. */
  fileOf(key: string): string;
  /** Ends it and deletes what it held. */
  stop(): Promise<void>;
}

const PROCESS = join(import.meta.dirname, 's3-process.ts');
const BUCKET = 'contents';
/** The one key that the service knows; it compares no signatures. */
const KEY = 'S3RVER';

/** Starts it; `stop` in `after`. */
export async function startS3(): Promise<S3Service> {
  const directory = mkdtempSync(join(tmpdir(), 'daicho-s3-'));
  // It makes the tokens of its lists with DES.
  const service = spawn(process.execPath, ['--openssl-legacy-provider', PROCESS, directory, BUCKET], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(service, 'close');
  const [said] = await Promise.race([once(service.stdout, 'data'), ended]);
  const port = Number(said);
  if (!(port > 0)) throw new Error('the S3 service did not start');
  return {
    settings: {
      ...{ s3Bucket: BUCKET, s3Endpoint: `http://127.0.0.1:${port}`, s3Region: '' },
      ...{ s3AccessKeyId: KEY, s3SecretAccessKey: KEY },
    },
    fileOf: (key) => join(directory, BUCKET, `${key}._S3rver_object`),
    async stop() {
      service.stdin.end();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
