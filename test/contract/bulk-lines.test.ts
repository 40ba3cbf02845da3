// Lines of one bulk request that depend on each other (D39): what one after the other, each in a request of its own, would do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { openWebhooks, WEBHOOK_EVENTS } from '../../src/store/webhooks.ts';
import { engineInUse } from '../harness/fresh-register.ts';
import { entries, type Opened, openApp } from '../spec/opened.ts';

const definition = (code: string) => `
code: ${code}
fields:
  - { id: t_primarykey, type: id, search: exact }
  - { id: name, type: text, search: partial }
  - { id: mail, type: text, search: exact, unique: true }
  - { id: count, type: number, unique: true }
  - { id: no, type: auto_number, format: "N-{000}", unique: true }
  - { id: scan, type: file }
  - { id: sum, type: calculation, formula: "sum(amount)", search: exact }
tables:
  - { code: parts, fields: [{ id: word, type: text, search: partial }, { id: amount, type: number, default: 2 }] }
`;

/** Two apps that are alike: T gets lines together, E each in a request of its own. */
const CODES = ['T', 'E'] as const;
type Code = (typeof CODES)[number];

let opened: Opened;
const keys = new Map<Code, string>();
const files = new Map<Code, string>();
/** Edits by themselves: none, unless a batch was undone. */
let alone = 0;

before(async () => {
  opened = await openApp(definition('T'), []);
  const { running } = opened;
  await running.define(definition('E'));
  const place =
    engineInUse() === 'sqlite'
      ? { dataDir: running.place, databaseUrl: '' }
      : { dataDir: '', databaseUrl: running.place };
  const webhooks = await openWebhooks(place);
  for (const code of CODES) {
    await webhooks.add(code, { events: WEBHOOK_EVENTS, url: 'https://a.example/', secret: 'secret of some length' });
    keys.set(code, await running.key(code, 'yamada'));
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...credentials(code), param: '{}' })) form.set(name, value);
    form.set('scan', new File(['中身'], '書.txt'));
    const { json, text } = await running.post('/webapi/x1/data/insert', form);
    files.set(code, json.scan?.value ?? assert.fail(text));
  }
  await webhooks.close();
  const edit = running.store.edit.bind(running.store);
  running.store.edit = (...asked) => {
    alone++;
    return edit(...asked);
  };
});
after(() => opened.running.close());

const credentials = (appcode: Code) => ({ appcode, appkey: keys.get(appcode) as string });

/** A line as JSON, in which FILE stands for a file of the app; `key` is the primary key. */
function line(
  verb: string,
  { key, ...values }: Record<string, string>,
  more: object = {},
  beside: object = {},
): string {
  const keyed = key === undefined ? values : { t_primarykey: key, ...values };
  return JSON.stringify({ [verb]: { ...entries(keyed), ...more }, ...beside });
}

async function bulk(code: Code, lines: readonly string[], more: Record<string, string> = {}): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...credentials(code), lang: 'en', ...more })) form.set(name, value);
  form.set('lines', new Blob([lines.join('\n').replaceAll('FILE', files.get(code) as string)]), 'lines.ndjson');
  return (await fetch(`${opened.running.url}/webapi/x1/data/bulk`, { method: 'POST', body: form })).text();
}

const together = (lines: readonly string[]): Promise<string> => bulk('T', lines);

async function oneByOne(lines: readonly string[]): Promise<string> {
  let answers = '';
  for (const each of lines) answers += await bulk('E', [each]);
  return answers;
}

/** Everything that is stored of an app, but for its moments and the name of its file. */
async function stateOf(code: Code): Promise<readonly string[]> {
  const { register, query } = opened.running;
  const app = register.catalog().apps.get(code) ?? assert.fail();
  const name = `app_${app.id}_${app.generation}`;
  const texts = [
    `select * from "${name}" order by pms_seq`,
    `select pms_record, pms_row, pms_answer from "${name}_t1" order by pms_record, pms_row`,
    `select record, revision, user_id, version from "app_${app.id}_history" order by record, revision`,
    `select event, place, revision, record, user_id from deliveries where app_id = ${app.id} order by id`,
    `select name, next from counters where app_id = ${app.id} and next > 1 order by name`,
  ];
  const state: string[] = [];
  for (const text of texts) for (const row of await query(text)) state.push(normal(code, row.map(String).join(' | ')));
  return state;
}

