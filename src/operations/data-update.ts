// POST {base_url}/webapi/v1/data/update: updates one record of an app (spec 4.2).
import { renderUpdated } from '../envelope/envelope.ts';
import { type Problem, Refusal } from '../errors.ts';
import type { FileStore } from '../files/file-store.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store/store.ts';
import { type Change, UPDATE_MODES, type UpdateMode } from '../update/change.ts';
import { type ParsedChange, parseChange } from '../update/parse.ts';
import { type PartTarget, parseParts } from '../update/parts.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { judgedNow } from './judged-now.ts';
import { findNamed } from './name-files.ts';
import { type Call, checkLang, type Form, oneOf, parseParam, requestedLang, required } from './request.ts';
import { keepFiles, type TakenFiles, takenFiles } from './take-files.ts';
import { writtenOrRefused } from './written.ts';

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

/**
 * Whether an update has the credentials for its files to be taken in: refuses it where they do not allow it, false where they have
 * not come yet.
 */
export async function admitUpdate(store: Store, form: Form, call: Call): Promise<boolean> {
  call.lang = requestedLang(form) ?? call.lang;
  if (!form.get('appcode') || !form.get('appkey')) return false;
  await judgedNow(store, call, async () => authenticate(store, form, 'update', call));
  return true;
}

async function updateRecord(store: Store, form: Form, call: Call, taken: TakenFiles): Promise<Answer> {
  const { problems } = call;
  const { param, mode } = parseRequest(form, problems);
  const { registered, caller } = authenticate(store, form, 'update', call);
  if (param === null) throw new Refusal(problems);
  const parts = call.uploads.map(({ part }) => part);
  const targets = parts.length === 0 ? [] : parseParts(registered.app, parts, problems);
  const parsed = parseChange(registered.app, param, mode, targets, problems);
  const values = new Map(parsed.values);
  const named = Array.from(parsed.named, ([field, fileId]) => {
    return { at: field.id, field, fileId, set: (value: string) => void values.set(field.id, value) };
  });
  if ((await findNamed(store, registered, named, problems)) === 'stale') return updateRecord(store, form, call, taken);
  if (targets.length > 0) await taken.judge(targets, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const change = await withFiles(parsed, values, targets, taken);
  const updated = await store.update(registered, change, caller.id);
  if (updated.kind === 'stale') return updateRecord(store, form, call, taken);
  const { entries } = writtenOrRefused(updated, registered.app, change.primaryKey, change.revision);
  if (targets.length > 0) await taken.confirm();
  return { kind: 'text', text: renderUpdated(entries) };
}

function parseRequest(form: Form, problems: Problem[]): { param: JsonObject | null; mode: UpdateMode } {
  required(form, 'appcode', problems);
  required(form, 'appkey', problems);
  checkLang(form, problems);
  const mode = oneOf(form, 'mode', UPDATE_MODES, 'bad_mode', problems) ?? 'replace';
  const text = required(form, 'param', problems);
  return { param: text === '' ? null : parseParam(text, problems), mode };
}

/** The change with the files that it brings, which are in the file store then. */
async function withFiles(
  { primaryKey, revision, named }: ParsedChange,
  values: Map<string, string>,
  targets: readonly PartTarget[],
  taken: TakenFiles,
): Promise<Change> {
  if (named.size === 0 && targets.length === 0) return { primaryKey, revision, values, files: null };
  const { added, rows } = await keepFiles(targets, taken, values);
  return {
    ...{ primaryKey, revision, values },
    files: { added, rows, named: new Map(Array.from(named, ([{ id }, fileId]) => [id, fileId])) },
  };
}
