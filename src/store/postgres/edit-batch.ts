// Applies edits one after the other in one transaction (D39), in runs: each reads, decides and writes many with a few statements.
import { recordRenderer, type Values } from '../../envelope/record.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import { layoutOf, tokensDiffer } from '../../sql/layout.ts';
import type { Edit } from '../../update/edit.ts';
import type { EditJob } from '../changed.ts';
import { now } from '../clock.ts';
import { type Derive, type Derived, deriver } from '../derive.ts';
import { type EditRefused, editorOf } from '../edited.ts';
import type { Counters } from '../source-records.ts';
import type { RegisteredApp, Written } from '../store.ts';
import { type KeptVersion, rowsByCode, versionText } from '../versions.ts';
import type { Told } from '../webhooks.ts';
import type { VersionedCatalog } from './catalog.ts';
import { noteChanges } from './changes.ts';
import type { Connection } from './connection.ts';
import { lockCounters, saveCounters, takeNumbers } from './counters.ts';
import type { RecordEditor } from './edit.ts';
import { decideRun, type Run, type Step, soughtBy } from './edit-run.ts';
import { putRows, type RowsOfRecord } from './put.ts';
import { recordTable, type WrittenRecord } from './record-table.ts';
import { type SeenRecords, seenRecords } from './seen-records.ts';
import { tellAll } from './tell.ts';

/** What batches of edits of an app need; made once for a layout. */
export interface BatchEditor {
  /** In a transaction that is past the app's gate, and whose catalog is the one given. Of records that are there afterwards it gives the primary key alone. */
  run(tx: Connection, schema: string, jobs: readonly EditJob[], catalog: VersionedCatalog): Promise<readonly Written[]>;
}

/** What a run writes, by what is done with it. */
interface Writing {
  readonly inserted: WrittenRecord[];
  readonly updated: WrittenRecord[];
  /** Places of those of `updated` whose tokens are others. */
  readonly paired: Set<number>;
  readonly removed: number[];
  readonly versions: KeptVersion[];
  readonly rows: RowsOfRecord[];
  /** By table of the form: places of records that have other rows now. */
  readonly replaced: readonly number[][];
  readonly told: Told[];
}

