// `key list` and `key revoke`: the keys of an app, never the keys themselves (D10).
import { type Command, InvalidArgumentError } from 'commander';
import type { KeyDescription } from '../store/register.ts';
import { type Context, withRegister } from './context.ts';
import { appArgument, describeCommand, jsonOption } from './options.ts';
import { formatTable } from './table.ts';

export function keyList(context: Context): Command {
  return describeCommand('list', 'List the keys of an app.', 'daicho key list ORDERS')
    .addArgument(appArgument())
    .addOption(jsonOption())
    .action((code: string, options: { json?: true }, command: Command) =>
      withRegister(context, command, async (register) => {
        const keys = await register.keys(code);
        const now = Date.now();
        if (options.json) context.printJson(keys.map((key) => described(key, now)));
        else if (keys.length === 0)
          context.note(`${code} has no key yet; issue one with: daicho key issue ${code} USER`);
        else {
          const rows = keys.map((key) => [
            String(key.id),
            key.userId,
            stateOf(key, now),
            key.issuedAt,
            key.expiresAt === null ? 'never' : new Date(key.expiresAt).toLocaleString('sv'),
            key.lastUsedAt ?? 'never',
          ]);
          context.print(formatTable(['ID', 'USER', 'STATE', 'ISSUED', 'EXPIRES', 'LAST USED'], rows));
        }
      }),
    );
}

export function keyRevoke(context: Context): Command {
  return describeCommand('revoke', 'Revoke a key; it is refused at once.', 'daicho key revoke 3')
    .argument('<id>', 'ID of the key, as `daicho key list` shows it', parseKeyId)
    .action((id: number, _: unknown, command: Command) =>
      withRegister(context, command, async (register) => {
        await register.revokeKey(id);
        context.note(`Revoked the key ${id}.`);
      }),
    );
}

function parseKeyId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('The ID of a key is a number.');
  return Number(text);
}

function described(key: KeyDescription, now: number): unknown {
  const expiresAt = key.expiresAt === null ? null : new Date(key.expiresAt).toISOString();
  return { ...key, expiresAt, state: stateOf(key, now) };
}

function stateOf({ revokedAt, expiresAt }: KeyDescription, now: number): 'valid' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid';
}
