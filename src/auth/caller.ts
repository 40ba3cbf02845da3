// Whom a call runs as (spec 5, D8).
import { type Problem, Refusal } from '../errors.ts';

export interface User {
  readonly id: string;
  readonly name: string;
  readonly lang: 'ja' | 'en' | 'zh';
}

/** What a user may do in an app; being listed is the right to use it, which is to search (D7). */
export interface Rights {
  readonly update: boolean;
  readonly edit: boolean;
  readonly admin: boolean;
}

/** Who may do what in one app. */
export interface Access {
  readonly rights: ReadonlyMap<string, Rights>;
  /** Every user may search and update. */
  readonly everyone: boolean;
}

const UNKNOWN: Problem = { code: 'unknown_execuserid', at: 'execuserid' };

/**
 * The user a call runs as: that of the key, or `execuserid` where the key's user administers the app (spec 5 rule 2).
 * Refuses an `execuserid` that is used and unknown (D8).
 */
export function callerOf(
  keyUser: User,
  execUserId: string | undefined,
  access: Access,
  users: ReadonlyMap<string, User>,
): User {
  if (execUserId === undefined || execUserId === '') return keyUser;
  if (access.rights.get(keyUser.id)?.admin !== true) return keyUser;
  const user = users.get(execUserId);
  if (user === undefined) throw new Refusal([{ ...UNKNOWN, sent: execUserId.slice(0, 100) }]);
  return user;
}
