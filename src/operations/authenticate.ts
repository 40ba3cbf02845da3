// Whether the key opens the app, whom the call runs as, and whether they may (spec 5, D7-D10).
import { hash, timingSafeEqual } from 'node:crypto';
import { callerOf, type User } from '../auth/caller.ts';
import { authorize, type Right } from '../auth/policy.ts';
import { Refusal, refuse } from '../errors.ts';
import type { AppKey, RegisteredApp, Store } from '../store/store.ts';
import { type Call, type Form, requestedLang, required } from './request.ts';

export interface Authenticated {
  readonly registered: RegisteredApp;
  readonly caller: User;
}

/**
 * The app and the user a call runs as; refuses a wrong key, a switched off API, a missing right. Sets the call's language.
 * Without credentials nobody is asked: the call's problems are its refusal.
 */
export function authenticate(store: Store, form: Form, right: Right, call: Call): Authenticated {
  const appcode = required(form, 'appcode', call.problems);
  const appkey = required(form, 'appkey', call.problems);
  if (appcode === '' || appkey === '') throw new Refusal(call.problems);
  const catalog = store.catalog();
  if (!catalog.webApi) throw refuse('option_off');
  const registered = catalog.apps.get(appcode);
  const key = keyOf(registered, appkey);
  const keyUser = catalog.users.get(key?.userId ?? '');
  if (registered === undefined || key === null || keyUser === undefined) throw refuse('bad_credentials');
  store.keyUsed(key);
  call.lang = requestedLang(form) ?? keyUser.lang;
  const caller = callerOf(keyUser, form.get('execuserid'), registered.access, catalog.users);
  call.lang = requestedLang(form) ?? caller.lang;
  const problem = authorize(caller.id, right, registered.app.state, registered.access);
  if (problem !== null) throw new Refusal([problem]);
  return { registered, caller };
}

/** The app's key that was sent, unless it has expired (D10); compared by digest in constant time. */
function keyOf(registered: RegisteredApp | undefined, sent: string): AppKey | null {
  const digest = hash('sha256', sent, 'hex');
  const key = registered?.keys.get(digest);
  if (key === undefined || !timingSafeEqual(key.digest, Buffer.from(digest, 'hex'))) return null;
  return key.expiresAt !== null && key.expiresAt <= Date.now() ? null : key;
}
