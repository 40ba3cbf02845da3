// Issues a key: 256 random bits, of which the register keeps the digest (D10).
import { createHash, randomBytes } from 'node:crypto';
import type { Register } from '../store/register.ts';

export interface IssuedKey {
  readonly id: number;
  /** The key itself; it cannot be had again. */
  readonly key: string;
}

/** Issues a key to an app for a user; `expiresAt` in milliseconds since 1970, null for a key that does not expire. */
export async function issueKey(
  register: Register,
  appCode: string,
  userId: string,
  expiresAt: number | null,
): Promise<IssuedKey> {
  const key = randomBytes(32).toString('base64url');
  const digest = createHash('sha256').update(key).digest();
  return { id: await register.addKey(appCode, userId, digest, expiresAt), key };
}
