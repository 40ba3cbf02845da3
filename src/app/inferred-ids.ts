// The field IDs of inferred columns: the header where it can be one, and the primary key.
import type { InferredField, NamedField } from './definition-text.ts';
import { isIdentifier } from './identifier.ts';

const PRIMARY_KEY_ENDING = '_primarykey';

/** Names the fields of a header's columns; the primary key is among them, or added before them. */
export function nameColumns(header: readonly string[], fields: readonly InferredField[], code: string): NamedField[] {
  const keyColumn = primaryKeyColumn(header);
  const keyHeader = keyColumn === undefined ? undefined : header[keyColumn];
  const keyId = keyHeader !== undefined && isIdentifier(keyHeader) ? keyHeader : primaryKeyId(code);
  const primaryKey: NamedField = { id: keyId, type: 'id', search: 'exact', ...nameOf(keyHeader, keyId) };
  const ids = chooseIds(header, fields, keyColumn, keyId);
  const named = fields.map((field, index): NamedField => {
    if (index === keyColumn) return primaryKey;
    const id = ids[index] ?? '';
    return { id, ...field, ...nameOf(header[index], id) };
  });
  return keyColumn === undefined ? [primaryKey, ...named] : named;
}

function primaryKeyColumn(header: readonly string[]): number | undefined {
  const isKey = (name: string): boolean => name.endsWith(PRIMARY_KEY_ENDING);
  const valid = header.findIndex((name) => isKey(name) && isIdentifier(name));
  const column = valid >= 0 ? valid : header.findIndex(isKey);
  return column >= 0 ? column : undefined;
}

function primaryKeyId(code: string): string {
  const start = code.toLowerCase().slice(0, 64 - PRIMARY_KEY_ENDING.length);
  const id = start + PRIMARY_KEY_ENDING;
  return isIdentifier(id) ? id : `app${PRIMARY_KEY_ENDING}`;
}

/** An ID for each column: its header, or `column_<n>` when that is none, is taken, or is a range's upper bound (D19). */
function chooseIds(
  header: readonly string[],
  fields: readonly InferredField[],
  keyColumn: number | undefined,
  keyId: string,
): string[] {
  const isRange = (index: number): boolean => fields[index]?.search === 'range' && index !== keyColumn;
  const bounds = new Set(header.filter((_, index) => isRange(index)).map((name) => `${name}_to`));
  const taken = new Set([keyId]);
  const ids = header.map((name, index) => {
    if (index === keyColumn) return keyId;
    if (!isIdentifier(name) || taken.has(name) || bounds.has(name)) return undefined;
    taken.add(name);
    return name;
  });
  return ids.map((id, index) => {
    if (id !== undefined) return id;
    const chosen = freeId(index + 1, (candidate) => {
      if (taken.has(candidate) || bounds.has(candidate)) return false;
      return !isRange(index) || !taken.has(`${candidate}_to`);
    });
    taken.add(chosen);
    if (isRange(index)) bounds.add(`${chosen}_to`);
    return chosen;
  });
}

function freeId(column: number, isFree: (id: string) => boolean): string {
  for (let attempt = 1; ; attempt++) {
    const id = attempt === 1 ? `column_${column}` : `column_${column}_${attempt}`;
    if (isFree(id)) return id;
  }
}

/** The header as the field's name, when the ID does not say it already. */
function nameOf(header: string | undefined, id: string): { name?: string } {
  if (header === undefined || header === id) return {};
  const name = header.toWellFormed().replaceAll('\0', '');
  return name.trim() === '' ? {} : { name };
}
