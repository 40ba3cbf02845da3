// What a store of records does, whichever database holds it: the catalog, search, update.
import type { App } from '../app/app.ts';
import type { Access, User } from '../auth/caller.ts';
import type { Problem } from '../errors.ts';
import type { StoredFile } from '../fields/file.ts';

export { Unavailable } from '../errors.ts';
export type { StoredFile } from '../fields/file.ts';

import type { CalculationFault } from '../formulas/evaluate-all.ts';
import type { Search } from '../search/condition.ts';
import type { Change } from '../update/change.ts';
import type { Edit } from '../update/edit.ts';
import type { RecordHistory, WholeRecord } from './versions.ts';
import type { Webhook } from './webhooks.ts';

/** A key as the catalog holds it: never the key itself, only its digest (D10). */
export interface AppKey {
  readonly id: number;
  readonly userId: string;
  /** SHA-256 of the key. */
  readonly digest: Uint8Array;
  /** Milliseconds since 1970; null for a key that does not expire. */
  readonly expiresAt: number | null;
}

/** An app in the register: its definition as applied, and who may do what in it. */
export interface RegisteredApp {
  readonly id: number;
  /** Counts applied definitions. */
  readonly version: number;
  /** Which of its tables are in use. */
  readonly generation: number;
  /** Its records are spread over several databases. */
  readonly distributed: boolean;
  readonly app: App;
  readonly access: Access;
  /** Keys that are not revoked, by digest in hexadecimal. */
  readonly keys: ReadonlyMap<string, AppKey>;
  /** Who is told of what is written. */
  readonly webhooks: readonly Webhook[];
}

/** Everything a request is judged by; a snapshot. */
export interface Catalog {
  readonly webApi: boolean;
  /** By app code. */
  readonly apps: ReadonlyMap<string, RegisteredApp>;
  readonly users: ReadonlyMap<string, User>;
}

/** What a search found. Records are JSON text in UTF-8, joined by commas. */
export type Found =
  | { readonly kind: 'none' }
  /** More than the operator's cap. */
  | { readonly kind: 'too_many' }
  | { readonly kind: 'unknown_after' }
  /** The app's definition is another by now: parse the request again. */
  | { readonly kind: 'stale' }
  /** `next` is the value for `after`; null where nothing follows. */
  | { readonly kind: 'page'; readonly records: Uint8Array; readonly next: string | null }
  /** More than fits a page: all pages show one state of the data; `next` is known once they are read. */
  | { readonly kind: 'stream'; readonly pages: AsyncIterable<Uint8Array>; next(): string | null };

/** What became of an update. */
export type Updated =
  /** The record's entries after it, as JSON members without braces; `faults`: fields that could not be calculated. */
  | {
      readonly kind: 'updated';
      readonly entries: string;
      readonly revision?: number;
      readonly faults?: readonly CalculationFault[];
    }
  | { readonly kind: 'unknown_record' }
  | { readonly kind: 'revision_conflict'; readonly revision: string }
  /** What only the database knows to be wrong with it: a file that is not there, a row that is not. */
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  /** The app's definition is another by now: parse the request again. */
  | { readonly kind: 'stale' };

/** What became of an edit (D39). */
export type Written = Updated | { readonly kind: 'deleted' };

/** Edits that come in batches, and what becomes of them. */
export interface TogetherEdits {
  /** The next batch is asked for while the one before is written. */
  readonly batches: AsyncIterable<readonly Edit[]>;
  /** There are so many that what an empty app gains by being filled aside (P07) is worth its trouble. */
  readonly areMany: boolean;
  /** Called with what became of a batch, in their order; nothing of it is durable before the end. */
  written(results: readonly Written[]): void;
  /** Asked at the end: whether all is to be made durable, or undone. */
  commits(): boolean;
}

export interface Store {
  /** The catalog. What it allows is done only if it is that of the moment; what it refuses is asked again with `renewed`. */
  catalog(): Catalog;
  /** Whether there is another catalog by now than the one seen, so that a refusal must be judged again. */
  renewed(seen: Catalog): Promise<boolean>;
  /**
   * Answered at once where that is quicker than a promise. `maxRecords` caps a search without a limit; 0 for no cap (D22).
   * `userId` is whom the search runs as: what they wrote is found.
   */
  search(app: RegisteredApp, search: Search, maxRecords: number, userId: string): Found | Promise<Found>;
  /** Those of the files that the app has, by ID. `stale`: judge the request again. */
  files(app: RegisteredApp, ids: readonly string[]): Promise<ReadonlyMap<string, StoredFile> | 'stale'>;
  /** Answered only after the change is durable; updates waiting together share a commit (D29, D31). */
  update(app: RegisteredApp, change: Change, userId: string): Promise<Updated>;
  /** The same of what operations beside the specification write (D39). */
  edit(app: RegisteredApp, edit: Edit, userId: string): Promise<Written>;
  /** Many edits in one transaction: all of them are done, or none. The entries of their records may hold the primary key alone. */
  editTogether(app: RegisteredApp, userId: string, edits: TogetherEdits): Promise<'done' | 'stale'>;
  /** A record with its rows; null where there is none. */
  record(app: RegisteredApp, primaryKey: string): Promise<WholeRecord | null | 'stale'>;
  /** The history of a record, deleted ones included; null where there is none. */
  history(app: RegisteredApp, primaryKey: string): Promise<RecordHistory | null | 'stale'>;
  /** How many records a search finds. */
  count(app: RegisteredApp, search: Search): Promise<number | 'stale'>;
  /** Notes that a key was used; written some time later. */
  keyUsed(key: AppKey): void;
  /** Takes up work that another process left unfinished; resolves when it is done. */
  resume(): Promise<void>;
  close(): Promise<void>;
}
