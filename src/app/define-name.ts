// The name of an app, a table or a field in a definition: a text, taken as Japanese, or one text per language.
import type { Name } from './app.ts';
import { expectation, label, openSection, readText, report, type Section } from './definition-section.ts';

const LANGS = ['ja', 'en', 'zh'] as const;

/** The name of a section; {} when it has none. */
export function defineName(section: Section): Name {
  const value = section.map.get('name');
  if (value === undefined) return {};
  if (typeof value === 'string') {
    const text = readText(section, 'name', NAME);
    return text === undefined ? {} : { ja: checked(section, 'name', text) };
  }
  if (!(value instanceof Map)) {
    report(section, 'name', expectation(value, `${NAME}, or a map with ja, en, zh`));
    return {};
  }
  const place = { path: [...section.path, 'name'], where: label(section.where, 'name'), problems: section.problems };
  const names = openSection(value, place, LANGS);
  const name: { -readonly [lang in keyof Name]: Name[lang] } = {};
  for (const lang of LANGS) {
    const text = names === undefined ? undefined : readText(names, lang, NAME);
    if (names !== undefined && text !== undefined) name[lang] = checked(names, lang, text);
  }
  return name;
}

const NAME = 'a text that is not empty';

function checked(section: Section, key: string, text: string): string {
  if (text.trim() === '') report(section, key, expectation(text, NAME));
  return text;
}