function normal(code: Code, text: string): string {
  return text
    .replaceAll(files.get(code) as string, 'FILE')
    .replace(/\d{4}([-/])\d\d\1\d\d.\d\d:\d\d(?::\d\d)?/g, 'NOW');
}

/** Does the lines both ways; gives their codes, `OK` and `gone` for what is done and deleted, with the keys of new records. */
async function bothWays(lines: readonly string[]): Promise<string[]> {
  const [answers, expected] = [await together(lines), await oneByOne(lines)];
  assert.equal(normal('T', answers), normal('E', expected), lines.join('\n'));
  assert.deepEqual(await stateOf('T'), await stateOf('E'), lines.join('\n'));
  assert.equal(alone, 0, 'no batch had to be done again, line by line');
  return answers
    .trimEnd()
    .split('\n')
    .map((answer) => JSON.parse(answer))
    .map(({ code, t_primarykey: key }) => code ?? key?.value ?? 'gone');
}

test('bulk: one key put in, changed, deleted and put in again, with every line seeing those before it', async () => {
  const codes = await bothWays([
    line('insert', { key: 'a', name: '一' }),
    line('insert', { key: 'a', name: '又' }),
    line('merge', { key: 'a', name: '二', pms_revision: '1' }),
    line('merge', { key: 'a', name: '三', pms_revision: '1' }),
    line('delete', { key: 'a', pms_revision: '1' }),
    line('delete', { key: 'a' }),
    line('update', { key: 'a', name: '無' }),
    line('insert', { key: 'a', name: '四' }),
    line('upsert', { key: 'a', name: '五' }),
  ]);
  assert.deepEqual(codes, [
    ...['a', 'record_exists', 'a', 'revision_conflict', 'revision_conflict'],
    ...['gone', 'unknown_record', 'a', 'a'],
  ]);
  assert.equal(await opened.find({ name: '五' }), 'a');
});

test('bulk: a value of a unique field goes from one record to another, and is refused while another has it', async () => {
  const codes = await bothWays([
    line('insert', { key: 'u1', mail: 'x', count: '1' }),
    line('insert', { key: 'u2', mail: 'x' }),
    line('insert', { key: 'u2', count: '1.0' }),
    line('insert', { key: 'u2', mail: 'y', count: '2' }),
    // They change places by way of a third value.
    line('merge', { key: 'u1', mail: 'y' }),
    line('merge', { key: 'u1', mail: 'z' }),
    line('merge', { key: 'u2', mail: 'x' }),
    line('merge', { key: 'u1', mail: 'y' }),
    line('delete', { key: 'u2' }),
    line('insert', { key: 'u3', mail: 'x', count: '2.0' }),
    line('merge', { key: 'u1', mail: '' }),
    line('upsert', { mail: 'y', name: '新' }, {}, { key: 'mail' }),
  ]);
  const n = codes.pop() as string;
  assert.deepEqual(codes, [
    ...['u1', 'not_unique', 'not_unique', 'u2', 'not_unique', 'u1', 'u2', 'u1'],
    ...['gone', 'u3', 'u1'],
  ]);
  assert.deepEqual(
    [await opened.find({ mail: 'x' }), await opened.find({ mail: 'y' }), await opened.find({ mail: 'z' })],
    ['u3', n, ''],
  );
});

