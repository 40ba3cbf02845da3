// Identifiers of a definition: app code, records key, field IDs, table codes (spec 2.1).
import { readText, report, type Section } from './definition-section.ts';

const IDENTIFIER = /^[A-Za-z0-9_-]{1,64}$/;

/** Beginnings of the names that answers use themselves: system fields and the envelope. */
export const RESERVED = ['pms_', 'rkwa_'] as const;
/** An app code names nothing in an answer but the records, which only the envelope's members could clash with. */
export const RESERVED_FOR_APP_CODE = ['rkwa_'] as const;

/** Whether a text is an identifier that does not begin with a reserved prefix. */
export function isIdentifier(text: string, reserved: readonly string[] = RESERVED): boolean {
  return IDENTIFIER.test(text) && !reserved.some((prefix) => text.startsWith(prefix));
}

/** The identifier under a key; undefined, and a problem, when it is missing or none. */
export function readIdentifier(
  section: Section,
  key: string,
  reserved: readonly string[] = RESERVED,
): string | undefined {
  const expected = "letters, digits, '_' and '-', 1 to 64 of them";
  if (!section.map.has(key)) {
    report(section, key, `missing; expected ${expected}`);
    return undefined;
  }
  const value = readText(section, key, `${expected}, as a text`);
  if (value === undefined) return undefined;
  if (isIdentifier(value, reserved)) return value;
  const prefix = reserved.find((candidate) => value.startsWith(candidate));
  const reason = prefix === undefined ? `expected ${expected}` : `names beginning with ${prefix} are reserved`;
  report(section, key, `${JSON.stringify(value.slice(0, 80))} is not possible; ${reason}`);
  return undefined;
}
