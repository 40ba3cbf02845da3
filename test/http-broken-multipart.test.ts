// Multipart bodies that no honest client sends: each is answered, and none leaves a file behind (D2-D4, D28).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { type FormServer, formServer, type ReadForm } from './harness/form-server.ts';
import { BODIES, BOUNDARY, GOOD, MULTIPART, multipart, named } from './harness/multipart.ts';

const RUNS = Number(process.env.PROPERTY_RUNS ?? 100);
/** Milliseconds within which each body has to be answered. */
const SOON = 1_000;

let server: FormServer;
before(async () => {
  server = await formServer();
});
after(() => server.close());

async function answered(contentType: string, body: Buffer | readonly Buffer[]): Promise<ReadForm> {
  const late = new AbortController();
  const tooLate = wait(SOON, null, { signal: late.signal, ref: false }).catch(() => null);
  const read = await Promise.race([server.post(contentType, body), tooLate]);
  late.abort();
  assert.ok(read !== null, 'not answered in time');
  return read;
}

for (const { name, contentType, body, refused } of BODIES) {
  test(`a body is answered and leaves nothing: ${name}`, async () => {
    const read = await answered(contentType, body);
    assert.equal(read.refused?.[0]?.code ?? null, refused);
    assert.deepEqual(server.receiving(), []);
  });
}

/** Cuts a body at the given places. */
function pieces(body: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  return places.slice(1).map((end, index) => body.subarray(places[index], end));
}

const places = fc.array(fc.nat(100_000), { maxLength: 12 });

const NASTY = [
  '\r',
  '\n',
  '\r\n',
  '--',
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}--`,
  '\r\n\r\n',
  '"',
  '\\',
];
const scrap = fc.oneof(
  fc
    .constantFrom(...NASTY, ';', '%22', '%', '\0', '=', ':', '\xff', 'filename=', "filename*=UTF-8''%", ' ', 'name="')
    .map((text) => Buffer.from(text, 'latin1')),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);
/** Some bytes of a body replaced by others, or by other bytes of it. */
const mutation = fc.record({
  at: fc.nat(GOOD.length),
  removed: fc.oneof(fc.nat(3), fc.nat(200)),
  put: fc.oneof(
    scrap,
    fc.tuple(fc.nat(GOOD.length), fc.nat(200)).map(([from, length]) => GOOD.subarray(from, from + length)),
  ),
});

test('a body with any bytes changed is answered and leaves nothing', async () => {
  const property = fc.asyncProperty(
    fc.array(mutation, { minLength: 1, maxLength: 5 }),
    places,
    async (changes, cuts) => {
      let body: Buffer = GOOD;
      for (const { at, removed, put } of changes) {
        body = Buffer.concat([body.subarray(0, at), put, body.subarray(at + removed)]);
      }
      await answered(MULTIPART, pieces(body, cuts));
      assert.deepEqual(server.receiving(), []);
    },
  );
  await fc.assert(property, { numRuns: RUNS * 3 });
});

const content = fc
  .array(
    fc.oneof(
      scrap,
      fc.constantFrom(...NASTY, `\r\n--${BOUNDARY.slice(0, -1)}`).map((text) => Buffer.from(text)),
    ),
    { maxLength: 10 },
  )
  .map((some) => Buffer.concat(some))
  .filter((bytes) => !Buffer.concat([Buffer.from('\r\n'), bytes]).includes(`\r\n--${BOUNDARY}`));

test('a body is read the same however it is cut into chunks', async () => {
  const property = fc.asyncProperty(fc.array(content, { maxLength: 6 }), places, async (contents, cuts) => {
    const body = multipart(
      ...contents.map((bytes, index) => named(`f${index}`, bytes, `${index}`)),
      named('p', 'x\r\n--'),
    );
    const read = await answered(MULTIPART, pieces(body, cuts));
    assert.deepEqual([read.refused, read.problems, read.form], [null, [], [['p', 'x\r\n--']]]);
    assert.deepEqual(
      read.files.map((file) => [file.part, file.content, file.digest]),
      contents.map((bytes, index) => [
        `f${index}`,
        bytes.toString('base64'),
        createHash('sha256').update(bytes).digest('hex'),
      ]),
    );
  });
  await fc.assert(property, { numRuns: RUNS });
});

test('a body is read the same byte by byte', async () => {
  const whole = await answered(MULTIPART, GOOD);
  assert.equal(whole.files.length, 1);
  const single = Array.from({ length: GOOD.length }, (_, at) => GOOD.subarray(at, at + 1));
  assert.deepEqual(await answered(MULTIPART, single), whole);
});

test('a client that goes away midway, wherever, leaves nothing', async () => {
  for (let length = 0; length < GOOD.length; length += 29) {
    const settled = server.settled();
    const socket = connect(server.port, '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${GOOD.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head), GOOD.subarray(0, length)]), () =>
      wait(5).then(() => socket.destroy()),
    );
    const { refused } = await settled;
    assert.equal(refused?.[0]?.code, 'malformed_request');
    assert.deepEqual(server.receiving(), []);
  }
});
