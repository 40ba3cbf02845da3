// Rights in words.
import type { Rights } from '../auth/caller.ts';

/** `use, update`: everyone who is listed may use the app; an administrator may do everything in it. */
export function rightsText({ update, edit, admin }: Rights): string {
  if (admin) return 'administrator';
  return ['use', ...(update ? ['update'] : []), ...(edit ? ['edit'] : [])].join(', ');
}
