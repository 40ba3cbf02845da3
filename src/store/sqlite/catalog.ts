// Reads the catalog, and reads it again only when its version says that it changed.
import type { Rights, User } from '../../auth/caller.ts';
import { parseDefinition } from '../definition-text.ts';
import type { AppKey, Catalog, RegisteredApp } from '../store.ts';
import { eventsOf, type Webhook } from '../webhooks.ts';
import type { Connection } from './connection.ts';

/** Gives the catalog as of now; made for one connection. */
export interface CatalogReader {
  current(): Catalog;
}

/** A reader that costs one look at the database's change counter while nothing was committed. */
export function catalogReader(db: Connection): CatalogReader {
  const dataVersion = db.prepare('pragma data_version').pluck();
  const catalogVersion = db.prepare(`select value from settings where name = 'catalog_version'`).pluck();
  let seenData: unknown;
  let seenCatalog: unknown;
  let catalog: Catalog | null = null;
  return {
    current() {
      // The change counter tells of other connections' commits only: it is enough where this one never writes.
      const data = db.readonly ? dataVersion.get() : null;
      if (catalog !== null && db.readonly && data === seenData) return catalog;
      const version = catalogVersion.get();
      if (catalog === null || version !== seenCatalog) catalog = db.transaction(() => readCatalog(db))();
      seenData = data;
      seenCatalog = version;
      return catalog;
    },
  };
}

/** Marks the catalog as changed; in the transaction that changes it. */
export function catalogChanged(db: Connection): void {
  db.exec(`update settings set value = cast(cast(value as integer) + 1 as text) where name = 'catalog_version'`);
}

interface AppRow {
  id: number;
  code: string;
  definition: string;
  version: number;
  generation: number;
}

function readCatalog(db: Connection): Catalog {
  const webApi = db.prepare(`select value from settings where name = 'web_api'`).pluck().get() === 'on';
  const users = new Map<string, User>();
  for (const user of db.prepare('select id, name, lang from users').all() as User[]) users.set(user.id, user);
  const apps = new Map<string, RegisteredApp>();
  for (const row of db
    .prepare('select id, code, definition, version, generation from apps order by code')
    .all() as AppRow[]) {
    const app = parseDefinition(row.definition);
    apps.set(row.code, {
      id: row.id,
      version: row.version,
      generation: row.generation,
      distributed: false,
      app,
      access: { rights: readRights(db, row.id), everyone: app.everyone },
      keys: readKeys(db, row.id),
      webhooks: readWebhooks(db, row.id),
    });
  }
  return { webApi, apps, users };
}

function readRights(db: Connection, appId: number): ReadonlyMap<string, Rights> {
  const rows = db
    .prepare('select user_id, may_update, may_edit, may_admin from rights where app_id = ?')
    .all(appId) as {
    user_id: string;
    may_update: number;
    may_edit: number;
    may_admin: number;
  }[];
  return new Map(
    rows.map((row) => [
      row.user_id,
      { update: row.may_update === 1, edit: row.may_edit === 1, admin: row.may_admin === 1 },
    ]),
  );
}

function readKeys(db: Connection, appId: number): ReadonlyMap<string, AppKey> {
  const rows = db
    .prepare('select id, user_id, digest, expires_at from keys where app_id = ? and revoked_at is null')
    .all(appId) as { id: number; user_id: string; digest: Buffer; expires_at: number | null }[];
  return new Map(
    rows.map((row) => [
      row.digest.toString('hex'),
      { id: row.id, userId: row.user_id, digest: row.digest, expiresAt: row.expires_at },
    ]),
  );
}

function readWebhooks(db: Connection, appId: number): readonly Webhook[] {
  const rows = db.prepare('select id, events from webhooks where app_id = ? order by id').all(appId) as {
    id: number;
    events: string;
  }[];
  return rows.map(({ id, events }) => ({ id, events: eventsOf(events) }));
}