test('bulk: a record is found by the unique value that a line before gave it', async () => {
  const codes = await bothWays([
    line('upsert', { mail: 'f', name: '一' }, {}, { key: 'mail' }),
    line('upsert', { mail: 'f', name: '二' }, {}, { key: 'mail' }),
    line('merge', { mail: 'f', count: '77' }, {}, { key: 'mail' }),
    line('merge', { count: '77.0', mail: 'g' }, {}, { key: 'count' }),
    line('merge', { mail: 'f', name: '三' }, {}, { key: 'mail' }),
    line('upsert', { mail: 'g', name: '四' }, {}, { key: 'mail' }),
  ]);
  const [first] = codes;
  assert.deepEqual(codes, [first, first, first, first, 'unknown_record', first]);
  assert.equal(await opened.find({ name: '四' }), first);
});

test('bulk: a refused line takes no number, and the next goes on where the last that was done ended', async () => {
  const codes = await bothWays([
    line('insert', { name: '一', mail: 'n1' }),
    line('insert', { name: '拒', mail: 'n1' }),
    line('insert', { name: '拒', mail: 'n1' }),
    line('insert', { name: '二' }),
    line('insert', { key: '900' }),
    line('insert', { key: '900' }),
    line('insert', { name: '三' }),
    line('delete', { key: '900' }),
    line('insert', { key: '900' }),
    line('insert', { name: '四' }),
  ]);
  const first = Number(codes[0]);
  assert.deepEqual(codes, [
    ...[String(first), 'not_unique', 'not_unique', String(first + 1), '900', 'record_exists', '901'],
    ...['gone', '900', '902'],
  ]);
  const numbers = await Promise.all(
    [codes[0], '901', '902'].map(async (key) => (await opened.record(key ?? '')).no.value),
  );
  const [from] = numbers.map((value: string) => Number(value.slice(2)));
  assert.deepEqual(
    numbers,
    [0, 3, 5].map((n) => `N-${String((from ?? 0) + n).padStart(3, '0')}`),
  );
});

test('bulk: rows and files of records that come, change and go within one request', async () => {
  const parts = (...rows: Record<string, string>[]) => ({ parts: rows.map(entries) });
  const codes = await bothWays([
    line('insert', { key: 'r', scan: 'FILE' }, parts({ word: '甲', amount: '3' }, { word: '乙' })),
    line('merge', { key: 'r' }, parts({ pms_row: '2' }, { pms_row: '1', word: '丙' }, { word: '丁' })),
    line('merge', { key: 'r' }, parts({ pms_row: '4', word: '無' })),
    line('insert', { key: 's', scan: 'nowhere' }),
    line('insert', { key: 's', scan: 'FILE' }, parts({ word: '戊' })),
    line('merge', { key: 'r', scan: '' }, parts()),
    line('delete', { key: 's' }),
    line('insert', { key: 's' }, parts({ word: '己', amount: '7' })),
  ]);
  assert.deepEqual(codes, ['r', 'r', 'unknown_row', 'unknown_file', 's', 'r', 'gone', 's']);
  assert.equal((await opened.record('s')).sum?.value, '7');
  assert.equal(await opened.find({ parts: { word: '丙' } }), '');
});

test('bulk: long values are done as short ones are', async () => {
  const long = (n: number) => `${n} ${'長い文'.repeat(60_000)}`;
  const lines = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => line('insert', { key: `long ${n}`, name: long(n) }));
  const answers = (await bulk('T', lines)).trimEnd().split('\n');
  assert.deepEqual(
    answers.map((answer) => JSON.parse(answer).t_primarykey?.value),
    lines.map((_, index) => `long ${index + 1}`),
  );
  assert.equal(await opened.find({ name: '9 長い' }), 'long 9');
  const gone = await bulk(
    'T',
    lines.map((_, index) => line('delete', { key: `long ${index + 1}` })),
  );
  assert.equal(gone.match(/"OK"/g)?.length, lines.length);
  await oneByOne([...lines, ...lines.map((_, index) => line('delete', { key: `long ${index + 1}` }))]);
});

