// Multipart requests as clients send them: parameters, files and their names (spec 4.2, D2-D4, D28).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type FormServer, formServer, type ReadForm } from './harness/form-server.ts';
import { MULTIPART, multipart, named, part } from './harness/multipart.ts';

const run = promisify(execFile);

let server: FormServer;
before(async () => {
  server = await formServer();
});
after(() => server.close());

const send = (...parts: Buffer[]) => server.post(MULTIPART, multipart(...parts));
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const namesOf = ({ files }: ReadForm) => files.map(({ fileName }) => fileName);
const codesOf = ({ refused, problems }: ReadForm) =>
  [...(refused ?? []), ...problems].map(({ code, at }) => [code, at]);

describe('parameters', () => {
  test('values are taken as they are, under any name', async () => {
    const sent = [
      ['param', '{"a":"見積\r\n--x\r\n𠮷 \\" %22"}'],
      ['empty', ''],
      ['__proto__', '1'],
      ['constructor', ''],
      ['', 'x'],
      ['見積 "', 'y'],
    ] as const;
    const { form, files, problems } = await send(
      ...sent.map(([name, value]) => named(name.replace('"', '%22'), value)),
    );
    assert.deepEqual([form, files, problems], [sent, [], []]);
  });

  test('a part without a name is ignored, one with a type is a parameter', async () => {
    const { form, problems } = await send(
      part('Content-Disposition: form-data', 'x'),
      part('content-type: text/plain;charset=UTF-8\r\nCONTENT-DISPOSITION: Form-Data;NAME=a', '1'),
    );
    assert.deepEqual([form, problems], [[['a', '1']], []]);
  });

  test('a parameter twice is a problem, once for each name', async () => {
    const read = await send(named('a', '1'), named('a', '1'), named('a', '2'), named('b', ''));
    assert.deepEqual(codesOf(read), [['repeated_parameter', 'a']]);
  });

  test('bytes that are not UTF-8 are a problem of their name', async () => {
    const read = await send(named('a', Buffer.from([0xc0, 0x80])), named('b', '1'));
    assert.deepEqual([codesOf(read), read.form], [[['bad_encoding', 'a']], [['b', '1']]]);
  });

  test('a urlencoded body is read as ever', async () => {
    const { form, files } = await server.post('application/x-www-form-urlencoded', 'a=1+2&%E8%A6%8B=%F0%9F%91%8D&b');
    assert.deepEqual(
      [form, files],
      [
        [
          ['a', '1 2'],
          ['見', '👍'],
          ['b', ''],
        ],
        [],
      ],
    );
  });
});

