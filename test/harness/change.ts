// A change of a record as an update's `param` asks for it, without files.
import assert from 'node:assert/strict';
import type { App } from '../../src/app/app.ts';
import type { Problem } from '../../src/errors.ts';
import type { JsonObject } from '../../src/json.ts';
import type { Change, UpdateMode } from '../../src/update/change.ts';
import { parseChange } from '../../src/update/parse.ts';

/** The change of a `param` that must be right. */
export function changeOf(app: App, param: JsonObject, mode: UpdateMode): Change {
  const problems: Problem[] = [];
  const { primaryKey, revision, values, named } = parseChange(app, param, mode, [], problems);
  assert.deepEqual(problems, []);
  assert.equal(named.size, 0);
  return { primaryKey, revision, values, files: null };
}
