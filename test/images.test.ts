// Images: what a content is by its first bytes, what an image field accepts, and thumbnails; also of what was made to do harm.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { openDiskStore } from '../src/files/disk.ts';
import { type FileStore, SMALL } from '../src/files/file-store.ts';
import { readImage } from '../src/files/image.ts';
import { ImageProcess } from '../src/files/image-process.ts';
import { imageType } from '../src/files/image-type.ts';
import { type ImageFile, thumbnail } from '../src/files/thumbnail.ts';

const folder = mkdtempSync(join(tmpdir(), 'daicho-images-'));
let files: FileStore;
before(() => {
  files = openDiskStore(join(folder, 'files'));
});
after(async () => {
  await files.close();
  rmSync(folder, { recursive: true });
});

/** Left half red, right half blue. */
async function redAndBlue(width: number, height: number): Promise<Sharp> {
  const half = { width: width / 2, height, channels: 3 as const };
  const blue = await sharp({ create: { ...half, background: 'blue' } })
    .png()
    .toBuffer();
  const canvas = sharp({ create: { ...half, width, background: 'red' } });
  return sharp(
    await canvas
      .composite([{ input: blue, left: width / 2, top: 0 }])
      .png()
      .toBuffer(),
  );
}

/** A red frame, then a blue one. */
async function animated(format: 'webp' | 'gif'): Promise<Buffer> {
  const frames = ['red', 'blue'].map((background) =>
    sharp({ create: { width: 30, height: 20, channels: 3, background } })
      .png()
      .toBuffer(),
  );
  return sharp(await Promise.all(frames), { join: { animated: true } })
    .toFormat(format)
    .toBuffer();
}

async function keep(bytes: Uint8Array) {
  const receiver = await files.receive();
  await receiver.write(Buffer.from(bytes));
  const received = await receiver.end();
  await files.keep(received);
  return received;
}

async function read(bytes: Uint8Array, svg = false) {
  const receiver = await files.receive();
  await receiver.write(Buffer.from(bytes));
  const received = await receiver.end();
  try {
    return await readImage(received, { svg });
  } finally {
    await files.drop(received);
  }
}

/** The file of a content as the register would know it. */
async function stored(bytes: Uint8Array, type: string, width: number | null = null): Promise<ImageFile> {
  const { digest, size } = await keep(bytes);
  return { id: digest.slice(0, 32), digest, size, type, width };
}

async function small(file: ImageFile): Promise<Buffer | null> {
  const size = await thumbnail(files, file);
  if (size === null) return null;
  const content = await files.read(file.digest + SMALL);
  assert.ok(content !== null);
  const bytes = await buffer(content);
  assert.equal(bytes.length, size);
  return bytes;
}

async function pixel(image: Buffer, left: number, top: number): Promise<string> {
  const [red = 0, green = 0, blue = 0] = await sharp(image)
    .removeAlpha()
    .extract({ left, top, width: 1, height: 1 })
    .raw()
    .toBuffer();
  return red > 200 && blue < 60 ? 'red' : blue > 200 && red < 60 ? 'blue' : `${red} ${green} ${blue}`;
}

