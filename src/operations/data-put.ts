// POST {base_url}/webapi/x1/data/insert, data/upsert and table/update: a record put in or changed as on a form (D39).
import type { App, Field } from '../app/app.ts';
import { renderUpdated } from '../envelope/envelope.ts';
import { revisionEntry } from '../envelope/record.ts';
import { type Problem, Refusal } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Put } from '../update/edit.ts';
import { type ParsedPut, parsePut } from '../update/parse-edit.ts';
import { type PartTarget, parseParts } from '../update/parts.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import type { UpdateOptions } from './data-update.ts';
import { judgedNow } from './judged-now.ts';
import { findNamed } from './name-files.ts';
import { type Call, checkLang, type Form, oneOf, parseParam, required, shown } from './request.ts';
import { keepFiles, type TakenFiles, takenFiles } from './take-files.ts';
import { faultNotes, writtenOrRefused } from './written.ts';

/** What is put: a new record, a new or an existing one, or rows of an existing one's tables. */
export type PutKind = 'insert' | 'upsert' | 'rows';

/** Answers with the record once it is durable, or throws the Refusal of its problems, with nothing changed. */
export function dataPut(store: Store, form: Form, call: Call, options: UpdateOptions, kind: PutKind): Promise<Answer> {
  const taken = takenFiles(options.files, call.uploads, options.svgImages);
  return judgedNow(store, call, () => putRecord(store, form, call, taken, kind));
}

async function putRecord(store: Store, form: Form, call: Call, taken: TakenFiles, kind: PutKind): Promise<Answer> {
  const { problems } = call;
  checkLang(form, problems);
  const withRevision = oneOf(form, 'revision', ['0', '1'], 'bad_revision', problems) === '1';
  const text = required(form, 'param', problems);
  const param = text === '' ? null : parseParam(text, problems);
  const { registered, caller } = authenticate(store, form, 'update', call);
  const { app } = registered;
  const keyField = keyFieldOf(app, kind === 'upsert' ? (form.get('key') ?? '') : '', problems);
  if (param === null) throw new Refusal(problems);
  const parts = parseParts(
    app,
    call.uploads.map(({ part }) => part),
    problems,
  );
  const mode = kind === 'rows' ? 'update' : kind;
  const parsed = parsePut(
    app,
    param,
    { mode, keyField, parts, onlyRows: kind === 'rows', emptiesAbsent: false },
    problems,
  );
  if (kind === 'rows') refuseOther(app, parsed, parts, problems);
  if ((await findNamed(store, registered, parsed.named, problems)) === 'stale') {
    return putRecord(store, form, call, taken, kind);
  }
  await taken.judge(parts, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const put = await withFiles(parsed, parts, taken);
  const written = await store.edit(registered, put, caller.id);
  if (written.kind === 'stale') return putRecord(store, form, call, taken, kind);
  const { entries, revision, faults } = writtenOrRefused(written, app, put.key?.value ?? '', put.revision);
  await taken.confirm();
  return {
    kind: 'text',
    text: renderUpdated(
      withRevision ? `${entries},${revisionEntry(revision ?? 0)}` : entries,
      faultNotes(faults, call.lang),
    ),
  };
}

/** The field that says which record: the primary key, or the unique one that is asked for. */
function keyFieldOf({ fields, primaryKey }: App, asked: string, problems: Problem[]): Field {
  if (asked === '') return primaryKey;
  const field = fields.find(({ id }) => id === asked);
  if (field !== undefined && (field === primaryKey || field.unique)) return field;
  problems.push({ code: 'bad_key', at: 'key', sent: shown(asked) });
  return primaryKey;
}

/** Rows are what table/update is for: files of the form are refused, and no rows at all. */
function refuseOther({ tables }: App, parsed: ParsedPut, parts: readonly PartTarget[], problems: Problem[]): void {
  for (const { part, row } of parts) if (row === null) problems.push({ code: 'file_part_refused', at: shown(part) });
  if (parsed.tables.size > 0 || parts.length > 0) return;
  problems.push({ code: 'rows_not_array', ...(tables[0] && { at: tables[0].code }) });
}

async function withFiles(
  { named, ...parsed }: ParsedPut,
  parts: readonly PartTarget[],
  taken: TakenFiles,
): Promise<Put> {
  const values = new Map(parsed.values);
  const { added, rows } = await keepFiles(parts, taken, values);
  const files =
    added.length === 0 && named.length === 0
      ? null
      : { added, rows, named: new Map(named.map(({ at, fileId }) => [at, fileId])) };
  return { kind: 'put', ...parsed, values, files };
}
