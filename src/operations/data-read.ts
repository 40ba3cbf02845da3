// POST {base_url}/webapi/x1/data/get, data/history, dataset/count and app/definition: what clients read beside a search (D39).
import type { App, Field } from '../app/app.ts';
import { renderDone, renderUpdated } from '../envelope/envelope.ts';
import { revisionEntry, wholeRenderer } from '../envelope/record.ts';
import { Refusal, refuse } from '../errors.ts';
import type { RenderContext } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';
import { layoutOf } from '../sql/layout.ts';
import type { RegisteredApp, Store } from '../store/store.ts';
import {
  isDeletion,
  type KeptVersion,
  type RecordHistory,
  type RecordState,
  statesBack,
  type WholeRecord,
} from '../store/versions.ts';
import { parseKey } from '../update/parse-edit.ts';
import type { Answer } from './answer.ts';
import { type Authenticated, authenticate } from './authenticate.ts';
import { parseSearch } from './dataset-search.ts';
import { judgedNow } from './judged-now.ts';
import { type Call, checkLang, type Form, oneOf, parseParam, required, shown } from './request.ts';

/** One record by its primary key, with all of its fields and rows; `revision=1` adds its revision. */
export function dataGet(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, () => getRecord(store, form, call));
}

async function getRecord(store: Store, form: Form, call: Call): Promise<Answer> {
  const withRevision = oneOf(form, 'revision', ['0', '1'], 'bad_revision', call.problems) === '1';
  const { authenticated, primaryKey } = keyed(store, form, call);
  const { registered } = authenticated;
  const record = await store.record(registered, primaryKey);
  if (record === 'stale') return getRecord(store, form, call);
  if (record === null) throw unknownRecord(registered, primaryKey);
  const entries = wholeRenderer(registered.app)(record, namesOf(store));
  const revision = withRevision ? `,${revisionEntry(record.revision)}` : '';
  return { kind: 'text', text: renderUpdated(entries + revision) };
}

/** Most versions in one answer. */
const MOST_VERSIONS = 10_000;

/** The versions of a record, the newest first; deleted ones have theirs too. */
export function dataHistory(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, () => getHistory(store, form, call));
}

async function getHistory(store: Store, form: Form, call: Call): Promise<Answer> {
  const limit = wholeNumber(form, 'limit', MOST_VERSIONS, call) ?? 100;
  const before = wholeNumber(form, 'after', Number.MAX_SAFE_INTEGER, call);
  const { authenticated, primaryKey } = keyed(store, form, call);
  const { registered } = authenticated;
  const history = await store.history(registered, primaryKey);
  if (history === 'stale') return getHistory(store, form, call);
  if (history === null) throw unknownRecord(registered, primaryKey);
  return { kind: 'text', text: renderDone(renderHistory(store, registered, history, limit, before)) };
}

function renderHistory(
  store: Store,
  { app, id, generation }: RegisteredApp,
  history: RecordHistory,
  limit: number,
  before: number | null,
): string {
  const names = namesOf(store);
  const render = wholeRenderer(app);
  const items: string[] = [];
  let shown = 0;
  let next: string | null = null;
  let later: RecordState | null = null;
  // What changed is known when the state before is there.
  const show = ({ record, version }: RecordState, previous: RecordState | null): void => {
    if (version !== null && isDeletion(version)) items.push(deletionItem(version, names));
    const changed = JSON.stringify(previous === null ? [] : changedBetween(app, previous.record, record));
    items.push(
      `{"action":"${actionOf(record, previous)}",${revisionEntry(record.revision)},"changed":${changed},"record":{${render(record, names)}}}`,
    );
    shown++;
  };
  for (const state of statesBack(layoutOf(app, id, generation), history)) {
    if (before !== null && state.record.revision >= before) continue;
    if (later !== null) show(later, state);
    if (shown === limit) {
      next = String(later?.record.revision);
      later = null;
      break;
    }
    later = state;
  }
  if (later !== null) show(later, null);
  return `"history":[${items.join(',')}],"next":${JSON.stringify(next)}`;
}

/** What made a state of a record of the one before; null where that is not kept. */
function actionOf({ revision }: WholeRecord, previous: RecordState | null): 'insert' | 'update' | 'restore' {
  if (previous === null) return revision === 1 ? 'insert' : 'update';
  return previous.version !== null && isDeletion(previous.version) ? 'restore' : 'update';
}

