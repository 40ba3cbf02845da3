// Writes the tar format (POSIX ustar, with comments of pax) as far as backups need it: regular files with names in ASCII.

/** Everything in a tar begins at a multiple of so many bytes. */
export const TAR_BLOCK = 512;

/** What a tar ends with. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK);

/** Where the parts of a header lie: offset and bytes. */
export const HEADER = {
  name: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  modified: [136, 12],
  checksum: [148, 8],
  kind: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

/** Magic and version of the format. */
export const USTAR = 'ustar\x0000';
/** Kinds of entries: a regular file, and what pax says of the one behind it. */
export const REGULAR = '0';
export const ABOUT_NEXT = 'x';

/** The largest size that eleven octal digits hold. */
const MOST_OCTAL = 0o77777777777;

/** The header of a file of so many bytes; they follow it, and `tarPadding` behind them. */
export function tarHeader(name: string, size: number, modified: Date, kind: string = REGULAR): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  const put = ([offset, length]: readonly [number, number], text: string) => {
    if (text.length > length) throw new Error(`too long for a tar: ${text}`);
    header.write(text, offset, 'latin1');
  };
  const octal = ([offset, length]: readonly [number, number], value: number) =>
    put([offset, length], `${value.toString(8).padStart(length - 1, '0')}\0`);
  const [prefix, last] = parted(name);
  put(HEADER.name, last);
  put(HEADER.prefix, prefix);
  octal(HEADER.mode, 0o600);
  octal(HEADER.owner, 0);
  octal(HEADER.group, 0);
  if (size <= MOST_OCTAL) octal(HEADER.size, size);
  else {
    // As GNU tar has it, which every tar of today reads: a first bit, then the number itself.
    header[HEADER.size[0]] = 0x80;
    header.writeBigUInt64BE(BigInt(size), HEADER.size[0] + 4);
  }
  octal(HEADER.modified, Math.floor(modified.getTime() / 1000));
  put(HEADER.kind, kind);
  put(HEADER.magic, USTAR);
  put(HEADER.checksum, `${checksumOf(header).toString(8).padStart(6, '0')}\0 `);
  return header;
}

/** A whole file, with a comment of less than 80 characters that programs for tars pass over. */
export function tarFile(name: string, bytes: Uint8Array, modified: Date, comment: string): Buffer {
  // Its length, with the length itself, comes first: two digits.
  const about = Buffer.from(` comment=${comment}\n`, 'latin1');
  const record = Buffer.concat([Buffer.from(String(about.length + 2)), about]);
  return Buffer.concat([
    ...[tarHeader('about', record.length, modified, ABOUT_NEXT), record, tarPadding(record.length)],
    ...[tarHeader(name, bytes.length, modified), bytes, tarPadding(bytes.length)],
  ]);
}

/** What fills up the last block of a file of so many bytes. */
export function tarPadding(size: number): Buffer {
  return TAR_END.subarray(0, (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** The sum of a header's bytes, those of the checksum itself counted as spaces. */
export function checksumOf(header: Uint8Array): number {
  const [offset, length] = HEADER.checksum;
  let sum = length * 0x20;
  header.forEach((byte, at) => {
    if (at < offset || at >= offset + length) sum += byte;
  });
  return sum;
}

/** A long name is parted at its last slash. */
function parted(name: string): readonly [prefix: string, last: string] {
  if (name.length <= HEADER.name[1]) return ['', name];
  const slash = name.lastIndexOf('/');
  return [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
}
