// Compares the files of the register with what the file store has, and with what the records name (D28).
import { type FileStore, SMALL } from '../files/file-store.ts';
import { reporter } from '../store/derived-check.ts';
import type { CheckProblem, Register } from '../store/register.ts';
import type { StoredFile } from '../store/store.ts';
import { USELESS_FOR, unnamedFiles } from './sweep-files.ts';

/** Files read at a time. */
const BATCH = 1_000;

/** Reports records without files, files without contents, and what a sweep would remove. */
export async function checkFiles(
  register: Register,
  store: FileStore,
  appCodes: readonly string[],
): Promise<readonly CheckProblem[]> {
  const kept = new Map<string, number>();
  const old = new Set<string>();
  for await (const contents of store.list()) {
    for (const { name, size, age } of contents) {
      if (name.endsWith(SMALL)) continue;
      kept.set(name, size);
      if (age >= USELESS_FOR) old.add(name);
    }
  }
  const problems: CheckProblem[] = [];
  for (const app of register.catalog().apps.keys()) {
    const isChecked = appCodes.includes(app);
    const report = reporter(app, 'files', problems);
    for await (const file of filesOf(register, app)) {
      old.delete(file.digest);
      const wrong = isChecked ? faultOf(file, kept.get(file.digest), store.place) : null;
      if (wrong !== null) report(wrong);
    }
    report(null);
    if (isChecked) await checkNames(register, app, problems);
  }
  if (old.size > 0)
    problems.push({
      app: '',
      message: `${old.size} contents in ${store.place} belong to no file; daicho sweep removes them`,
    });
  return problems;
}

async function* filesOf(register: Register, app: string): AsyncGenerator<StoredFile> {
  for (let after = ''; ; ) {
    const files = await register.files(app, after, BATCH);
    yield* files;
    if (files.length < BATCH) return;
    after = files.at(-1)?.id ?? '';
  }
}

function faultOf({ id, name, size }: StoredFile, keptSize: number | undefined, place: string): string | null {
  if (keptSize === size) return null;
  const file = `file ${id} (${name})`;
  if (keptSize === undefined) return `the content of ${file} is not in ${place}`;
  return `the content of ${file} in ${place} has ${keptSize} bytes; expected ${size}`;
}

async function checkNames(register: Register, app: string, problems: CheckProblem[]): Promise<void> {
  const known = new Set<string>();
  for await (const { id } of filesOf(register, app)) known.add(id);
  const report = reporter(app, 'files', problems);
  for await (const references of register.fileReferences(app)) {
    for (const { fileId, place, inHistory } of references) {
      if (known.has(fileId)) continue;
      report(
        `${inHistory ? 'a version of the record' : 'the record'} at place ${place} names file ${fileId}, which is not there`,
      );
    }
  }
  report(null);
  // The records of a load that is under way name files and cannot be seen yet.
  if (await register.isBuilding(app)) return;
  const unnamed = await unnamedFiles(register, app);
  if (unnamed.length > 0)
    problems.push({ app, message: `${unnamed.length} files belong to no record; daicho sweep removes them` });
}
