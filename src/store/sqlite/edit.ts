// Applies an edit to a record in the writer's transaction (D39): finds the record, has decided what it becomes, writes that.
import type { RecordRenderer, Values } from '../../envelope/record.ts';
import type { RenderContext } from '../../fields/field-type.ts';
import type { NewFile } from '../../update/change.ts';
import type { Put } from '../../update/edit.ts';
import type { EditJob } from '../changed.ts';
import { type Derive, deriver } from '../derive.ts';
import {
  type EditContext,
  type Edited,
  type Editor,
  editorOf,
  notUnique,
  primaryKeyOf,
  recordExists,
  refuseDelete,
  uniqueChanges,
} from '../edited.ts';
import { namedFiles } from '../files.ts';
import type { Written } from '../store.ts';
import { rowsByCode, type WholeRecord } from '../versions.ts';
import type { FileTable } from './files.ts';
import { type RecordTable, wholeRecord } from './record-table.ts';
import type { Tell } from './tell.ts';

export interface EditableApp {
  readonly id: number;
  readonly files: FileTable;
  readonly table: RecordTable;
  readonly render: RecordRenderer;
  readonly tell: Tell | null;
  /** Whether records are being put in by somebody else, and new ones have to wait. */
  isBeingFilled(): boolean;
}

/** What edits of an app need; made once for a layout. */
export interface RecordEditor {
  /** `onlyKey`: of the record after it only the entry of the primary key is asked for. */
  run(job: Pick<EditJob, 'edit' | 'onlyKey'>, context: Omit<EditContext, 'knownFiles'>, render: RenderContext): Written;
}

export function recordEditor({ id, files, table, render: renderer, tell, isBeingFilled }: EditableApp): RecordEditor {
  const { layout } = table;
  const editor: Editor = editorOf(layout);
  const derive = deriver(layout, null);
  const deriveRow = layout.tables.map((_, index) => deriver(layout, index));

  const found = (primaryKey: string) => wholeRecord(table, table.find(primaryKey));
  const foundBy = ({ key }: Put): WholeRecord | null => {
    if (key === null) return null;
    if (key.fieldId === layout.app.primaryKey.id) return found(key.value);
    const place = table.placeOf(key.fieldId, key.value);
    return place === null ? null : wholeRecord(table, table.at(place));
  };
  const write = (
    stored: WholeRecord | null,
    place: number | null,
    revision: number,
    { values, rows, faults }: Edited,
    { userId, at }: Pick<EditContext, 'userId' | 'at'>,
    render: RenderContext,
    entries: RecordRenderer['full'],
    added: readonly NewFile[] = [],
  ): Written => {
    const problems = uniqueChanges(layout, stored?.values ?? null, values).flatMap(({ fieldId, value }) =>
      table.placeOf(fieldId, value) === null ? [] : [notUnique(fieldId, value)],
    );
    const same = stored === null ? table.find(primaryKeyOf(layout, values)) : null;
    if (same !== null) problems.push(recordExists(layout, values));
    if (stored === null && isBeingFilled()) problems.push({ code: 'being_loaded' });
    if (problems.length > 0) return { kind: 'refused', problems };
    files.add(id, added);
    const primaryKey = primaryKeyOf(layout, values);
    if (stored === null) {
      const seq = table.insert(derive(values, render), revision, place ?? table.nextPlace());
      rows.forEach((of, index) => {
        if (of !== null && of.length > 0)
          table.putRows(index, seq, derived(deriveRow[index] as Derive, of, render), true);
      });
      tell?.({ event: 'insert', seq, revision, primaryKey, userId, at });
    } else {
      table.keepVersion(
        stored,
        userId,
        at,
        rowsByCode(layout, stored, (index) => rows[index] !== null),
      );
      table.update(stored, values, revision, render);
      rows.forEach((of, index) => {
        if (of !== null) table.putRows(index, stored.seq, derived(deriveRow[index] as Derive, of, render));
      });
      tell?.({ event: 'update', seq: stored.seq, revision, primaryKey, userId, at });
    }
    return { kind: 'updated', entries: entries(values, render), revision, faults };
  };

  return {
    run({ edit, onlyKey = false }, context, render) {
      const entries = onlyKey ? renderer.key : renderer.full;
      switch (edit.kind) {
        case 'put': {
          const stored = foundBy(edit);
          const knownFiles = files.use(id, namedFiles(edit.files));
          const edited = editor.put(stored, edit, { ...context, knownFiles });
          if (edited.kind !== 'edited') return edited;
          const { added = [] } = edit.files ?? {};
          return write(stored, null, (stored?.revision ?? 0) + 1, edited, context, render, entries, added);
        }
        case 'delete': {
          const stored = found(edit.primaryKey);
          const refused = refuseDelete(stored, edit.revision);
          if (stored === null || refused !== null) return refused ?? { kind: 'unknown_record' };
          table.keepVersion(stored, context.userId, context.at, rowsByCode(layout, stored), edit.primaryKey);
          table.remove(stored.seq);
          const { seq, revision } = stored;
          const { userId, at } = context;
          tell?.({ event: 'delete', seq, revision, primaryKey: edit.primaryKey, userId, at });
          return { kind: 'deleted' };
        }
        case 'restore': {
          const live = found(edit.primaryKey);
          const place = live?.seq ?? table.deletedPlace(edit.primaryKey);
          if (place === null) return { kind: 'unknown_record' };
          const versions = table.versions(place);
          const edited = editor.restore(live, versions, edit, { ...context, knownFiles: new Set() });
          if (edited.kind !== 'edited') return edited;
          const last = live?.revision ?? versions.at(-1)?.revision ?? 0;
          return write(live, place, last + 1, edited, context, render, entries);
        }
      }
    },
  };
}

function derived(derive: Derive, rows: readonly Values[], render: RenderContext) {
  return rows.map((row) => derive(row, render));
}