/** Who deleted the record with a version, and when. */
function deletionItem({ revision, userId, at }: KeptVersion, { userName }: RenderContext): string {
  const user = JSON.stringify({ id: userId, name: userName(userId) });
  return `{"action":"delete",${revisionEntry(revision)},"pms_u_usr":{"type":"pms_u_usr","value":${user}},"pms_u_ymd":{"type":"pms_u_ymd","value":"${at}"},"changed":[]}`;
}

/** IDs of fields, and codes of tables, that differ between two versions; who changed it and when aside. */
function changedBetween({ fields, tables }: App, before: WholeRecord, after: WholeRecord): readonly string[] {
  const ids = fields.flatMap(({ id }, position) => (before.values[position] === after.values[position] ? [] : [id]));
  const codes = tables.flatMap(({ code }, index) =>
    JSON.stringify(before.rows[index]) === JSON.stringify(after.rows[index]) ? [] : [code],
  );
  return [...ids, ...codes];
}

/** How many records a search finds: its conditions, the number only. */
export function datasetCount(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, () => countRecords(store, form, call));
}

async function countRecords(store: Store, form: Form, call: Call): Promise<Answer> {
  checkLang(form, call.problems);
  const param = parseParam(form.get('param'), call.problems);
  const { registered } = authenticate(store, form, 'use', call);
  const search = parseSearch(registered.app, form, { param, limit: null, revision: false }, call.problems);
  const count = await store.count(registered, { ...search, after: null });
  if (count === 'stale') return countRecords(store, form, call);
  return { kind: 'text', text: renderDone(`"count":${count}`) };
}

/** The form of the app as the caller may see it, so that a client can build itself. */
export function appDefinition(store: Store, form: Form, call: Call): Promise<Answer> {
  return judgedNow(store, call, async () => {
    checkLang(form, call.problems);
    const { registered, caller } = authenticate(store, form, 'use', call);
    if (call.problems.length > 0) throw new Refusal(call.problems);
    const { app, access } = registered;
    const rights = access.rights.get(caller.id);
    const described = {
      ...{ code: app.code, name: app.name, state: app.state, recordsKey: app.recordsKey },
      primaryKey: app.primaryKey.id,
      rights: {
        update: rights?.update === true || rights?.admin === true || access.everyone,
        admin: rights?.admin === true,
      },
      fields: app.fields.map(describeField),
      system: app.system.map(describeField),
      tables: app.tables.map(({ code, name, fields }) => ({ code, name, fields: fields.map(describeField) })),
    };
    return { kind: 'text', text: renderDone(`"app":${JSON.stringify(described)}`) };
  });
}

function describeField(field: Field): Record<string, unknown> {
  const { id, type, name, search, list, protected: isProtected, shownInForm, required: isRequired, unique } = field;
  const { maxLength, choices, numberFormat, formula } = field;
  return {
    ...{ id, type, name, search, list, protected: isProtected, shownInForm, required: isRequired, unique },
    filledBy: formula === '' ? typeOf(field).filledBy : 'server',
    ...(field.default !== '' && { default: field.default }),
    ...(maxLength !== null && { maxLength }),
    ...(choices.length > 0 && { choices }),
    ...(numberFormat !== null && { format: numberFormat }),
  };
}

function keyed(store: Store, form: Form, call: Call): { authenticated: Authenticated; primaryKey: string } {
  const { problems } = call;
  checkLang(form, problems);
  const text = required(form, 'param', problems);
  const param = text === '' ? null : parseParam(text, problems);
  const authenticated = authenticate(store, form, 'use', call);
  if (param === null) throw new Refusal(problems);
  const { primaryKey } = parseKey(authenticated.registered.app, param, problems);
  if (problems.length > 0) throw new Refusal(problems);
  return { authenticated, primaryKey };
}

function unknownRecord({ app }: RegisteredApp, primaryKey: string): Refusal {
  return refuse('unknown_record', { at: app.primaryKey.id, sent: shown(primaryKey) });
}

function namesOf(store: Store) {
  const { users } = store.catalog();
  return { userName: (id: string) => users.get(id)?.name ?? '' };
}

function wholeNumber(form: Form, name: 'limit' | 'after', most: number, call: Call): number | null {
  const sent = form.get(name) ?? '';
  if (sent === '') return null;
  const number = /^\d{1,9}$/.test(sent) ? Number(sent) : 0;
  if (number >= 1 && number <= most) return number;
  call.problems.push({ code: name === 'limit' ? 'bad_limit' : 'bad_version', at: name, sent: shown(sent) });
  return null;
}
