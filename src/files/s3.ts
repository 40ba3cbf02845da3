// The store in a bucket of an S3-compatible service.
import { createReadStream } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { contentPath, isContentName } from './content-path.ts';
import { type FileSettings, type FileStore, type KeptContent, type Received, SMALL } from './file-store.ts';
import { receivingIn } from './receiving.ts';
import { faultOf, isMissing, isPassing } from './s3-errors.ts';
import { watchProgress } from './stall.ts';

/** Milliseconds until a connection has to be there. */
const CONNECT = 5_000;
/** Milliseconds without a byte, either way, after which a request is given up. */
const SILENCE = 60_000;
/** Bytes of a local file read at a time. */
const READ = 256 * 1024;
/** Milliseconds until a content is sent again, where sending it failed for a passing reason. */
const PAUSES = [200, 1_000];
/** Contents removed at a time. */
const REMOVALS = 8;

/** The store in the settings' bucket, which is there. */
export function openS3Store(settings: FileSettings, silence: number = SILENCE): FileStore {
  const { s3Bucket: Bucket, s3Prefix: prefix } = settings;
  const place = placeOf(settings);
  const client = clientOf(settings);
  // What is received is on its way to the bucket: it need not outlive a power failure here.
  const receiving = receivingIn(settings.filesDir, false);
  const at = (name: string) => ({ Bucket, Key: prefix + contentPath(name) });
  /** Milliseconds that the clock of the service is ahead of this one: it says the time with every answer. */
  let ahead = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { readonly headers: Readonly<Record<string, string>> };
      const time = Date.parse(headers.date ?? '');
      if (!Number.isNaN(time)) ahead = time - Date.now();
      return result;
    },
    { step: 'deserialize', name: 'clockOfService' },
  );
  const ageOf = (modified: Date | undefined) => Math.max(0, Date.now() + ahead - (modified?.getTime() ?? 0));

  /** Sends a request whose answer is small. */
  const ask = async <Answer>(send: (options: { abortSignal: AbortSignal }) => Promise<Answer>): Promise<Answer> => {
    const abortSignal = AbortSignal.timeout(silence);
    try {
      return await send({ abortSignal });
    } catch (error) {
      throw abortSignal.aborted ? new Error(`no answer for ${silence / 1_000} s`) : error;
    }
  };

  /** Sends a local file once; an Amazon client cannot begin a stream again. */
  const sendFile = async ({ path, size, digest }: Received) => {
    const body = createReadStream(path, { highWaterMark: READ });
    const watch = watchProgress(silence, () => body.bytesRead);
    body.once('error', watch.stop);
    const command = new PutObjectCommand({ ...at(digest), Body: body, ContentLength: size });
    // The service compares what it got with the digest, as part of the signature.
    command.middlewareStack.add(
      (next) => (args) => {
        Object.assign((args.request as { headers: object }).headers, { 'x-amz-content-sha256': digest });
        return next(args);
      },
      { step: 'build', name: 'contentDigest' },
    );
    try {
      await client.send(command, { abortSignal: watch.signal });
    } catch (error) {
      throw watch.signal.aborted ? watch.signal.reason : error;
    } finally {
      watch.end();
      body.destroy();
    }
  };

  return {
    ...receiving,
    place,

    async keep(received) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await sendFile(received);
        } catch (error) {
          const pause = PAUSES[attempt];
          if (pause === undefined || !isPassing(error)) throw faultOf(place, error);
          await sleep(pause);
        }
      }
    },

    async keepSmall(digest, bytes) {
      try {
        const command = new PutObjectCommand({ ...at(digest + SMALL), Body: bytes });
        await ask((options) => client.send(command, options));
      } catch (error) {
        throw faultOf(place, error);
      }
    },

    async find(name) {
      const command = new HeadObjectCommand(at(name));
      try {
        const { ContentLength = 0, LastModified } = await ask((options) => client.send(command, options));
        return { name, size: ContentLength, age: ageOf(LastModified) };
      } catch (error) {
        if (isMissing(error)) return null;
        throw faultOf(place, error);
      }
    },

    async read(name, range) {
      const command = new GetObjectCommand({
        ...at(name),
        ...(range && { Range: `bytes=${range.first}-${range.last}` }),
      });
      let body: IncomingMessage | null = null;
      // Who reads may take all the time in the world, and what has come waits meanwhile; the service may not.
      const watch = watchProgress(silence, () => {
        if (body === null) return 0;
        return body.readableLength > 0 || body.complete ? null : body.socket.bytesRead;
      });
      watch.signal.addEventListener('abort', () => body?.destroy(faultOf(place, watch.signal.reason)));
      try {
        const { Body, ContentLength } = await client.send(command, { abortSignal: watch.signal });
        if (!(Body instanceof IncomingMessage)) throw new Error('the answer has no body');
        if (range !== undefined && ContentLength !== range.last - range.first + 1) {
          Body.destroy();
          throw new Error('the answer is not of the range that was asked for');
        }
        body = Body;
        return Body.once('close', watch.end);
      } catch (error) {
        watch.end();
        if (isMissing(error)) return null;
        throw faultOf(place, watch.signal.aborted ? watch.signal.reason : error);
      }
    },

    async *list() {
      for (let next: string | undefined, isLast = false; !isLast; ) {
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, ...(next && { ContinuationToken: next }) });
        const page = await ask((options) => client.send(command, options)).catch((error) => {
          throw faultOf(place, error);
        });
        const contents = (page.Contents ?? []).map(({ Key = '', Size = 0, LastModified }): KeptContent | null => {
          const name = Key.slice(Key.lastIndexOf('/') + 1);
          if (!isContentName(name) || Key !== prefix + contentPath(name)) return null;
          return { name, size: Size, age: ageOf(LastModified) };
        });
        yield contents.filter((content) => content !== null);
        next = page.NextContinuationToken;
        isLast = next === undefined;
      }
    },

    async remove(names) {
      // One by one: services differ in what they ask of a request that removes several.
      const left = names.map(at);
      const removing = Array.from({ length: REMOVALS }, async () => {
        for (let target = left.pop(); target !== undefined; target = left.pop()) {
          try {
            const command = new DeleteObjectCommand(target);
            await ask((options) => client.send(command, options));
          } catch (error) {
            if (isMissing(error)) continue;
            left.length = 0;
            throw faultOf(place, error);
          }
        }
      });
      const failed = (await Promise.allSettled(removing)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },

    async close() {
      client.destroy();
    },
  };
}

function placeOf({ s3Bucket, s3Prefix, s3Endpoint }: FileSettings): string {
  const bucket = `s3://${s3Bucket}/${s3Prefix}`.replace(/\/$/, '');
  return s3Endpoint === '' ? bucket : `${bucket} at ${new URL(s3Endpoint).origin}`;
}

function clientOf({ s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey }: FileSettings): S3Client {
  return new S3Client({
    region: s3Region === '' ? 'us-east-1' : s3Region,
    ...(s3Endpoint !== '' && { endpoint: s3Endpoint, forcePathStyle: true }),
    ...(s3AccessKeyId !== '' && {
      credentials: { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey },
    }),
    // Not every service knows the newer checksums; the digest is compared without them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Every read that somebody takes slowly holds a connection; none of them may keep others waiting.
    requestHandler: {
      connectionTimeout: CONNECT,
      socketTimeout: 0,
      httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { maxSockets: Number.POSITIVE_INFINITY },
    },
    // What goes wrong is thrown, and told by whoever catches it.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
}
