// Thumbnails: WebP, at most 256 pixels on each side, made once and kept beside the content.
import { type FileStore, SMALL } from './file-store.ts';
import { MOST_BYTES } from './image.ts';
import type { ToDecoder } from './image-decoder.ts';
import { ImageProcess } from './image-process.ts';
import type { ImageType } from './image-type.ts';

/** What is to be known of a file for its thumbnail: of the register's StoredFile. */
export interface ImageFile {
  readonly id: string;
  readonly size: number;
  readonly type: string;
  readonly digest: string;
  readonly width: number | null;
}

/** Its media type. */
export const THUMBNAIL_TYPE = 'image/webp';

const RASTER: ReadonlySet<string> = new Set<ImageType>([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);
const SVG: ImageType = 'image/svg+xml';

/** Milliseconds. */
const TIME_LIMIT = 20_000;
// Not the process that readImage asks: no upload waits for a thumbnail.
const shrinking = new ImageProcess(TIME_LIMIT);

/** What is being made, so that it is made once: by the name it gets. */
const making = new WeakMap<FileStore, Map<string, Promise<number | null>>>();

/** Sees to it that the thumbnail of a file is kept under its digest and SMALL; its bytes, null where the file is no image. */
export function thumbnail(files: FileStore, file: ImageFile): Promise<number | null> {
  // An SVG is one where an image field took it, and so measured it.
  const { type, width } = file;
  if (!(RASTER.has(type) || (type === SVG && width !== null)) || file.size > MOST_BYTES) return Promise.resolve(null);
  const made = making.get(files) ?? new Map<string, Promise<number | null>>();
  making.set(files, made);
  const name = file.digest + SMALL;
  const under = made.get(name) ?? make(files, file).finally(() => made.delete(name));
  made.set(name, under);
  return under;
}

async function make(files: FileStore, file: ImageFile): Promise<number | null> {
  const kept = await files.find(file.digest + SMALL);
  if (kept !== null) return kept.size;
  const shrunk = await shrinking.ask(contentOf(files, file));
  if (shrunk.kind !== 'shrunk') return null;
  await files.keepSmall(file.digest, shrunk.bytes);
  return shrunk.bytes.length;
}

async function* contentOf(files: FileStore, file: ImageFile): AsyncGenerator<ToDecoder> {
  const { type } = file;
  const content = await files.read(file.digest);
  if (content === null) throw new Error(`the content ${file.digest} of the file ${file.id} is missing`);
  for await (const bytes of content) yield { kind: 'bytes', bytes };
  yield { kind: 'shrink', svg: type === SVG };
}
