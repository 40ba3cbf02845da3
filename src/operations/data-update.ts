// POST {base_url}/webapi/v1/data/update: updates one record of an app (spec 4.2).
import type { Field } from '../app/app.ts';
import { renderUpdated } from '../envelope/envelope.ts';
import { type Problem, Refusal, refuse } from '../errors.ts';
import { isStorable } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';
import { fileValue, isFileId, isImage } from '../fields/file.ts';
import type { FileStore } from '../files/file-store.ts';
import type { JsonObject } from '../json.ts';
import type { RegisteredApp, Store, StoredFile } from '../store/store.ts';
import { type Change, type NewFile, type RowFile, UPDATE_MODES, type UpdateMode } from '../update/change.ts';
import { type ParsedChange, parseChange } from '../update/parse.ts';
import { type PartTarget, parseParts } from '../update/parts.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { judgedNow } from './judged-now.ts';
import { type Call, checkLang, type Form, oneOf, parseParam, required, shown } from './request.ts';
import { type TakenFiles, takenFiles } from './take-files.ts';

/** Where an update's files go. */
export interface UpdateOptions {
  readonly files: FileStore;
  /** Image fields take SVG too. */
  readonly svgImages: boolean;
}

/** Answers an update once it is durable, or throws the Refusal of its problems, with nothing changed. */
export function dataUpdate(store: Store, form: Form, call: Call, options: UpdateOptions): Promise<Answer> {
  const taken = takenFiles(options.files, call.uploads, options.svgImages);
  return judgedNow(store, call, () => updateRecord(store, form, call, taken));
}

/** Refuses an update that its credentials do not allow before its files are taken in; without them it is judged later. */
export async function admitUpdate(store: Store, form: Form, call: Call): Promise<void> {
  if (!form.get('appcode') || !form.get('appkey')) return;
  await judgedNow(store, call, async () => authenticate(store, form, 'update', call));
}

async function updateRecord(store: Store, form: Form, call: Call, taken: TakenFiles): Promise<Answer> {
  const { problems } = call;
  const { param, mode } = parseRequest(form, problems);
  const { registered, caller } = authenticate(store, form, 'update', call);
  if (param === null) throw new Refusal(problems);
  const parts = call.uploads.map(({ part }) => part);
  const targets = parts.length === 0 ? [] : parseParts(registered.app, parts, problems);
  const parsed = parseChange(registered.app, param, mode, targets, problems);
  const named = parsed.named.size === 0 ? NO_FILES : await findNamed(store, registered, parsed, problems);
  if (named === 'stale') return updateRecord(store, form, call, taken);
  if (targets.length > 0) await taken.judge(targets, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const change = await withFiles(parsed, named, targets, taken);
  const updated = await store.update(registered, change, caller.id);
  switch (updated.kind) {
    case 'stale':
      return updateRecord(store, form, call, taken);
    case 'unknown_record':
      throw refuse('unknown_record', { at: registered.app.primaryKey.id, sent: shown(change.primaryKey) });
    case 'revision_conflict':
      throw refuse('revision_conflict', {
        at: 'pms_revision',
        sent: shown(change.revision ?? ''),
        limit: updated.revision,
      });
    case 'refused':
      throw new Refusal(updated.problems);
    case 'updated':
      if (targets.length > 0) await taken.confirm();
      return { kind: 'text', text: renderUpdated(updated.entries) };
  }
}

function parseRequest(form: Form, problems: Problem[]): { param: JsonObject | null; mode: UpdateMode } {
  required(form, 'appcode', problems);
  required(form, 'appkey', problems);
  checkLang(form, problems);
  const mode = oneOf(form, 'mode', UPDATE_MODES, 'bad_mode', problems) ?? 'replace';
  const text = required(form, 'param', problems);
  return { param: text === '' ? null : parseParam(text, problems), mode };
}

type FoundFiles = ReadonlyMap<string, StoredFile>;
const NO_FILES: FoundFiles = new Map();

/** The files that the values name, by ID; one that the app does not have is a problem (D26, D28). */
async function findNamed(
  store: Store,
  registered: RegisteredApp,
  { named }: ParsedChange,
  problems: Problem[],
): Promise<FoundFiles | 'stale'> {
  // What cannot be the ID of a file may be what no database takes.
  const found = await store.files(registered, [...new Set(named.values())].filter(isFileId));
  if (found === 'stale') return found;
  for (const [at, id] of named) {
    const file = found.get(id);
    const field = registered.app.fields.find((candidate) => candidate.id === at) as Field;
    if (file === undefined) {
      problems.push({ code: isStorable(id) ? 'unknown_file' : 'bad_character', at, sent: shown(id) });
    } else if (typeOf(field).holds === 'image' && !isImage(file))
      problems.push({ code: 'not_an_image', at, sent: file.id });
  }
  return found;
}

/** The change with its files: those it names, and those it brings, which are in the file store then. */
async function withFiles(
  { primaryKey, revision, values: parsed, named }: ParsedChange,
  found: FoundFiles,
  targets: readonly PartTarget[],
  taken: TakenFiles,
): Promise<Change> {
  if (named.size === 0 && targets.length === 0) return { primaryKey, revision, values: parsed, files: null };
  const values = new Map(parsed);
  for (const [fieldId, id] of named) values.set(fieldId, fileValue(found.get(id) as StoredFile));
  const added: NewFile[] = [];
  const rows: RowFile[] = [];
  for (const target of targets) {
    const { part, field, row } = target;
    const file = await taken.keep(target);
    added.push(file);
    const value = fileValue(file);
    if (row === null) values.set(field.id, value);
    else rows.push({ part, tableCode: row.tableCode, fieldId: field.id, row: row.number, value });
  }
  return { primaryKey, revision, values, files: { added, rows, named } };
}