describe('which parts are files', () => {
  const PARTS = [
    ['one with a file name', 'form-data; name="a"; filename="x"', '', '1', ['x', '']],
    ['one with filename*', 'form-data; name="a"; filename*=UTF-8\'\'x', '', '1', ['x', '']],
    [
      'one of octets without a file name',
      'form-data; name="a"',
      'Application/Octet-Stream ; x=y',
      '1',
      ['', 'Application/Octet-Stream ; x=y'],
    ],
    ['one of octets without anything is none', 'form-data; name="a"', 'application/octet-stream', '', null],
    ['one without a name and bytes is none', 'form-data; name="a"; filename=""', 'application/octet-stream', '', null],
    ['one without a name, with bytes', 'form-data; name="a"; filename=""', 'image/png', '1', ['', 'image/png']],
    ['one with a name, without bytes', 'form-data; name="a"; filename="x"', 'text/plain', '', ['x', 'text/plain']],
  ] as const;
  for (const [title, disposition, type, content, expected] of PARTS) {
    test(title, async () => {
      const typed = type === '' ? '' : `\r\nContent-Type: ${type}`;
      const { form, files, problems } = await send(part(`Content-Disposition: ${disposition}${typed}`, content));
      assert.deepEqual([form, problems], [[], []]);
      const file = {
        part: 'a',
        digest: sha256(content),
        size: content.length,
        content: Buffer.from(content).toString('base64'),
      };
      assert.deepEqual(files, expected === null ? [] : [{ ...file, fileName: expected[0], contentType: expected[1] }]);
    });
  }

  test('a file without a part name is refused, as nothing says where it belongs', async () => {
    const read = await send(part('Content-Disposition: form-data; filename="x"', '1'));
    assert.deepEqual([codesOf(read), read.files], [[['file_part_refused', undefined]], []]);
  });

  test('a file twice under one name is a problem; a file and a parameter of one name are not', async () => {
    const read = await send(
      named('a', '1'),
      named('a', '2', 'x'),
      named('b', '3', 'y'),
      named('b', '4', 'z'),
      named('b', ''),
    );
    assert.deepEqual(codesOf(read), [['repeated_parameter', 'b']]);
    assert.deepEqual(
      [read.form, namesOf(read)],
      [
        [
          ['a', '1'],
          ['b', ''],
        ],
        ['x', 'y'],
      ],
    );
  });

  test('without an intake a file is a problem of its name, and nothing is received', async () => {
    const refusing = await formServer({ intake: null });
    try {
      const read = await refusing.post(
        MULTIPART,
        multipart(named('p', '1'), named('a', 'x'.repeat(100_000), 'x'), named('b', '', ''), named('c', '', 'y')),
      );
      assert.deepEqual(codesOf(read), [
        ['file_part_refused', 'a'],
        ['file_part_refused', 'c'],
      ]);
      assert.deepEqual([read.form, read.files, refusing.receiving()], [[['p', '1']], [], []]);
    } finally {
      await refusing.close();
    }
  });
});

describe('file names are kept as sent', () => {
  const LONG = '長'.repeat(1_300);
  const NAMES = [
    ['Japanese', 'filename="見積書 2026.pdf"', '見積書 2026.pdf'],
    ['one that climbs', 'filename="../../etc/passwd"', '../../etc/passwd'],
    ['one with a drive', 'filename="C:\\x\\y.txt"', 'C:\\x\\y.txt'],
    ['an escaped quote', 'filename="a\\"b.txt"', 'a"b.txt'],
    ['an escaped quote and a semicolon', 'filename="a\\";b.txt"', 'a";b.txt'],
    ['an escaped backslash', 'filename="a\\\\b.txt"', 'a\\b.txt'],
    ['a backslash at the end', 'filename="a\\"', 'a\\'],
    ['a backslash at the end, and more behind it', 'filename="a\\"; x="y"', 'a\\'],
    ["a browser's quote and line break", 'filename="a%22%0D%0Ab"', 'a"\r\nb'],
    ['any other percent sign', 'filename="%41%20%0a100%"', '%41%20%0a100%'],
    ['a semicolon and an equals sign', 'filename="a; filename=b"', 'a; filename=b'],
    ['no quotes', 'filename=見積 2026.pdf ; x=y', '見積 2026.pdf'],
    ['upper case', 'FileName="A.TXT"', 'A.TXT'],
    ['more than 255 bytes', `filename="${LONG}"`, LONG],
    ['more than 255 bytes, percent-encoded', `filename*=UTF-8''${encodeURIComponent(LONG)}`, LONG],
    ['filename* wins', 'filename="a"; filename*=utf-8\'ja\'%e8%a6%8b%22', '見"'],
    ['filename* wins, wherever it stands', 'filename*=UTF-8\'\'%e8%a6%8b; filename="a"', '見'],
    ['filename* in ISO-8859-1', "filename*=ISO-8859-1''%A3%e9'", "£é'"],
    ['filename* decodes what browsers do not escape', "filename*=UTF-8''%2E%2e/%41", '../A'],
  ] as const;
  for (const [title, sent, name] of NAMES) {
    test(title, async () => {
      const read = await send(part(`Content-Disposition: form-data; name="a"; ${sent}`, '1'));
      assert.deepEqual([namesOf(read), read.problems], [[name], []]);
    });
  }

  const FAULTS = [
    ['a file name that is not UTF-8', 'name="a"; filename="\x93\x8c"', 'bad_encoding'],
    ['filename* that is not UTF-8', 'name="a"; filename*=UTF-8\'\'%93', 'bad_encoding'],
    ['filename* of another charset', 'name="a"; filename*=Shift_JIS\'\'a; filename=x', 'bad_encoding'],
    ['filename* cut short', 'name="a"; filename*=UTF-8\'\'%9', 'bad_encoding'],
    ['a type that is not UTF-8', 'name="a"; filename="x"\r\nContent-Type: \xff', 'bad_encoding'],
    ['NUL in a file name', 'name="a"; filename="x\0.txt"', 'bad_character'],
    ['NUL in filename*', 'name="a"; filename*=UTF-8\'\'%00', 'bad_character'],
  ] as const;
  for (const [title, sent, code] of FAULTS) {
    test(`${title} is a problem, and the file is not stored`, async () => {
      const header = Buffer.from(`Content-Disposition: form-data; ${sent}`, 'latin1');
      const read = await send(part(header, 'x'.repeat(100_000)), named('b', '1', 'y'));
      assert.deepEqual([codesOf(read), namesOf(read)], [[[code, 'a']], ['y']]);
    });
  }

  test('NUL in a part name is a problem, of a file and of a parameter', async () => {
    const read = await send(named('a\0', '1'), named('b\0', '1', 'x'));
    assert.deepEqual(codesOf(read), [
      ['bad_character', 'a\0'],
      ['bad_character', 'b\0'],
    ]);
    assert.deepEqual([read.form, read.files], [[], []]);
  });
});

