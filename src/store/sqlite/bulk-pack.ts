// Edits of a bulk as one text, in which they cross to a thread at a fraction of the cost of their parts.
import type { Edit, EditedRow, Put } from '../../update/edit.ts';
import type { EditJob } from '../changed.ts';

type Pairs = readonly (readonly [string, string])[];
type PackedRow = readonly [from: number | null, values: Pairs];
/** The members of a Put in an order of our own; maps as their entries. */
type PackedPut = readonly [
  mode: Put['mode'],
  key: Put['key'],
  revision: string | null,
  values: Pairs,
  whenNew: Pairs,
  tables: readonly (readonly [code: string, rows: readonly PackedRow[]])[],
  problemsWhenNew: Put['problemsWhenNew'],
  files:
    | null
    | readonly [added: NonNullable<Put['files']>['added'], rows: NonNullable<Put['files']>['rows'], named: Pairs],
];
type Packed = PackedPut | Exclude<Edit, Put>;

/** Packs the edits of jobs that differ in nothing else. */
export function packEdits(jobs: readonly EditJob[]): string {
  return JSON.stringify(jobs.map(({ edit }): Packed => (edit.kind === 'put' ? packPut(edit) : edit)));
}

/** The jobs of packEdits; `job` has what they have in common. */
export function unpackEdits(text: string, job: Omit<EditJob, 'edit'>): readonly EditJob[] {
  return (JSON.parse(text) as Packed[]).map((packed) => ({ ...job, edit: isPut(packed) ? unpackPut(packed) : packed }));
}

function isPut(packed: Packed): packed is PackedPut {
  return Array.isArray(packed);
}

function packPut({ mode, key, revision, values, whenNew, tables, problemsWhenNew, files }: Put): PackedPut {
  const rows = ([code, of]: [string, readonly EditedRow[]]) =>
    [code, of.map(({ from, values: row }) => [from, [...row]] as const)] as const;
  return [
    mode,
    key,
    revision,
    [...values],
    [...whenNew],
    Array.from(tables, rows),
    problemsWhenNew,
    files === null ? null : [files.added, files.rows, [...files.named]],
  ];
}

function unpackPut([mode, key, revision, values, whenNew, tables, problemsWhenNew, files]: PackedPut): Put {
  return {
    ...{ kind: 'put', mode, key, revision, problemsWhenNew },
    values: new Map(values),
    whenNew: new Map(whenNew),
    tables: new Map(tables.map(([code, rows]) => [code, rows.map(([from, row]) => ({ from, values: new Map(row) }))])),
    files: files === null ? null : { added: files[0], rows: files[1], named: new Map(files[2]) },
  };
}
