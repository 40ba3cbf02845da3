// Reads the catalog, and knows when it is another: by a notice from whoever changed it, and by its version in every answer.
import type { App } from '../../app/app.ts';
import type { Rights, User } from '../../auth/caller.ts';
import { parseDefinition } from '../definition-text.ts';
import type { AppKey, Catalog, RegisteredApp } from '../store.ts';
import { eventsOf, type Webhook } from '../webhooks.ts';
import { type Connection, type Pool, rowsOf, run } from './connection.ts';

/** A catalog and the version it has. */
export interface VersionedCatalog extends Catalog {
  readonly version: string;
  /** IDs of the apps that are being built: what is written to them is noted (changes.ts). */
  readonly building: ReadonlySet<number>;
}

/** Channel of the notices; the schema's name keeps registers of one database apart. */
export function channelOf(schema: string): string {
  return `daicho_${schema}`;
}

/** Marks the catalog as changed, in the transaction that changes it; others hear of it when that commits. */
export async function catalogChanged(tx: Connection, schema: string): Promise<void> {
  await run(tx, `update settings set value = (value::bigint + 1)::text where name = 'catalog_version'`);
  await run(tx, 'select pg_notify($1, $2)', [channelOf(schema), 'catalog']);
}

/** The version that the catalog has now. */
export async function catalogVersion(on: Connection | Pool): Promise<string> {
  const [row] = await rowsOf<[string]>(on, `select value from settings where name = 'catalog_version'`);
  return row?.[0] as string;
}

/** The catalog of one state of the data; definitions that `before` has too are not read again. */
export async function readCatalog(pool: Pool, before: VersionedCatalog | null = null): Promise<VersionedCatalog> {
  const [settings, users, apps, rights, keys, builds, webhooks] = await pool.begin(
    'isolation level repeatable read read only',
    (tx) =>
      Promise.all([
        rowsOf<[string, string]>(
          tx,
          `select name, value from settings where name in ('catalog_version', 'web_api', 'distribute')`,
        ),
        rowsOf<[string, string, User['lang']]>(tx, 'select id, name, lang from users'),
        rowsOf<[number, string, number, number, string | null]>(
          tx,
          `select id, code, version, generation, case when (id, version) in (
           select (v->>0)::int, (v->>1)::int from json_array_elements($1::text::json) v
         ) then null else definition end from apps order by code`,
          [JSON.stringify([...(before?.apps.values() ?? [])].map(({ id, version }) => [id, version]))],
        ),
        rowsOf<[number, string, boolean, boolean, boolean]>(
          tx,
          'select app_id, user_id, may_update, may_edit, may_admin from rights',
        ),
        rowsOf<[number, number, string, Uint8Array, string | null]>(
          tx,
          'select app_id, id, user_id, digest, expires_at from keys where revoked_at is null',
        ),
        rowsOf<[number]>(tx, 'select app_id from builds'),
        rowsOf<[number, number, string]>(tx, 'select app_id, id, events from webhooks order by id'),
      ]),
  );
  const settled = new Map(settings);
  const distributed = settled.has('distribute');
  const known = before?.apps ?? new Map<string, RegisteredApp>();
  const rightsOf = grouped(rights, ([userId, update, edit, admin]): [string, Rights] => [
    userId,
    { update, edit, admin },
  ]);
  const keysOf = grouped(keys, ([id, userId, digest, expiresAt]): [string, AppKey] => [
    Buffer.from(digest).toString('hex'),
    { id, userId, digest, expiresAt: expiresAt === null ? null : Number(expiresAt) },
  ]);
  const webhooksOf = grouped(webhooks, ([id, events]): [number, Webhook] => [id, { id, events: eventsOf(events) }]);
  const registered = apps.map(([id, code, version, generation, definition]): [string, RegisteredApp] => {
    const app: App = definition === null ? (known.get(code) as RegisteredApp).app : parseDefinition(definition);
    const access = { rights: rightsOf.get(id) ?? new Map(), everyone: app.everyone };
    const keys = keysOf.get(id) ?? new Map();
    const webhooks = [...(webhooksOf.get(id)?.values() ?? [])];
    return [code, { id, version, generation, distributed, app, access, keys, webhooks }];
  });
  return {
    version: settled.get('catalog_version') as string,
    building: new Set(builds.map(([appId]) => appId)),
    webApi: settled.get('web_api') === 'on',
    users: new Map(users.map(([id, name, lang]) => [id, { id, name, lang }])),
    apps: new Map(registered),
  };
}

/** Rows by the app they begin with. */
function grouped<Rest extends readonly unknown[], Key, Value>(
  rows: readonly (readonly [number, ...Rest])[],
  entry: (rest: Rest) => [Key, Value],
): Map<number, Map<Key, Value>> {
  const groups = new Map<number, Map<Key, Value>>();
  for (const [appId, ...rest] of rows) {
    const group = groups.get(appId) ?? new Map<Key, Value>();
    group.set(...entry(rest as unknown as Rest));
    groups.set(appId, group);
  }
  return groups;
}
