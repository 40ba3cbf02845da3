// Multipart bodies as a hostile or careless client sends them, and the pieces they are made of.
import type { ErrorCode } from '../../src/errors.ts';

export interface SentBody {
  /** What is wrong with it. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer<ArrayBuffer>;
  /** Why it cannot be read, where it may have 32 MiB, 100 files and as much as it likes in them; null where it can. */
  readonly refused: ErrorCode | null;
}

export const BOUNDARY = 'grenze-7Qz';
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** A part: the lines of its header and its bytes, each character of a text in UTF-8. */
export function part(header: string | Buffer, content: string | Buffer = ''): Buffer<ArrayBuffer> {
  return Buffer.concat([...[`--${BOUNDARY}\r\n`, header, '\r\n\r\n', content, '\r\n'].map(bytes)]);
}

/** The part of a parameter or, with a file name, of a file; both as they stand between the quotes. */
export function named(name: string, content: string | Buffer, fileName?: string): Buffer<ArrayBuffer> {
  const file = fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: application/pdf`;
  return part(`Content-Disposition: form-data; name="${name}"${file}`, content);
}

/** A whole body of such parts. */
export function multipart(...parts: readonly (string | Buffer)[]): Buffer<ArrayBuffer> {
  return Buffer.concat([...parts, `--${BOUNDARY}--\r\n`].map(bytes));
}

const bytes = (piece: string | Buffer) => (typeof piece === 'string' ? Buffer.from(piece) : piece);

/** Two parameters and a file. */
export const GOOD = multipart(
  named('appcode', 'R'),
  named('param', '{"r_primarykey":{"value":"見積"}}'),
  named('r_file', Buffer.from('\0\r\n--grenze\r\n\xff--\r\n', 'latin1'), '見積書.pdf'),
);
/** The bytes of it that are needed: a line break may follow. */
const NEEDED = GOOD.length - 2;

const sent = (name: string, body: Buffer<ArrayBuffer>, refused: ErrorCode | null): SentBody => ({
  name,
  contentType: MULTIPART,
  body,
  refused,
});
const typed = (name: string, contentType: string, body: Buffer<ArrayBuffer> = GOOD): SentBody => ({
  name,
  contentType,
  body,
  refused: 'malformed_body',
});
const repeated = (count: number, make: (index: number) => Buffer) =>
  multipart(...Array.from({ length: count }, (_, i) => make(i)));
const disposition = 'Content-Disposition: form-data; name="a"';

const CUT = Array.from({ length: GOOD.length }, (_, length) =>
  sent(`cut after ${length} bytes`, GOOD.subarray(0, length), length < NEEDED ? 'malformed_body' : null),
);

const BOUNDARIES = [
  typed('no boundary', 'multipart/form-data'),
  typed('an empty boundary', 'multipart/form-data; boundary='),
  typed('an empty boundary in quotes', 'multipart/form-data; boundary=""'),
  typed('a boundary without an end', `multipart/form-data; boundary="${BOUNDARY}`),
  typed('two boundaries', `multipart/form-data; boundary=${BOUNDARY}; boundary=${BOUNDARY}`),
  typed('another boundary', 'multipart/form-data; boundary=other'),
  typed('a boundary that is longer than the one sent', `multipart/form-data; boundary=${BOUNDARY}z`),
  ...[71, 70_000].map((length) => {
    const boundary = 'b'.repeat(length);
    const body = Buffer.from(GOOD.toString('latin1').replaceAll(BOUNDARY, boundary), 'latin1');
    return typed(`a boundary of ${length} characters`, `multipart/form-data; boundary=${boundary}`, body);
  }),
  sent('a multipart body in a file', multipart(named('r_file', '--in\r\n\r\nx\r\n--in--\r\n', 'a.eml')), null),
  sent(
    'a boundary in it that begins as its own',
    multipart(named('r_file', `--${BOUNDARY}-in\r\n\r\nx`, 'a')),
    'malformed_body',
  ),
  sent('a boundary in it that lacks a character', multipart(named('a', `x\r\n--${BOUNDARY.slice(0, -1)}\r\n`)), null),
  sent('a boundary behind a line feed alone', multipart(named('a', `x\n--${BOUNDARY}\n`)), null),
  sent('only a closing boundary', multipart(), null),
  sent('a closing boundary twice', Buffer.concat([GOOD, multipart()]), null),
  sent('another body behind it', Buffer.concat([GOOD, GOOD]), null),
  sent(
    'a closing boundary with one dash',
    Buffer.concat([GOOD.subarray(0, NEEDED - 1), bytes('\r\n')]),
    'malformed_body',
  ),
  sent('nothing but line breaks', Buffer.alloc(100_000, '\r\n'), 'malformed_body'),
  sent('a first boundary within a line', Buffer.concat([bytes('x'), GOOD]), null),
  sent('lines before the first boundary', Buffer.concat([Buffer.alloc(100_002, 'x\r\n'), GOOD]), null),
];

