// From a content that has arrived to a file of the register: what it is, an ID of its own, its place in the file store (D28).
import { randomBytes } from 'node:crypto';
import type { FileStore, Received } from '../files/file-store.ts';
import type { Image } from '../files/image.ts';
import { mediaTypeOf } from '../files/media-type.ts';
import type { NewFile } from '../update/change.ts';

export interface Arrived {
  readonly received: Received;
  /** As sent; '' for none. */
  readonly name: string;
  /** As sent; '' for none. */
  readonly contentType: string;
  /** What it is in an image field; null in a file field. */
  readonly image: Image | null;
}

/** Puts a content into the file store; what it gives is adopted with a record, or swept. */
export async function newFile(store: FileStore, { received, name, contentType, image }: Arrived): Promise<NewFile> {
  await store.keep(received);
  return {
    id: randomBytes(16).toString('hex'),
    ...{ name, size: received.size, digest: received.digest },
    type: image?.type ?? mediaTypeOf(received.head, contentType),
    width: image?.width ?? null,
    height: image?.height ?? null,
    keptAt: Date.now(),
  };
}

/** The formats that image fields take, for messages. */
export function imageFormats(svg: boolean): string {
  return `PNG, JPEG, GIF, WebP, AVIF${svg ? ', SVG' : ''}`;
}
