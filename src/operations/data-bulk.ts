// POST {base_url}/webapi/x1/data/bulk: many records, one on each line (D39).
import type { App } from '../app/app.ts';
import { renderDone, renderRefusedLine, renderUpdated } from '../envelope/envelope.ts';
import { type Problem, Refusal, Unavailable, Undone } from '../errors.ts';
import { type JsonObject, parseJson } from '../json.ts';
import { messageOf } from '../messages/messages.ts';
import type { RegisteredApp, Store, Written } from '../store/store.ts';
import type { Edit, Put } from '../update/edit.ts';
import { parseKey, parsePut } from '../update/parse-edit.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { type BulkLine, linesOf } from './bulk-lines.ts';
import { judgedNow } from './judged-now.ts';
import { findNamed } from './name-files.ts';
import { type Call, checkLang, type Form, oneOf, shown } from './request.ts';
import { faultNotes, writtenOrRefused } from './written.ts';

/** What a line can ask for: the name of its one member. */
const VERBS = ['insert', 'update', 'merge', 'upsert', 'delete'] as const;
type Verb = (typeof VERBS)[number];

/** Lines that are done at a time, and the characters after which they are fewer. */
const BATCH = 200;
const MOST_CHARACTERS = 4 << 20;
/** Bytes of lines that are many: some thousand. */
const MANY = 1 << 20;
/** Most problems that a refused request is told of. */
const MOST_PROBLEMS = 100;

export interface BulkOptions {
  /** Longest line in bytes. */
  readonly maxLine: number;
}

/**
 * Answers each line with an envelope of its own, in their order; what one line asks for is done or refused whatever becomes of the
 * others. With `atomic=1` all lines are done or none, and the refusal names the lines.
 */
export function dataBulk(store: Store, form: Form, call: Call, options: BulkOptions): Promise<Answer> {
  return judgedNow(store, call, async () => {
    const { problems } = call;
    checkLang(form, problems);
    const isAtomic = oneOf(form, 'atomic', ['0', '1'], 'bad_atomic', problems) === '1';
    const upload = call.uploads.find(({ part }) => part === 'lines');
    for (const { part } of call.uploads)
      if (part !== 'lines') problems.push({ code: 'file_part_refused', at: shown(part) });
    const text = form.get('lines');
    if (upload !== undefined && text !== undefined) problems.push({ code: 'repeated_parameter', at: 'lines' });
    if (upload === undefined && text === undefined) problems.push({ code: 'missing_parameter', at: 'lines' });
    const { registered, caller } = authenticate(store, form, 'update', call);
    if (problems.length > 0) throw new Refusal(problems);
    const source = upload === undefined ? { text: text ?? '' } : { path: upload.received.path };
    const areMany = (upload?.received.size ?? 0) >= MANY;
    const bulk = { store, registered, userId: caller.id, lang: call.lang, source, areMany, ...options };
    return isAtomic ? atOnce(bulk) : { kind: 'lines', lines: lineByLine(bulk) };
  });
}

interface Bulk extends BulkOptions {
  readonly store: Store;
  readonly registered: RegisteredApp;
  readonly userId: string;
  readonly lang: Call['lang'];
  readonly source: Parameters<typeof linesOf>[0];
  readonly areMany: boolean;
}

/** A line that was read: what it asks for, or what is wrong with it. */
interface Asked {
  readonly edit: Edit | null;
  readonly problems: readonly Problem[];
}

/** Lines are read while those before them are written. */
async function* lineByLine(bulk: Bulk): AsyncGenerator<string> {
  const { store, userId, lang } = bulk;
  let { registered } = bulk;
  const read = (lines: readonly BulkLine[]) => ({ by: registered, asking: readLines(bulk, registered, lines) });
  const write = async (lines: readonly BulkLine[], ahead: ReturnType<typeof read>): Promise<string> => {
    for (let { by, asking } = ahead; ; { by, asking } = read(lines)) {
      const asked = await asking;
      const isCurrent = asked !== 'stale' && by === registered;
      const results = isCurrent ? await editAll(store, registered, userId, asked) : null;
      if (isCurrent && results !== null)
        return asked.map((line, index) => answerOf(registered.app, line, results[index] ?? null, lang)).join('');
      // Its definition is another by now.
      registered = currentApp(store, registered);
    }
  };
  let writing = Promise.resolve('');
  try {
    for await (const lines of batchesOf(bulk)) {
      const ahead = read(lines);
      // Whoever waits for it gets the error.
      ahead.asking.catch(() => {});
      const answers = await writing;
      writing = write(lines, ahead);
      writing.catch(() => {});
      if (answers !== '') yield answers;
    }
    yield await writing;
  } finally {
    // What has begun needs the file that the lines are in.
    await writing.catch(() => {});
  }
}

