// The first start of a server: an example app with records, two users, a key of each.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { User } from '../auth/caller.ts';
import type { Register } from '../store/register.ts';
import { importRecords } from './import-records.ts';
import { issueKey } from './issue-key.ts';
import { readDefinition } from './read-definition.ts';

const EXAMPLE_APP = 'ORDERS';

const ADMINISTRATOR: User = { id: 'admin', name: '管理者', lang: 'ja' };
const ORDINARY: User = { id: 'yamada', name: '山田太郎', lang: 'ja' };

/** What a first start made. The keys are kept nowhere. */
export interface FirstStart {
  readonly app: string;
  readonly records: number;
  readonly administrator: User & { readonly key: string };
  readonly ordinary: User & { readonly key: string };
}

/** Makes the example in an empty register. */
export async function makeExample(register: Register): Promise<FirstStart> {
  const definition = exampleFile('orders.yaml');
  const read = readDefinition(definition, readFileSync(definition, 'utf8'));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  const progress = () => {};
  await register.apply(read.app, read.source, { allowDataLoss: false, dryRun: false, progress });
  await register.addUser(ADMINISTRATOR);
  await register.addUser(ORDINARY);
  await register.grant(EXAMPLE_APP, ADMINISTRATOR.id, { update: true, edit: true, admin: true });
  await register.grant(EXAMPLE_APP, ORDINARY.id, { update: true, edit: false, admin: false });
  await register.setWebApi(true);
  const { good, bad } = await importRecords(register, {
    ...{
      appCode: EXAMPLE_APP,
      file: exampleFile('orders.csv'),
      map: new Map(),
      dryRun: false,
      userId: ADMINISTRATOR.id,
    },
    ...{ signal: new AbortController().signal, progress, onIndexing: progress },
  });
  if (bad > 0) throw new Error(`${bad} of the example's records are bad`);
  return {
    app: EXAMPLE_APP,
    records: good,
    administrator: await withKey(register, ADMINISTRATOR),
    ordinary: await withKey(register, ORDINARY),
  };
}

async function withKey(register: Register, user: User): Promise<User & { readonly key: string }> {
  const { key } = await issueKey(register, EXAMPLE_APP, user.id, null);
  return { ...user, key };
}

/** A file of the package's examples, wherever the package is installed. */
function exampleFile(name: string): string {
  return fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
}