describe('clients', () => {
  const NAMES = [
    '見積書 2026.pdf',
    'a"b.txt',
    'back\\slash.txt',
    `${'n'.repeat(296)}.txt`,
    '🐈‍⬛.png',
    '../../etc/passwd',
    'a\\',
  ];
  const contents = NAMES.map((_, index) => randomBytes(index === 0 ? 200_000 : index * 9_000));

  function isAsSent(read: ReadForm | null, names: readonly string[]): void {
    assert.deepEqual([read?.refused, read?.problems, read?.form], [null, [], [['param', '{"a":"見"}']]]);
    assert.deepEqual(
      read?.files.map(({ part, fileName, digest }) => [part, fileName, digest]),
      names.map((name) => [`f${NAMES.indexOf(name)}`, name, sha256(contents[NAMES.indexOf(name)] ?? '')]),
    );
  }

  test('FormData as fetch sends it', async () => {
    const form = new FormData();
    form.set('param', '{"a":"見"}');
    for (const [index, name] of NAMES.entries()) form.set(`f${index}`, new Blob([contents[index] ?? '']), name);
    const response = await fetch(server.url, { method: 'POST', body: form });
    isAsSent((await response.json()) as ReadForm, NAMES);
    assert.equal(server.last()?.files[1]?.content, contents[1]?.toString('base64'));
  });

  test('FormData without anything in it', async () => {
    const response = await fetch(server.url, { method: 'POST', body: new FormData() });
    assert.deepEqual(await response.json(), { refused: null, form: [], problems: [], files: [] });
  });

  for (const [title, options] of [
    ['curl', []],
    ['curl with --form-escape', ['--form-escape']],
  ] as const) {
    test(title, async (t) => {
      const help = await run('curl', ['--help', 'all']).catch(() => null);
      if (help === null || !help.stdout.includes('--form-escape')) return t.skip('no curl that is new enough');
      const folder = mkdtempSync(join(tmpdir(), 'daicho-curl-'));
      try {
        const sent = NAMES.map((name, index) => {
          writeFileSync(join(folder, `${index}`), contents[index] ?? '');
          const quoted = name.replace(/(["\\])/g, '\\$1');
          return ['-F', `f${index}=@${folder}/${index};filename="${quoted}"`];
        });
        const args = ['-sS', ...options, '-F', 'param={"a":"見"}', ...sent.flat(), server.url];
        isAsSent(JSON.parse((await run('curl', args)).stdout), NAMES);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});