/** A PNG in black and white; `data`: its rows, a bit for each pixel, compressed. */
function pngOf(width: number, height: number, data: Buffer): Buffer {
  const chunk = (name: string, bytes: Buffer) => {
    const named = Buffer.concat([Buffer.from(name), bytes]);
    const around = Buffer.alloc(8);
    around.writeUInt32BE(bytes.length);
    around.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

const svgOf = (inside: string, attributes = 'width="40" height="20"') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xi="http://www.w3.org/2001/XInclude" ${attributes}>${inside}</svg>`,
  );

const ftyp = (major: string, ...others: string[]) => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(16 + others.length * 4);
  return Buffer.concat([size, Buffer.from(`ftyp${major}\0\0\0\0${others.join('')}`), Buffer.from('\0\0\0\x08free')]);
};

describe('what a content is by its first bytes', () => {
  const cases: readonly (readonly [string, Buffer, string | null])[] = [
    ['nothing', Buffer.alloc(0), null],
    ['text', Buffer.from('hello'), null],
    ['a signature cut short', Buffer.from('89504e470d0a1a', 'hex'), null],
    ['GIF87a', Buffer.from('GIF87a....'), 'image/gif'],
    ['another GIF', Buffer.from('GIF90a....'), null],
    ['sound in RIFF', Buffer.from('RIFF\0\0\0\0WAVEfmt '), null],
    ['AVIF by its major brand', ftyp('avif', 'mif1', 'miaf'), 'image/avif'],
    ['AVIF by another brand', ftyp('mif1', 'miaf', 'avif'), 'image/avif'],
    ['a sequence of AVIF', ftyp('avis', 'msf1'), 'image/avif'],
    ['HEIC', ftyp('heic', 'mif1', 'heic'), null],
    ['a film', ftyp('isom', 'iso2', 'mp41'), null],
    ['a brand behind the box', Buffer.concat([ftyp('mif1'), Buffer.from('avif')]), null],
    ['a version that looks like a brand', Buffer.from('\0\0\0\x10ftypmif1avif', 'latin1'), null],
    ['SVG', svgOf(''), 'image/svg+xml'],
    ['SVG with nothing in it', Buffer.from('<svg/>'), 'image/svg+xml'],
    [
      'SVG behind all that may stand before',
      Buffer.from(
        '\ufeff <?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "a" [<!ENTITY a "b">\n]>\r\n<svg\nid="a">',
      ),
      'image/svg+xml',
    ],
    ['HTML with SVG in it', Buffer.from('<!DOCTYPE html><html><svg></svg>'), null],
    ['SVG in a comment', Buffer.from('<!-- <svg> -->'), null],
    ['another element', Buffer.from('<svgfont>'), null],
    ['SVG in UTF-16', Buffer.from('\ufeff<svg/>', 'utf16le'), null],
    ['many ends of a document type', Buffer.from(`<!DOCTYPE [${']  '.repeat(1360)}`), null],
  ];
  for (const [name, bytes, type] of cases) {
    test(`${name}: ${type ?? 'no image'}`, () => assert.equal(imageType(bytes), type));
  }
});

describe('what an image field accepts', () => {
  test('PNG, JPEG, GIF, WebP and AVIF, with their size', async () => {
    const image = await redAndBlue(60, 40);
    for (const format of ['png', 'jpeg', 'gif', 'webp', 'avif'] as const) {
      const bytes = await image.clone().toFormat(format).toBuffer();
      assert.deepEqual(await read(bytes), { type: `image/${format}`, width: 60, height: 40 });
    }
  });

  test('the size is the one shown: turned as EXIF says', async () => {
    const bytes = await (await redAndBlue(60, 40)).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    assert.deepEqual(await read(bytes), { type: 'image/jpeg', width: 40, height: 60 });
  });

  test('the size of an animation is that of one frame', async () => {
    assert.deepEqual(await read(await animated('webp')), { type: 'image/webp', width: 30, height: 20 });
    assert.deepEqual(await read(await animated('gif')), { type: 'image/gif', width: 30, height: 20 });
  });

  test('SVG only where it is allowed', async () => {
    assert.equal(await read(svgOf('')), null);
    assert.deepEqual(await read(svgOf(''), true), { type: 'image/svg+xml', width: 40, height: 20 });
  });

  test('nothing that only begins like an image, and no other format', async () => {
    const image = await redAndBlue(60, 40);
    for (const format of ['png', 'jpeg', 'gif', 'webp', 'avif'] as const) {
      const bytes = await image.clone().toFormat(format).toBuffer();
      assert.equal(await read(Buffer.concat([bytes.subarray(0, 16), Buffer.alloc(2_000, 'x')])), null, format);
      assert.equal(await read(bytes.subarray(0, 20)), null, format);
    }
    assert.equal(await read(await image.clone().tiff().toBuffer()), null);
    assert.equal(await read(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><g>')), null);
    assert.equal(await read(svgOf('<g>'), true), null);
    // Begins like a GIF, and a lax reader finds an SVG in it.
    assert.equal(await read(Buffer.concat([Buffer.from('GIF89a '), svgOf('')]), true), null);
  });

  test('a file that is not there is a fault, not a bad image', async () => {
    const head = (await (await redAndBlue(2, 2)).png().toBuffer()).subarray(0, 100);
    const received = { digest: '0'.repeat(64), size: 100, head, path: join(folder, 'none') };
    await assert.rejects(readImage(received, { svg: false }), /ENOENT/);
    assert.notEqual(await read(await (await redAndBlue(2, 2)).png().toBuffer()), null);
  });
});

describe('thumbnails', () => {
  test('WebP that fits into 256 by 256 pixels, for every format', async () => {
    const image = await redAndBlue(600, 300);
    for (const format of ['png', 'jpeg', 'gif', 'webp', 'avif'] as const) {
      const made = await small(await stored(await image.clone().toFormat(format).toBuffer(), `image/${format}`));
      assert.ok(made !== null, format);
      const { format: found, width, height } = await sharp(made).metadata();
      assert.deepEqual([found, width, height], ['webp', 256, 128], format);
      assert.deepEqual([await pixel(made, 20, 64), await pixel(made, 236, 64)], ['red', 'blue'], format);
    }
  });

  test('never enlarged', async () => {
    const made = await small(await stored(await (await redAndBlue(16, 10)).png().toBuffer(), 'image/png'));
    const { width, height } = await sharp(made ?? '').metadata();
    assert.deepEqual([width, height], [16, 10]);
  });

  test('turned as EXIF says, without its metadata', async () => {
    const image = (await redAndBlue(600, 300)).withExif({ IFD0: { Copyright: 'where it was taken' } });
    const bytes = await image.jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const made = await small(await stored(bytes, 'image/jpeg'));
    assert.ok(made !== null);
    const { width, height, orientation, exif } = await sharp(made).metadata();
    assert.deepEqual([width, height, orientation, exif], [128, 256, undefined, undefined]);
    assert.deepEqual([await pixel(made, 64, 20), await pixel(made, 64, 236)], ['red', 'blue']);
  });

  test('the first frame of an animation', async () => {
    for (const format of ['webp', 'gif'] as const) {
      const made = await small(await stored(await animated(format), `image/${format}`));
      assert.ok(made !== null);
      const { pages, width, height } = await sharp(made).metadata();
      assert.deepEqual([pages ?? 1, width, height, await pixel(made, 10, 10)], [1, 30, 20, 'red'], format);
    }
  });

  test('SVG where an image field took it, and nowhere else', async () => {
    const bytes = svgOf('<rect width="1000" height="500" fill="red"/>', 'width="1000" height="500"');
    assert.equal(await small(await stored(bytes, 'image/svg+xml')), null);
    // Sent as another type to a file field.
    assert.equal(await small(await stored(bytes, 'image/png')), null);
    const made = await small(await stored(bytes, 'image/svg+xml', 1000));
    assert.ok(made !== null);
    const { width, height } = await sharp(made).metadata();
    assert.deepEqual([width, height, await pixel(made, 100, 60)], [256, 128, 'red']);
  });

  test('made once: kept beside the content, and for all who ask meanwhile', async () => {
    const file = await stored(await (await redAndBlue(700, 300)).png().toBuffer(), 'image/png');
    const kept: string[] = [];
    const counted: FileStore = {
      ...files,
      keepSmall: (digest, bytes) => {
        kept.push(digest);
        return files.keepSmall(digest, bytes);
      },
    };
    const sizes = await Promise.all(Array.from({ length: 8 }, () => thumbnail(counted, file)));
    assert.equal(new Set([...sizes, await thumbnail(counted, file)]).size, 1);
    assert.deepEqual(kept, [file.digest]);
    // Without the content it is there still.
    await files.remove([file.digest]);
    assert.equal(await thumbnail(files, file), sizes[0]);
  });

  test('none of what is no image, whatever its type says, nor of one cut short', async () => {
    const whole = await (await redAndBlue(600, 300)).png({ compressionLevel: 0 }).toBuffer();
    assert.equal(await thumbnail(files, await stored(whole, 'application/pdf')), null);
    assert.equal(await thumbnail(files, await stored(Buffer.from('%PDF-1.7'), 'image/png')), null);
    assert.equal(await thumbnail(files, await stored(whole.subarray(0, 2_000), 'image/png')), null);
    // By its own bytes, not by the type that was sent.
    assert.notEqual(await thumbnail(files, await stored(whole, 'image/jpeg')), null);
  });

  test('a content that is missing is a fault, and does no harm to the next', async () => {
    const file = await stored(await (await redAndBlue(20, 10)).png().toBuffer(), 'image/png');
    await files.remove([file.digest]);
    await assert.rejects(thumbnail(files, file), new RegExp(`${file.digest} of the file ${file.id} is missing`));
    assert.notEqual(await small(await stored(await (await redAndBlue(22, 10)).png().toBuffer(), 'image/png')), null);
  });

  test('a content that breaks off midway is a fault, and nothing of it gets into the next', async () => {
    const bytes = await (await redAndBlue(900, 600)).png({ compressionLevel: 0 }).toBuffer();
    const file = await stored(bytes, 'image/png');
    const broken: FileStore = {
      ...files,
      read: async (name) => {
        const content = await files.read(name);
        let parts = 0;
        content?.on('data', () => {
          parts += 1;
          if (parts === 2) content.destroy(new Error('the store is gone'));
        });
        return content;
      },
    };
    await assert.rejects(thumbnail(broken, file), /the store is gone/);
    assert.notEqual(await small(file), null);
  });
});

describe('images made to do harm', () => {
  test('a small PNG of more than 100 million pixels is no image, and none of them is decoded', async () => {
    const square = (side: number) => pngOf(side, side, deflateSync(Buffer.alloc((side / 8 + 1) * side)));
    const bomb = square(12_000);
    assert.ok(bomb.length < 30_000);
    assert.deepEqual(await read(square(9_600)), { type: 'image/png', width: 9_600, height: 9_600 });
    const file = await stored(bomb, 'image/png');
    const started = performance.now();
    assert.equal(await read(bomb), null);
    assert.equal(await thumbnail(files, file), null);
    assert.ok(performance.now() - started < 100);
  });

  test('an SVG gets nothing of another file, nor anything from the network, and runs nothing', async () => {
    const red = await sharp({ create: { width: 40, height: 20, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const beside = join(folder, 'red.png');
    writeFileSync(beside, red);
    writeFileSync(join(folder, 'red.svg'), svgOf('<rect id="r" width="40" height="20" fill="red"/>'));
    const harms = [
      `<image href="${beside}" width="40" height="20"/>`,
      `<image href="file://${beside}" width="40" height="20"/>`,
      '<image href="red.png" width="40" height="20"/>',
      '<image href="http://127.0.0.1:9/red.png" width="40" height="20"/>',
      `<use href="file://${folder}/red.svg#r"/>`,
      `<xi:include href="${folder}/red.svg"/>`,
      `<style>@import url("file://${folder}/red.css");</style>`,
      '<script>document.documentElement.style.background = "red"</script>',
    ];
    for (const harm of harms) {
      const made = await small(
        await stored(svgOf(`<rect width="40" height="20" fill="blue"/>${harm}`), 'image/svg+xml', 40),
      );
      assert.ok(made !== null, harm);
      assert.equal(await pixel(made, 20, 10), 'blue', harm);
    }
    // The same image is seen where it is inside: so these tests would see it.
    const inside = svgOf(`<image href="data:image/png;base64,${red.toString('base64')}" width="40" height="20"/>`);
    assert.equal(await pixel((await small(await stored(inside, 'image/svg+xml', 40))) ?? red, 20, 10), 'red');
  });

  test('entities are not read from files, and not multiplied without end', async () => {
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'secret');
    const entity = (declared: string, used: string) =>
      Buffer.concat([Buffer.from(`<!DOCTYPE svg [${declared}]>`), svgOf(`<text y="20">${used}</text>`)]);
    assert.equal(await read(entity(`<!ENTITY x SYSTEM "file://${secret}">`, '&x;'), true), null);
    const levels = Array.from({ length: 11 }, (_, n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`);
    assert.equal(await read(entity(`<!ENTITY a0 "lol">${levels.join('')}`, '&a11;'), true), null);
  });

  test('an image that takes too long is unreadable: what opens it is ended, and the next one is opened', async () => {
    const filter = '<filter id="f"><feTurbulence numOctaves="50" baseFrequency="0.05"/></filter>';
    const levels = Array.from({ length: 5 }, (_, n) => `<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(10)}</g>`);
    const shape = '<rect id="g0" width="256" height="256" filter="url(#f)"/>';
    const slow = svgOf(`<defs>${filter}${shape}${levels.join('')}</defs><use href="#g5"/>`, 'width="256" height="256"');
    const path = join(folder, 'a.png');
    writeFileSync(path, await (await redAndBlue(8, 6)).png().toBuffer());
    const images = new ImageProcess(1_500);
    const started = performance.now();
    const [unreadable, measured] = await Promise.all([
      images.ask([
        { kind: 'bytes', bytes: slow },
        { kind: 'shrink', svg: true },
      ]),
      images.ask([{ kind: 'measure', path, type: 'image/png' }]),
    ]);
    assert.deepEqual([unreadable, measured], [{ kind: 'unreadable' }, { kind: 'measured', width: 8, height: 6 }]);
    assert.ok(performance.now() - started < 8_000);
  });
});
