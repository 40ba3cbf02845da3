// The files that values of a request name: looked up in the register (D26, D28).
import type { Problem } from '../errors.ts';
import { isStorable } from '../fields/field-type.ts';
import { typeOf } from '../fields/field-types.ts';
import { fileValue, isFileId, isImage } from '../fields/file.ts';
import type { RegisteredApp, Store } from '../store/store.ts';
import type { NamedFile } from '../update/parse-edit.ts';
import { shown } from './request.ts';

/** Sets the values of those that the app has; what it does not have, or is no image where one is expected, is a problem. */
export async function findNamed(
  store: Store,
  registered: RegisteredApp,
  named: readonly NamedFile[],
  problems: Problem[],
): Promise<'stale' | 'found'> {
  if (named.length === 0) return 'found';
  // What cannot be the ID of a file may be what no database takes.
  const found = await store.files(registered, [...new Set(named.map(({ fileId }) => fileId))].filter(isFileId));
  if (found === 'stale') return found;
  for (const { at, field, fileId, set } of named) {
    const file = found.get(fileId);
    if (file === undefined) {
      problems.push({ code: isStorable(fileId) ? 'unknown_file' : 'bad_character', at, sent: shown(fileId) });
    } else if (typeOf(field).holds === 'image' && !isImage(file))
      problems.push({ code: 'not_an_image', at, sent: fileId });
    else set(fileValue(file));
  }
  return 'found';
}
