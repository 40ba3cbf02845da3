// POST {base_url}/webapi/v1/data/update: updates one record of an app (spec 4.2).
import { renderUpdated } from '../envelope/envelope.ts';
import { type Problem, Refusal, refuse } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store/store.ts';
import { UPDATE_MODES, type UpdateMode } from '../update/change.ts';
import { parseChange } from '../update/parse.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { judgedNow } from './judged-now.ts';
import { type Call, checkLang, type Form, oneOf, parseParam, required, shown } from './request.ts';

/** Answers an update once it is durable, or throws the Refusal of its problems, with nothing changed. */
export function dataUpdate(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, () => updateRecord(store, form, call));
}

async function updateRecord(store: Store, form: Form, call: Call): Promise<Answer> {
  const { param, mode } = parseRequest(form, call.problems);
  const { registered, caller } = authenticate(store, form, 'update', call);
  const change = param === null ? [] : parseChange(registered.app, param, mode);
  if (!('primaryKey' in change)) throw new Refusal([...call.problems, ...change]);
  if (call.problems.length > 0) throw new Refusal(call.problems);
  const updated = await store.update(registered, change, caller.id);
  switch (updated.kind) {
    case 'stale':
      return updateRecord(store, form, call);
    case 'unknown_record':
      throw refuse('unknown_record', { at: registered.app.primaryKey.id, sent: shown(change.primaryKey) });
    case 'revision_conflict':
      throw refuse('revision_conflict', {
        at: 'pms_revision',
        sent: shown(change.revision ?? ''),
        limit: updated.revision,
      });
    case 'updated':
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
