// Where the contents of files are kept, known by the SHA-256 of their bytes: on disk or in an S3-compatible store.
import type { Readable } from 'node:stream';

/** A content that has arrived whole. It is in a local file of its own, and in no store before it is kept. */
export interface Received {
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  /** The first bytes, by which images are known; at most HEAD of them. */
  readonly head: Uint8Array;
  /** The local file. */
  readonly path: string;
}

/** Bytes of a content that are looked at to see what it is. */
export const HEAD = 4_096;

/** Takes a content in as it arrives; memory stays flat whatever its size. */
export interface Receiver {
  /** Takes bytes; a promise where the next ones must wait for it. The bytes are the receiver's from then on. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** All bytes have come: resolves when they are in the local file, and past all caches where that file is what is kept. */
  end(): Promise<Received>;
  /** Forgets what has come. Does nothing after `end`. */
  abort(): Promise<void>;
}

/** A content, or a thumbnail, in a store. */
export interface KeptContent {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since it was kept last, by the clock of the store. */
  readonly age: number;
}

/** First and last byte, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

export interface FileStore {
  /** Where it is, for people: without what is secret. */
  readonly place: string;
  receive(): Promise<Receiver>;
  /**
   * Puts a content under its digest; it is durable when this resolves. One that is there is put there again, its age begins anew.
   * It can be kept again until it is dropped.
   */
  keep(received: Received): Promise<void>;
  /** Removes the local file of what was received, kept or not. */
  drop(received: Received): Promise<void>;
  /** Puts a thumbnail beside the content it was made of. */
  keepSmall(digest: string, bytes: Uint8Array): Promise<void>;
  /** A content or, with SMALL behind its digest, its thumbnail; null where there is none. */
  find(name: string): Promise<KeptContent | null>;
  /** Opens it for reading, null where there is none. `range` lies within its size. */
  read(name: string, range?: ByteRange): Promise<Readable | null>;
  /** All that is kept, in pages, in no order. */
  list(): AsyncIterable<readonly KeptContent[]>;
  /** Removes what is kept under the names; one that is not there is no error. */
  remove(names: readonly string[]): Promise<void>;
  /** Removes local files that nothing was written to for so many milliseconds: what interrupted requests left. Gives how many. */
  removeReceived(olderThan: number): Promise<number>;
  close(): Promise<void>;
}

/** What is put behind a digest for the name of its thumbnail. */
export const SMALL = '.small';

export interface FileSettings {
  /** Folder of the store on disk; with S3, of what is arriving. */
  readonly filesDir: string;
  /** Bucket of an S3-compatible store; '' for the store on disk. */
  readonly s3Bucket: string;
  /** Put before every name in the bucket, such as `daicho/`. */
  readonly s3Prefix: string;
  /** Address of the store; '' for Amazon's. */
  readonly s3Endpoint: string;
  readonly s3Region: string;
  /** '' with the secret: as the environment and the machine say, in the way of Amazon's own tools. */
  readonly s3AccessKeyId: string;
  readonly s3SecretAccessKey: string;
}