async function atOnce(bulk: Bulk): Promise<Answer> {
  const { store, registered, userId, lang } = bulk;
  /** Of a batch each; as flat texts, which take a fraction of the memory of their parts. */
  const answers: Buffer[] = [];
  const problems: Problem[] = [];
  let line = 0;
  /** Batches that were read and are not written yet. */
  const waiting: (readonly Asked[])[] = [];
  let isStale = false;
  const note = (asked: readonly Asked[], results: readonly (Written | null)[]) => {
    let text = '';
    asked.forEach((each, index) => {
      line++;
      const found = problemsOf(registered.app, each, results[index] ?? null);
      problems.push(...found.map((problem) => ({ ...problem, line })));
      if (problems.length === 0) text += answerOf(registered.app, each, results[index] ?? null, lang);
    });
    answers.push(Buffer.from(text));
  };
  const together = (edits: Parameters<Store['editTogether']>[2]) =>
    store.editTogether(registered, userId, edits).catch((error: unknown) => {
      throw error instanceof Undone ? new Unavailable('another write was first', { cause: error }) : error;
    });
  async function* batches() {
    for await (const lines of batchesOf(bulk)) {
      const asked = await readLines(bulk, registered, lines);
      isStale = asked === 'stale';
      if (asked === 'stale') return;
      waiting.push(asked);
      yield asked.flatMap(({ edit }) => edit ?? []);
      if (problems.length >= MOST_PROBLEMS) return;
    }
  }
  const done = await together({
    batches: batches(),
    areMany: bulk.areMany,
    written(results) {
      const asked = waiting.shift() ?? [];
      note(asked, spread(asked, results));
    },
    commits: () => problems.length === 0 && !isStale,
  });
  if (done === 'stale' || isStale) return atOnce({ ...bulk, registered: currentApp(store, registered) });
  if (problems.length > 0) throw new Refusal(problems.slice(0, MOST_PROBLEMS));
  return { kind: 'lines', lines: eachOf(answers) };
}