const HEADERS = [
  sent('10,000 lines in a header', multipart(part(`${'X: y\r\n'.repeat(10_000)}${disposition}`)), 'malformed_body'),
  sent('200 lines in a header', multipart(part(`${disposition}\r\n${'X: y\r\n'.repeat(200)}Y: z`)), 'malformed_body'),
  sent(
    '10 MB in a line of a header',
    multipart(part(`X: ${'y'.repeat(10_000_000)}\r\n${disposition}`)),
    'malformed_body',
  ),
  sent('10 MB in a name', multipart(named('y'.repeat(10_000_000), '')), 'malformed_body'),
  sent('10 MB of backslashes in a name', multipart(named('\\'.repeat(10_000_000), '')), 'malformed_body'),
  sent('16,000 backslashes in a name', multipart(named('\\'.repeat(16_000), 'x')), null),
  sent(
    '16,000 quotes in a header',
    multipart(part(`${disposition}; filename=${'"'.repeat(16_000)}`)),
    'malformed_body',
  ),
  sent('a header without lines', multipart(part('')), 'malformed_body'),
  sent('a header without Content-Disposition', multipart(part('Content-Type: text/plain', 'x')), 'malformed_body'),
  sent('Content-Disposition twice', multipart(part(`${disposition}\r\n${disposition}`)), 'malformed_body'),
  sent('another Content-Disposition', multipart(part('Content-Disposition: attachment; filename=a')), 'malformed_body'),
  sent('two names', multipart(part(`${disposition}; name="b"`)), 'malformed_body'),
  sent('a name without an end', multipart(part('Content-Disposition: form-data; name="a')), 'malformed_body'),
  sent('text behind a name', multipart(part(`${disposition}b`)), 'malformed_body'),
  sent('a line without a colon', multipart(part(`X\r\n${disposition}`)), 'malformed_body'),
  sent('a line feed alone in a header', multipart(part(`X: y\n${disposition}`)), 'malformed_body'),
  sent(
    'a header that has no end',
    Buffer.from(`--${BOUNDARY}\r\n${disposition}\r\n--${BOUNDARY}--\r\n`),
    'malformed_body',
  ),
  sent('a part without a name', multipart(part('Content-Disposition: form-data', 'x')), null),
];

const NAMES = [
  sent(
    'names of prototypes',
    multipart(...['__proto__', 'constructor', 'toString'].map((name) => named(name, '1'))),
    null,
  ),
  sent(
    'files with names of prototypes',
    multipart(named('__proto__', '1', '__proto__'), named('constructor', '1', 'a')),
    null,
  ),
  sent('names that climb', multipart(named('../../a', '1'), named('../../b', '1', '../../../etc/passwd')), null),
  sent('names with NUL', multipart(named('a\0', '1'), named('b', '1', 'a\0.txt'), named('c\0', '1', 'a')), null),
  sent('names with line breaks', multipart(named('a%0D%0Ab', '1'), named('b', '1', '%0D%0A')), null),
  sent(
    'names that are not UTF-8',
    multipart(
      ...['a', 'b"; filename="'].map((name) =>
        part(Buffer.from(`Content-Disposition: form-data; name="${name}\x93\x8c"`, 'latin1'), '1'),
      ),
    ),
    null,
  ),
  sent('a value that is not UTF-8', multipart(named('a', Buffer.from([0x93, 0x8c]))), null),
];

const MANY = [
  sent(
    '10,000 parameters',
    repeated(10_000, (i) => named(`p${i}`, '1')),
    'malformed_body',
  ),
  sent(
    '10,000 parameters of one name',
    repeated(10_000, () => named('p', '1')),
    'malformed_body',
  ),
  sent(
    '10,000 parts without a name',
    repeated(10_000, () => part('Content-Disposition: form-data')),
    'malformed_body',
  ),
  sent(
    '10,000 files',
    repeated(10_000, (i) => named(`f${i}`, '1', 'a')),
    'too_many_files',
  ),
  sent(
    '10,000 files of one name',
    repeated(10_000, () => named('f', '1', 'a')),
    'too_many_files',
  ),
  sent(
    '10,000 files that nothing was chosen for',
    repeated(10_000, (i) => named(`f${i}`, '', '')),
    'malformed_body',
  ),
];

/** Every one of them has to be answered, and to leave nothing behind. */
export const BODIES: readonly SentBody[] = [...CUT, ...BOUNDARIES, ...HEADERS, ...NAMES, ...MANY];
