// What a caller may do in an app (spec 5 rule 3, D7, D9).
import type { AppState } from '../app/app.ts';
import type { Problem } from '../errors.ts';
import type { Access } from './caller.ts';

export type Right = 'use' | 'update' | 'administer';

/** Why the user may not do this in the app; null if they may. Administrators of an app have every right in it. */
export function authorize(userId: string, right: Right, state: AppState, access: Access): Problem | null {
  const rights = access.rights.get(userId);
  if (rights?.admin) return null;
  if (state !== 'production') return { code: 'not_in_production', sent: state };
  if (right === 'administer') return { code: 'no_right', limit: right };
  if (access.everyone) return null;
  if (rights === undefined) return { code: 'no_right', limit: right };
  return right === 'update' && !rights.update ? { code: 'no_right', limit: right } : null;
}
