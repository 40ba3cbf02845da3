// POST {base_url}/webapi/v1/dataset/search: searches the records of an app (spec 4.1).
import type { App, Table } from '../app/app.ts';
import { closeFound, openFound, renderNoMatch } from '../envelope/envelope.ts';
import { type Problem, Refusal, refuse } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { noMatchMessage } from '../messages/messages.ts';
import type { Search } from '../search/condition.ts';
import { renderEcho } from '../search/echo.ts';
import { parseConditions } from '../search/parse.ts';
import type { Store } from '../store/store.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { judgedNow } from './judged-now.ts';
import { type Call, checkLang, type Form, oneOf, parseParam, required, shown } from './request.ts';

/** Greatest `limit` (D23). */
export const MAX_LIMIT = 10_000;

/** Answers a search, or throws the Refusal of its problems. `maxRecords` is the operator's cap, 0 for none (D22). */
export function datasetSearch(store: Store, form: Form, call: Call, maxRecords: number): Promise<Answer> {
  return judgedNow(store, call, () => findRecords(store, form, call, maxRecords));
}

async function findRecords(store: Store, form: Form, call: Call, maxRecords: number): Promise<Answer> {
  const request = parseRequest(form, call.problems);
  const { registered, caller } = authenticate(store, form, 'use', call);
  const { app } = registered;
  const search = parseSearch(app, form, request, call.problems);
  const searched = store.search(registered, search, maxRecords, caller.id);
  const found = searched instanceof Promise ? await searched : searched;
  const key = search.table?.code ?? app.recordsKey;
  const paged = search.limit !== null;
  switch (found.kind) {
    case 'stale':
      return findRecords(store, form, call, maxRecords);
    case 'unknown_after':
      throw refuse('unknown_after', { at: 'after', sent: shown(search.after ?? '') });
    case 'too_many':
      throw refuse('too_many_records', { limit: maxRecords });
    case 'none':
      return {
        kind: 'text',
        text: renderNoMatch(noMatchMessage(call.lang), renderEcho(app, search.conditions.sent), paged),
      };
    case 'page': {
      const close = closeFound(paged ? found.next : undefined);
      return { kind: 'records', open: openFound(key), records: found.records, close };
    }
    case 'stream': {
      const close = () => closeFound(paged ? found.next() : undefined);
      return { kind: 'pages', open: openFound(key), pages: found.pages, close };
    }
  }
}

export interface Request {
  readonly param: JsonObject | null;
  readonly limit: number | null;
  readonly revision: boolean;
}

function parseRequest(form: Form, problems: Problem[]): Request {
  required(form, 'appcode', problems);
  required(form, 'appkey', problems);
  checkLang(form, problems);
  const limit = parseLimit(form.get('limit') ?? '', problems);
  const revision = oneOf(form, 'revision', ['0', '1'], 'bad_revision', problems) === '1';
  return { param: parseParam(form.get('param'), problems), limit, revision };
}

function parseLimit(sent: string, problems: Problem[]): number | null {
  if (sent === '') return null;
  const limit = /^\d{1,5}$/.test(sent) ? Number(sent) : 0;
  if (limit < 1 || limit > MAX_LIMIT) problems.push({ code: 'bad_limit', at: 'limit', sent: shown(sent) });
  return limit;
}

/** The search that is asked for; throws the Refusal of all that is wrong with the request. */
export function parseSearch(app: App, form: Form, { param, limit, revision }: Request, problems: Problem[]): Search {
  const tablecode = form.get('tablecode') ?? '';
  const table: Table | undefined = app.tables.find(({ code }) => code === tablecode);
  if (tablecode !== '' && table === undefined) {
    problems.push({ code: 'unknown_tablecode', at: 'tablecode', sent: shown(tablecode) });
  }
  const conditions = param === null ? [] : parseConditions(app, param);
  if (!('sent' in conditions)) throw new Refusal([...problems, ...conditions]);
  if (problems.length > 0) throw new Refusal(problems);
  return { conditions, table: table ?? null, limit, after: form.get('after') || null, revision };
}
