// The process that opens images, started by image-process.ts: what others made never gets to a decoder inside the server.
import { access, readFile } from 'node:fs/promises';
import type { SharpOptions } from 'sharp';
import { HEAD } from './file-store.ts';
import { type ImageType, imageType } from './image-type.ts';

/** Measures a local file; or gets a content, part by part, then makes its thumbnail. One answer to each but `bytes`. */
export type ToDecoder =
  | { readonly kind: 'measure'; readonly path: string; readonly type: ImageType }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'shrink'; readonly svg: boolean };

export type FromDecoder =
  /** Pixels, as shown. */
  | { readonly kind: 'measured'; readonly width: number; readonly height: number }
  /** WebP. */
  | { readonly kind: 'shrunk'; readonly bytes: Uint8Array }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'fault'; readonly reason: string };

/** Pixels on each side that a thumbnail has at most. */
const SIDE = 256;
/** Seconds; what does not look at the clock meanwhile is ended by image-process.ts. */
const TIME_LIMIT = 15;

interface Format {
  /** What sharp calls it. */
  readonly name: string;
  /** Most pixels. Decoding so many takes about 600 MB at worst; AVIF takes 18 bytes for each. */
  readonly pixels: number;
}

const FORMATS: Readonly<Record<ImageType, Format>> = {
  'image/png': { name: 'png', pixels: 100_000_000 },
  'image/jpeg': { name: 'jpeg', pixels: 100_000_000 },
  'image/gif': { name: 'gif', pixels: 100_000_000 },
  'image/webp': { name: 'webp', pixels: 100_000_000 },
  'image/avif': { name: 'heif', pixels: 35_000_000 },
  'image/svg+xml': { name: 'svg', pixels: 100_000_000 },
};

/** All other loaders are shut, whatever a content looks like to sharp. */
const LOADERS = ['Png', 'Jpeg', 'Nsgif', 'Webp', 'Heif', 'Svg'].map((loader) => `VipsForeignLoad${loader}`);

const loading = load();
// Its failure is told to whoever asks first.
loading.catch(() => {});
let parts: Uint8Array[] = [];

process.on('message', (message: ToDecoder) => {
  if (message.kind === 'bytes') parts.push(message.bytes);
  else void answer(message).then((answered) => process.send?.(answered));
});
// It ends with the server, which is told the same and may answer for a while yet.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
// Not process.exit: it would wait for what is being decoded.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function load() {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  return sharp;
}

async function answer(message: Exclude<ToDecoder, { kind: 'bytes' }>): Promise<FromDecoder> {
  try {
    return message.kind === 'measure' ? await measure(message.path, message.type) : await shrink(message.svg);
  } catch (error) {
    return { kind: 'fault', reason: (error as Error).message };
  }
}

async function measure(path: string, type: ImageType): Promise<FromDecoder> {
  const sharp = await loading;
  // A file that is not there is no image that cannot be read.
  await access(path);
  // Opened by its path an SVG could show the files beside it.
  const input = type === 'image/svg+xml' ? await readFile(path) : path;
  return (await sizeOf(sharp, input, type)) ?? { kind: 'unreadable' };
}

/** Makes a thumbnail of the bytes that have come. */
async function shrink(svg: boolean): Promise<FromDecoder> {
  const bytes = Buffer.concat(parts);
  parts = [];
  const sharp = await loading;
  const type = imageType(bytes.subarray(0, HEAD));
  if (type === null || (type === 'image/svg+xml' && !svg)) return { kind: 'unreadable' };
  if ((await sizeOf(sharp, bytes, type)) === null) return { kind: 'unreadable' };
  const image = sharp(bytes, { ...optionsOf(type), autoOrient: true })
    .timeout({ seconds: TIME_LIMIT })
    .resize({ width: SIDE, height: SIDE, fit: 'inside', withoutEnlargement: true })
    .webp();
  const small = await orNull(image.toBuffer());
  return small === null ? { kind: 'unreadable' } : { kind: 'shrunk', bytes: small };
}

async function sizeOf(
  sharp: Awaited<typeof loading>,
  input: string | Buffer,
  type: ImageType,
): Promise<(FromDecoder & { kind: 'measured' }) | null> {
  const found = await orNull(sharp(input, optionsOf(type)).metadata());
  if (found === null || found.format !== FORMATS[type].name) return null;
  // HEIC is of the same family.
  if (type === 'image/avif' && found.compression !== 'av1') return null;
  return { kind: 'measured', width: found.autoOrient.width, height: found.autoOrient.height };
}

function optionsOf(type: ImageType): SharpOptions {
  // Flaws that every browser overlooks are warnings.
  return { limitInputPixels: FORMATS[type].pixels, failOn: 'error' };
}

/** What sharp gives; null where it cannot: its errors have no kinds, and all that it is given are bytes. */
function orNull<T>(given: Promise<T>): Promise<T | null> {
  return given.catch(() => null);
}