async function* eachOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function* batchesOf({ source, maxLine }: Bulk): AsyncGenerator<readonly BulkLine[]> {
  let batch: BulkLine[] = [];
  let characters = 0;
  for await (const lines of linesOf(source, maxLine)) {
    for (const line of lines) {
      if ('text' in line && line.text.trim() === '') continue;
      batch.push(line);
      characters += 'text' in line ? line.text.length : 0;
      if (batch.length < BATCH && characters < MOST_CHARACTERS) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** The results of the edits, by line; null for lines that asked for none. */
function spread(asked: readonly Asked[], results: readonly Written[]): readonly (Written | null)[] {
  let next = 0;
  return asked.map(({ edit }) => (edit === null ? null : (results[next++] ?? null)));
}

/** Does what the lines ask for; null where the definition is another by now. */
async function editAll(
  store: Store,
  registered: RegisteredApp,
  userId: string,
  asked: readonly Asked[],
): Promise<readonly (Written | null)[] | null> {
  const edits = asked.flatMap(({ edit }) => edit ?? []);
  let results: readonly Written[] = [];
  try {
    const done = await store.editTogether(registered, userId, {
      batches: eachOf([edits]),
      areMany: false,
      written: (written) => {
        results = written;
      },
      commits: () => true,
    });
    if (done === 'stale') return null;
  } catch (error) {
    // What cannot be known to be undone is not done again.
    if (error instanceof Unavailable) return asked.map(({ edit }) => (edit === null ? null : AWAY));
    // One of them stands against all, or somebody else was first: each for itself, which tells its own reason.
    const each: Written[] = [];
    for (const edit of edits) {
      const result = await store.edit(registered, edit, userId);
      // Those before it may be done: it is not judged again, but told of.
      each.push(result.kind === 'stale' ? AWAY : result);
    }
    results = each;
  }
  return spread(asked, results);
}

/** It may be done or not; or its definition changed while others were done. */
const AWAY: Written = { kind: 'refused', problems: [{ code: 'unavailable' }] };

async function readLines(
  { store, maxLine }: Bulk,
  registered: RegisteredApp,
  lines: readonly BulkLine[],
): Promise<readonly Asked[] | 'stale'> {
  const read = lines.map((line) => readLine(registered.app, line, maxLine));
  const named = read.flatMap(({ named: of }) => of);
  if (named.length > 0) {
    for (const { named: of, problems } of read) {
      if ((await findNamed(store, registered, of, problems)) === 'stale') return 'stale';
    }
  }
  return read.map(({ edit, problems }) => ({ edit: problems.length > 0 ? null : edit, problems }));
}

type ReadLine = { edit: Edit | null; problems: Problem[]; named: Parameters<typeof findNamed>[2] };

function readLine(app: App, line: BulkLine, maxLine: number): ReadLine {
  const problems: Problem[] = [];
  const none = (code: Problem['code'], details: Omit<Problem, 'code'> = {}): ReadLine => {
    return { edit: null, problems: [...problems, { code, ...details }], named: [] };
  };
  if ('fault' in line) return none(line.fault, line.fault === 'line_too_long' ? { limit: maxLine } : { at: 'lines' });
  const parsed = parseJson(line.text);
  if (!('value' in parsed)) return none('line_not_json', { limit: parsed.position });
  if (!(parsed.value instanceof Map)) return none('bad_line');
  const members = parsed.value as JsonObject;
  const [verb, ...others] = VERBS.filter((candidate) => members.has(candidate));
  const isUnclear = others.length > 0 || members.size > (members.has('key') ? 2 : 1);
  const param = verb === undefined ? null : members.get(verb);
  if (verb === undefined || isUnclear || !(param instanceof Map)) return none('bad_line');
  if (verb === 'delete') {
    const { primaryKey, revision } = parseKey(app, param as JsonObject, problems);
    return { edit: { kind: 'delete', primaryKey, revision }, problems, named: [] };
  }
  const key = members.get('key');
  const keyField =
    key === undefined
      ? app.primaryKey
      : app.fields.find((field) => field.id === key && (field.unique || field === app.primaryKey));
  if (keyField === undefined) return none('bad_key', { at: 'key', sent: shown(String(key)) });
  const options = { mode: MODES[verb], keyField, parts: [], onlyRows: false, emptiesAbsent: verb === 'update' };
  const { named, ...put } = parsePut(app, param as JsonObject, options, problems);
  const files =
    named.length === 0 ? null : { added: [], rows: [], named: new Map(named.map(({ at, fileId }) => [at, fileId])) };
  return { edit: { kind: 'put', ...put, files }, problems, named };
}

const MODES = { insert: 'insert', update: 'update', merge: 'update', upsert: 'upsert' } as const satisfies Record<
  Exclude<Verb, 'delete'>,
  Put['mode']
>;

function problemsOf(app: App, { edit, problems }: Asked, result: Written | null): readonly Problem[] {
  if (problems.length > 0 || edit === null || result === null) return problems;
  try {
    if (result.kind === 'stale') return [];
    writtenOrRefused(result, app, edit.kind === 'put' ? (edit.key?.value ?? '') : edit.primaryKey, edit.revision);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.problems;
    throw error;
  }
}

function answerOf(app: App, asked: Asked, result: Written | null, lang: Call['lang']): string {
  const problems = problemsOf(app, asked, result);
  if (problems.length > 0)
    return `${renderRefusedLine(
      problems.map((problem) => messageOf(problem, lang)),
      problems[0]?.code ?? '',
    )}\n`;
  if (result?.kind !== 'updated') return `${renderDone('')}\n`;
  return `${renderUpdated(keyEntry(app, result.entries), faultNotes(result.faults, lang))}\n`;
}

/** Of the entries only the primary key, which tells a new record's number. */
function keyEntry({ primaryKey: { id } }: App, entries: string): string {
  const start = entries.indexOf(`"${id}":{"type":"id"`);
  const entry = /^"[^"]+":\{"type":"id","value":"(?:[^"\\]|\\.)*"\}/.exec(entries.slice(start));
  return entry?.[0] ?? '';
}

function currentApp(store: Store, { app }: RegisteredApp): RegisteredApp {
  const current = store.catalog().apps.get(app.code);
  if (current === undefined) throw new Refusal([{ code: 'bad_credentials' }]);
  return current;
}
