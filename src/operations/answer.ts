// What an operation answers: the bytes of an envelope, at once or page by page, or a file.
import type { Readable } from 'node:stream';
import type { ByteRange } from '../files/file-store.ts';

export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  /** Text, records in UTF-8, text. */
  | { readonly kind: 'records'; readonly open: string; readonly records: Uint8Array; readonly close: string }
  /** The same with the records in pages; `close` is known after the last. */
  | { readonly kind: 'pages'; readonly open: string; readonly pages: AsyncIterable<Uint8Array>; close(): string }
  /** An envelope on each line. */
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<string | Uint8Array> }
  | Content;

/** A file's content, or its thumbnail. */
export interface Content {
  readonly kind: 'content';
  /** File name for the client; as it was sent. */
  readonly name: string;
  /** What its `Content-Type` says. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** The same for the same bytes only. */
  readonly etag: string;
  /** Opens it, or a range that lies within its size. */
  read(range?: ByteRange): Promise<Readable>;
}
