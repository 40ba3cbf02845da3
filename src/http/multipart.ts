// A multipart body, read as it arrives: parameters into memory, files through to the disk (spec 4.2, D2-D4).
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { Dicer } from '@fastify/busboy';
import { type Problem, refuse } from '../errors.ts';
import { type Form, shown, type Upload } from '../operations/request.ts';
import { type Taker, takeFiles } from './file-part.ts';
import type { FormLimits, Intake } from './form.ts';
import { gather } from './gathered.ts';
import { addParameter, MAX_PARAMETERS } from './parameters.ts';
import { type PartHeader, parseHeaderValue, type RawHeader, readPartHeader } from './part-header.ts';
import { release } from './release.ts';

/** Longest boundary in characters (RFC 2046, 5.1.1). */
const MAX_BOUNDARY = 70;
/** Greatest size of a part's header in bytes: room for a file name of 4,000 bytes, percent-encoded. */
const MAX_HEADER = 16_384;
/** Most lines of a part's header. */
const MAX_HEADER_LINES = 100;
/** Bytes that are parsed at a time, if so many have come. */
const ROUND = 65_536;
/** A chunk of fewer bytes waits for those that the same packet brings. */
const SMALL = 256;
/** What stands around the boundary between two parts: line breaks and dashes. */
const AROUND_BOUNDARY = 8;

/** A part from where the parser began it. */
interface Part {
  readonly stream: Dicer.PartStream;
  header: RawHeader | null;
  taker: Taker | null;
}

/** The parameters of a multipart body, see `readForm`. */
export async function readMultipart(
  request: IncomingMessage,
  limits: FormLimits,
  problems: Problem[],
  intake: Intake | null,
  uploads: Upload[],
): Promise<Form> {
  const boundary = boundaryOf(request);
  const form = new Map<string, string>();
  const files = takeFiles(limits, intake, form, problems, uploads);
  const parser = parserOf(boundary);
  // What the parser still holds back may belong to a file.
  const mostOutside = intake === null ? limits.maxBody : limits.maxBody + boundary.length + AROUND_BOUNDARY;
  const mostParts = MAX_PARAMETERS + limits.maxFiles;
  let opened = 0;
  const open = (raw: RawHeader): Taker => {
    const header = readableHeader(raw);
    if (++opened > mostParts) throw refuse('malformed_body', { limit: MAX_PARAMETERS });
    return isFile(header) ? files.open(header) : takeParameter(header, form, problems);
  };
  try {
    let size = 0;
    for await (const chunk of chunksOf(request)) {
      size += chunk.length;
      parser.write(chunk);
      await takeParts(parser.parts, open);
      // The parser has copied what it holds back, and so has everyone who takes a part.
      release(chunk);
      if (size - files.bytes() > mostOutside) throw refuse('body_too_large', { limit: limits.maxBody });
    }
    if (!(await parser.end())) throw refuse('malformed_body');
    for (const part of parser.parts) await endOf(part);
    return form;
  } catch (error) {
    await files.abort();
    throw error;
  }
}

function boundaryOf(request: IncomingMessage): string {
  const boundary = parseHeaderValue(request.headers['content-type'] ?? '')?.parameters.get('boundary') ?? '';
  if (boundary === '' || boundary.length > MAX_BOUNDARY) throw refuse('malformed_body');
  return boundary;
}

/** The chunks of a body; the request stays usable for an answer when not all are taken. */
async function* chunksOf(request: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (chunk.length < SMALL) await setImmediate();
      yield withWaiting(chunk, request);
    }
  } catch {
    // The only reason it throws: the connection ended, or what came was no HTTP, before the body was complete.
    throw refuse('malformed_request');
  }
}

/** A chunk together with those that wait behind it: a client may send a byte at a time, and each round costs the same. */
function withWaiting(chunk: Buffer, request: IncomingMessage): Buffer {
  const gathered = gather();
  let size = 0;
  for (let next: Buffer | null = chunk; next !== null; next = size < ROUND ? request.read() : null) {
    gathered.add(next);
    size += next.length;
  }
  return gathered.whole();
}

interface Parser {
  /** What was begun and not yet taken whole, in the order of the body; the last one may go on. */
  readonly parts: Part[];
  write(chunk: Buffer): void;
  /** All has come; whether the closing boundary was in it. */
  end(): Promise<boolean>;
}

function parserOf(boundary: string): Parser {
  const parts: Part[] = [];
  const settings = {
    boundary,
    maxHeaderPairs: MAX_HEADER_LINES,
    // What it cuts is larger than what is taken.
    maxHeaderSize: 2 * MAX_HEADER,
    // The parser must never wait for a part: every chunk is taken from the parts before the next one is written.
    partHwm: Number.MAX_SAFE_INTEGER,
  };
  const dicer = new Dicer(settings);
  const closed = new Promise<boolean>((resolve) => {
    dicer.on('finish', () => resolve(true));
    dicer.on('error', () => resolve(false));
  });
  dicer.on('part', (stream) => {
    const part: Part = { stream, header: null, taker: null };
    stream.on('header', (header) => {
      part.header = header as RawHeader;
    });
    // The same as the error of the parser, which tells that the body ended early.
    stream.on('error', () => {});
    parts.push(part);
  });
  return {
    parts,
    write: (chunk) => dicer.write(chunk),
    end() {
      dicer.end();
      return closed;
    },
  };
}

/** Takes what a chunk gave of each part; a part has ended where the next one begins. */
async function takeParts(parts: Part[], open: (header: RawHeader) => Taker): Promise<void> {
  for (const [index, part] of parts.entries()) {
    if (part.taker === null && part.header !== null) part.taker = open(part.header);
    for (let bytes: Buffer | null = part.stream.read(); bytes !== null; bytes = part.stream.read()) {
      const taken = part.taker?.take(bytes);
      if (taken !== undefined) await taken;
    }
    if (index < parts.length - 1) {
      const ended = endOf(part);
      if (ended !== undefined) await ended;
    }
  }
  parts.splice(0, parts.length - 1);
}

/** A part whose header has no end is none. */
function endOf({ taker }: Part): Promise<void> | undefined {
  if (taker === null) throw refuse('malformed_body');
  return taker.end();
}

/** The parser cuts a header that is too large, and gives the lines before one that it cannot read. */
function readableHeader(raw: RawHeader): PartHeader {
  let size = 0;
  let lines = 0;
  for (const [name, values = []] of Object.entries(raw)) {
    for (const value of values) size += `${name}: ${value}\r\n`.length;
    lines += values.length;
  }
  const header = size < MAX_HEADER && lines < MAX_HEADER_LINES ? readPartHeader(raw) : null;
  if (header === null) throw refuse('malformed_body');
  return header;
}

function isFile(header: PartHeader): header is PartHeader & { readonly fileName: string } {
  return header.fileName !== undefined;
}

function takeParameter({ name, fault }: PartHeader, form: Map<string, string>, problems: Problem[]): Taker {
  const gathered = gather();
  return {
    take(bytes) {
      // They lie in the chunk, which ends before the part does.
      if (name !== undefined) gathered.add(Buffer.from(bytes));
      return undefined;
    },
    end() {
      if (name === undefined) return undefined;
      const value = gathered.whole();
      const wrong = fault ?? (isUtf8(value) ? null : 'bad_encoding');
      if (wrong !== null) problems.push({ code: wrong, at: shown(name) });
      else addParameter(form, name, value.toString('utf8'), problems);
      return undefined;
    },
  };
}
