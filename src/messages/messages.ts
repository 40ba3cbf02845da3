// The text of a problem, and of "no match", in the language of the call (spec 7, D1).
import { type Problem, STATUS } from '../errors.ts';
import type { Lang } from '../wire.ts';
import { en } from './en.ts';
import { ja } from './ja.ts';
import type { Messages } from './language.ts';
import { zh } from './zh.ts';

const LANGUAGES = { ja, en, zh } satisfies Record<Lang, Messages>;

/** One message of the envelope's list of errors; never shows what was sent as `appkey`. */
export function messageOf(problem: Problem, lang: Lang): string {
  const messages: Messages = LANGUAGES[lang];
  if (!Object.hasOwn(STATUS, problem.code)) return messages.internal_error(problem);
  const text = messages[problem.code](withoutKey(problem));
  return problem.line === undefined ? text : messages.on_line(problem.line, text);
}

/** The message of a search that finds nothing (spec 4.1). */
export function noMatchMessage(lang: Lang): string {
  return LANGUAGES[lang].no_match();
}

/** An app key must not come back, neither as the parameter itself nor in the query of a path. */
function withoutKey(problem: Problem): Problem {
  const { sent, ...rest } = problem;
  if (sent === undefined || problem.at === 'appkey') return rest;
  const isPath = problem.code === 'unknown_path' || problem.code === 'wrong_method';
  return isPath ? { ...rest, sent: sent.replace(/[?#].*$/s, '') } : problem;
}
