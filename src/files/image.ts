// Whether what was received is an image that an image field accepts, and its size.
import type { Received } from './file-store.ts';
import { ImageProcess } from './image-process.ts';
import { type ImageType, imageType } from './image-type.ts';

/** An image; pixels as it is shown, turned as its EXIF says. */
export interface Image {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
}

/** Bytes that an image has at most: so many are held in memory to make its thumbnail. */
export const MOST_BYTES = 200 * 1024 * 1024;

/** Milliseconds, for a header. */
const TIME_LIMIT = 10_000;
const opening = new ImageProcess(TIME_LIMIT);

/** What image it is; null where it is none that is accepted: SVG only if `svg`. Its header is read, not its pixels. */
export async function readImage(received: Received, { svg }: { readonly svg: boolean }): Promise<Image | null> {
  const type = imageType(received.head);
  if (type === null || (type === 'image/svg+xml' && !svg) || received.size > MOST_BYTES) return null;
  const found = await opening.ask([{ kind: 'measure', path: received.path, type }]);
  return found.kind === 'measured' ? { type, width: found.width, height: found.height } : null;
}