const absent = undefined;
const some = <T>(...values: T[]) => fc.constantFrom(...values);
const rows = some(
  absent,
  absent,
  [],
  [{ word: '行' }],
  [{ pms_row: '1', amount: '5' }],
  [{ word: '一' }, { pms_row: '2' }],
);

/** Lines about few records and few values, so that they meet. */
const anyLine = fc
  .record({
    verb: some('insert', 'insert', 'update', 'merge', 'merge', 'upsert', 'upsert', 'delete', 'delete'),
    by: some('key', 'key', 'key', 'mail', 'count'),
    key: some(absent, absent, '1', '2', '3', 'p', 'q', 'r'),
    name: some(absent, '名', '別名'),
    mail: some(absent, absent, 'v', 'w', ''),
    count: some(absent, absent, '5', '5.0', '6', ''),
    scan: some(absent, absent, absent, 'FILE', ''),
    revision: some(absent, absent, absent, absent, '1', '2'),
    rows,
  })
  .map(({ verb, by, rows: of, revision, key, ...others }) => {
    const values = { key, pms_revision: revision, ...(verb === 'delete' ? {} : others) };
    const given = Object.fromEntries(
      Object.entries(values).flatMap(([id, value]) => (value === absent ? [] : [[id, value]])),
    );
    const parts = of === absent || verb === 'delete' ? {} : { parts: of.map(entries) };
    return line(verb, given, parts, by === 'key' || verb === 'delete' ? {} : { key: by });
  });

test('bulk: whatever lines ask for in one request, they do what each does in its own', async () => {
  const property = fc.asyncProperty(fc.array(anyLine, { minLength: 4, maxLength: 24, size: 'max' }), async (lines) => {
    await bothWays(lines);
  });
  // What one run leaves is what the next begins with: a smaller one would not say more.
  await fc.assert(property, { numRuns: Number(process.env.PROPERTY_RUNS ?? 12), endOnFailure: true });
  assert.deepEqual(await opened.running.register.check([...CODES], () => {}), []);
});

test('bulk: with atomic=1 lines that all can be done are, and otherwise none', async () => {
  const lines = [
    line('insert', { key: 'm1', mail: 'm' }),
    line('delete', { key: 'm1' }),
    line('insert', { key: 'm2', mail: 'm' }),
    line('merge', { key: 'm2', mail: 'o' }),
    line('upsert', { mail: 'm' }, {}, { key: 'mail' }),
  ];
  const before = await stateOf('T');
  const refused = JSON.parse(await bulk('T', [...lines, line('insert', { mail: 'o' })], { atomic: '1' }));
  assert.equal(refused.rkwa_status, 'NG');
  assert.match(refused.rkwa_errmsg[0], /^Line 6: .*mail/);
  assert.deepEqual(await stateOf('T'), before);
  const done = await bulk('T', lines, { atomic: '1' });
  assert.equal(normal('T', done), normal('E', await oneByOne(lines)));
  assert.deepEqual(await stateOf('T'), await stateOf('E'));
});

test('bulk: several requests and updates about the same few records at once leave nothing that disagrees', async () => {
  const bulks = [1, 2, 3, 4].map((seed) => fc.sample(anyLine, { numRuns: 60, seed }));
  const updates = Array.from({ length: 40 }, (_, n) =>
    opened.update(entries({ t_primarykey: 'pqr123'[n % 6] ?? '', mail: 'vwx'[n % 3] ?? '' }), { mode: 'merge' }),
  );
  const answers = await Promise.all(bulks.map((lines) => bulk('T', lines)));
  const codes = answers.flatMap((answer) => answer.trimEnd().split('\n')).map((answer) => JSON.parse(answer).code);
  assert.equal(codes.length, 240);
  assert.deepEqual(
    codes.filter((code) => code === 'unavailable' || code === 'internal_error'),
    [],
  );
  for (const { status, text } of await Promise.all(updates)) assert.ok(status < 500, text);
  assert.deepEqual(await opened.running.register.check(['T'], () => {}), []);
});
