// POST {base_url}/webapi/x1/data/delete and data/restore: takes a record out, and brings it back (D39).

import type { Right } from '../auth/policy.ts';
import { renderDone, renderUpdated } from '../envelope/envelope.ts';
import { type Problem, Refusal } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Edit } from '../update/edit.ts';
import { parseKey } from '../update/parse-edit.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { judgedNow } from './judged-now.ts';
import { type Call, checkLang, type Form, parseParam, required, shown } from './request.ts';
import { writtenOrRefused } from './written.ts';

/** Answers once the record is gone; it can be restored while its history is kept. */
export function dataDelete(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, () =>
    editRecord(store, form, call, 'update', ({ primaryKey, revision }) => ({ kind: 'delete', primaryKey, revision })),
  );
}

/** Answers with the record once it is what it was at a version, or is back; for administrators of the app. */
export function dataRestore(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, () => {
    const version = versionOf(form, call.problems);
    return editRecord(store, form, call, 'administer', ({ primaryKey, revision }) => ({
      ...{ kind: 'restore', primaryKey, revision, version },
    }));
  });
}

async function editRecord(
  store: Store,
  form: Form,
  call: Call,
  right: Right,
  editOf: (key: ReturnType<typeof parseKey>) => Edit,
): Promise<Answer> {
  const { problems } = call;
  checkLang(form, problems);
  const text = required(form, 'param', problems);
  const param = text === '' ? null : parseParam(text, problems);
  const { registered, caller } = authenticate(store, form, right, call);
  if (param === null) throw new Refusal(problems);
  const key = parseKey(registered.app, param, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const written = await store.edit(registered, editOf(key), caller.id);
  if (written.kind === 'stale') return editRecord(store, form, call, right, editOf);
  const { entries } = writtenOrRefused(written, registered.app, key.primaryKey, key.revision);
  return { kind: 'text', text: entries === '' ? renderDone('') : renderUpdated(entries) };
}

function versionOf(form: Form, problems: Problem[]): number | null {
  const sent = form.get('version') ?? '';
  if (sent === '') return null;
  if (/^[1-9]\d{0,8}$/.test(sent)) return Number(sent);
  problems.push({ code: 'bad_version', at: 'version', sent: shown(sent) });
  return null;
}
