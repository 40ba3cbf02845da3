// One map of a definition while it is read: its keys, where it stands, and the problems found in it.
import { isStorable } from '../fields/field-type.ts';
import { nearest } from './nearest.ts';

/** One thing wrong with a definition; `path` leads from the top of the tree to it. */
export interface DefinitionProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A map of the tree; `where` is what messages call it ('' at the top). */
export interface Section {
  readonly map: ReadonlyMap<string, unknown>;
  readonly path: readonly (string | number)[];
  readonly where: string;
  /** Shared by all sections of one definition. */
  readonly problems: DefinitionProblem[];
}

/** Where a value stands, before it is known to be a map. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly where: string;
  readonly problems: DefinitionProblem[];
}

/** The map at a place, its unknown keys reported; undefined when there is no map. */
export function openSection(value: unknown, place: Place, keys: readonly string[]): Section | undefined {
  if (!(value instanceof Map)) {
    const message = `expected a map with ${keys.join(', ')}, not ${show(value)}`;
    place.problems.push({ path: place.path, message: place.where === '' ? message : `${place.where}: ${message}` });
    return undefined;
  }
  const section: Section = { ...place, map: value };
  for (const key of section.map.keys()) {
    if (keys.includes(key)) continue;
    const guess = nearest(key, keys);
    const hint = guess === undefined ? `expected one of ${keys.join(', ')}` : `did you mean ${guess}?`;
    report(section, key, `unknown key; ${hint}`);
  }
  return section;
}

/** The map under a key; undefined when there is none. */
export function subsection(section: Section, key: string, keys: readonly string[]): Section | undefined {
  if (!section.map.has(key)) return undefined;
  const { problems } = section;
  const place = { path: [...section.path, key], where: label(section.where, showKey(key)), problems };
  return openSection(section.map.get(key), place, keys);
}

/** Notes a problem with a key of the section, or with one element of its list. */
export function report(section: Section, key: string, message: string, index?: number): void {
  const path = index === undefined ? [...section.path, key] : [...section.path, key, index];
  const name = index === undefined ? showKey(key) : `${key}[${index}]`;
  section.problems.push({ path, message: label(section.where, `${name}: ${message}`) });
}

/** The text under a key; undefined when there is none. */
export function readText(section: Section, key: string, expected: string): string | undefined {
  if (!section.map.has(key)) return undefined;
  const value = section.map.get(key);
  if (typeof value === 'string' && isStorable(value)) return value;
  report(section, key, expectation(value, expected));
  return undefined;
}

/** The text under a key; a number is taken as the text it is written as. */
export function readLiteral(section: Section, key: string): string | undefined {
  const value = literalText(section.map.get(key));
  if (value === undefined && section.map.has(key)) {
    report(section, key, expectation(section.map.get(key), 'a text or a number'));
  }
  return value;
}

/** The text that a text or a number stands for; undefined for anything else. */
export function literalText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && isStorable(value) ? value : undefined;
}

/** True or false; undefined when the key is not there. */
export function readBoolean(section: Section, key: string): boolean | undefined {
  if (!section.map.has(key)) return undefined;
  const value = section.map.get(key);
  if (typeof value === 'boolean') return value;
  report(section, key, expectation(value, 'true or false'));
  return undefined;
}

/** A whole number between two bounds. */
export function readWhole(section: Section, key: string, least: number, greatest: number): number | undefined {
  if (!section.map.has(key)) return undefined;
  const value = section.map.get(key);
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest) return Number(value);
  const bounds = greatest === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${greatest}`;
  report(section, key, expectation(value, `a whole number ${bounds}`));
  return undefined;
}

/** One of some words. */
export function readWord<Word extends string>(section: Section, key: string, words: readonly Word[]): Word | undefined {
  if (!section.map.has(key)) return undefined;
  const value = section.map.get(key);
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const guess = typeof value === 'string' ? nearest(value, words) : undefined;
  const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
  report(
    section,
    key,
    `${expectation(value, words.length === 1 ? (words[0] ?? '') : `one of ${words.join(', ')}`)}${hint}`,
  );
  return undefined;
}

/** The elements of a list, `limit` of them at most; none when the key is not there. */
export function readList(section: Section, key: string, limit = Number.MAX_SAFE_INTEGER): readonly unknown[] {
  if (!section.map.has(key)) return [];
  const value = section.map.get(key);
  if (!Array.isArray(value)) {
    report(section, key, expectation(value, 'a list'));
    return [];
  }
  if (value.length > limit) report(section, key, `${value.length} are given; expected ${limit} at most`);
  return value.slice(0, limit);
}

/** What is there and what was expected instead. */
export function expectation(value: unknown, expected: string): string {
  return `${show(value)} is not possible; expected ${expected}`;
}

/** A value as messages show it, cut to a length that can be read. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  if (value instanceof Map) return 'a map';
  if (Array.isArray(value)) return 'a list';
  return value === null || value === undefined ? 'nothing' : String(value);
}

/** `inner` called from `outer`. */
export function label(outer: string, inner: string): string {
  return outer === '' ? inner : `${outer}: ${inner}`;
}

function showKey(key: string): string {
  return /^[\w$-]{1,64}$/.test(key) ? key : JSON.stringify(cut(key));
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