/** `one` takes the edits that cannot be in a run. */
export function batchEditor(
  { app, id, generation, distributed, webhooks }: RegisteredApp,
  one: RecordEditor,
): BatchEditor {
  const layout = layoutOf(app, id, generation, distributed);
  const table = recordTable(layout);
  const editor = editorOf(layout);
  const derive = deriver(layout, null);
  const deriveRow = layout.tables.map((_, index) => deriver(layout, index));
  const renderKey = recordRenderer(app).key;

  const decide = async (
    edits: readonly Edit[],
    seen: SeenRecords,
    context: { readonly userId: string; readonly at: string; readonly counters: Counters },
  ): Promise<Run> => {
    await seen.look(soughtBy(layout, edits));
    // What is missing are numbers that were just given, and what is calculated. Each round settles one more edit at least.
    for (;;) {
      const undo = context.counters.mark();
      const run = decideRun(layout, editor, edits, seen, context);
      if (run.missing.keys.size + run.missing.values.size === 0) return run;
      undo();
      await seen.look(run.missing);
    }
  };

  const derivedRows = (rows: readonly (readonly Values[] | null)[], render: RenderContext) =>
    rows.map((of, index): readonly Derived[] | null => {
      return of?.map((row) => (deriveRow[index] as Derive)(row, render)) ?? null;
    });

  /** What is written for the steps, and what each of the edits gives; the places of new records follow `place`. */
  const writingOf = (
    decided: Run['decided'],
    place: number,
    { userId, at, render }: { readonly userId: string; readonly at: string; readonly render: RenderContext },
  ): { readonly writing: Writing; readonly results: readonly Written[] } => {
    const writing: Writing = {
      ...{ inserted: [], updated: [], paired: new Set(), removed: [], versions: [], rows: [], told: [] },
      replaced: layout.tables.map(() => []),
    };
    let next = place;
    const results = decided.map((step): Written => {
      if (!isStep(step)) return step;
      const { primaryKey } = step;
      const seq = step.kind === 'insert' ? next++ : step.stored.seq;
      const tell = (revision: number) => writing.told.push({ event: step.kind, seq, revision, primaryKey, userId, at });
      if (step.kind === 'delete') {
        const version = versionText(layout, step.stored, rowsByCode(layout, step.stored), primaryKey);
        writing.versions.push({ seq, revision: step.stored.revision, userId, at, version });
        writing.removed.push(seq);
        tell(step.stored.revision);
        return { kind: 'deleted' };
      }
      const { values, rows, faults } = step.edited;
      const revision = step.kind === 'insert' ? 1 : step.stored.revision + 1;
      const written = { seq, revision, derived: derive(values, render) };
      if (step.kind === 'insert') writing.inserted.push(written);
      else {
        const version = versionText(
          layout,
          step.stored,
          rowsByCode(layout, step.stored, (index) => rows[index] !== null),
        );
        writing.versions.push({ seq, revision: step.stored.revision, userId, at, version });
        writing.updated.push(written);
        if (tokensDiffer(layout.form, step.stored.values, values)) writing.paired.add(seq);
        rows.forEach((of, index) => {
          if (of !== null) writing.replaced[index]?.push(seq);
        });
      }
      writing.rows.push({ seq, rows: derivedRows(rows, render) });
      tell(revision);
      return { kind: 'updated', entries: renderKey(values, render), revision, faults };
    });
    return { writing, results };
  };

  /** No two steps of a run write the same record or value, so that their order does not matter. */
  const write = async (tx: Connection, schema: string, writing: Writing, isBuilding: boolean): Promise<void> => {
    const { inserted, updated, paired, removed, versions, rows, replaced, told } = writing;
    await table.keepVersions(tx, versions);
    if (removed.length > 0) await table.remove(tx, removed);
    await table.update(tx, updated, paired);
    if (inserted.length > 0) await table.insert(tx, inserted);
    for (const [index, places] of replaced.entries()) {
      if (places.length > 0) await table.removeRows(tx, index, places);
    }
    await putRows(tx, id, table, rows);
    if (isBuilding) await noteChanges(tx, id, [...removed, ...[...updated, ...inserted].map(({ seq }) => seq)]);
    if (webhooks.length > 0) await tellAll(tx, schema, { id, webhooks }, told);
  };

  return {
    async run(tx, schema, jobs, catalog) {
      const results: Written[] = [];
      let seen: SeenRecords | null = null;
      while (results.length < jobs.length) {
        const rest = jobs.slice(results.length);
        const [{ userId }] = rest as [EditJob];
        const edits = rest.map(({ edit }) => edit);
        const counters = await lockCounters(tx, id);
        seen ??= await seenRecords(tx, id, table, edits);
        const context = { userId, at: now(), counters };
        const run = await decide(edits, seen, context);
        if (run.decided.length === 0) {
          results.push(await one.run(tx, schema, rest[0] as EditJob, catalog));
          // It may have written anything.
          seen = null;
          continue;
        }
        const render: RenderContext = { userName: (user) => catalog.users.get(user)?.name ?? '' };
        const count = run.decided.filter(({ kind }) => kind === 'insert').length;
        const place = count === 0 ? 0 : await takeNumbers(tx, id, 'place', count);
        const { writing, results: some } = writingOf(run.decided, place, { ...context, render });
        await write(tx, schema, writing, catalog.building.has(id));
        await saveCounters(tx, id, counters.changed());
        seen.forget(run);
        results.push(...some);
      }
      return results;
    },
  };
}

function isStep(step: Step | EditRefused): step is Step {
  return step.kind === 'insert' || step.kind === 'update' || step.kind === 'delete';
}
