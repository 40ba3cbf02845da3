// A build of an app's tables that is under way or was interrupted, whichever database holds them.
import type { App } from '../app/app.ts';
import { Mistake } from './register.ts';

/**
 * What a build is for; `lossy` may drop values that new types cannot hold. An `import` is gone on with where its source is at hand, a
 * `bulk` is done whole or not at all (D39).
 */
export type BuildKind = 'rebuild' | 'lossy' | 'import' | 'bulk';

/** Whether records are put into the new tables of an app that has none. */
export function isFill(kind: BuildKind): boolean {
  return kind === 'import' || kind === 'bulk';
}

export interface Build {
  readonly appId: number;
  readonly generation: number;
  readonly kind: BuildKind;
  readonly app: App;
  readonly source: string;
  /** Rebuilds: place of the last record copied; imports: records of the source done with. */
  readonly position: number;
}

/** Refuses a load where another build waits to be finished; `fingerprint` names the load's source. */
export function refuseOtherBuild({ kind, source }: Build, fingerprint: string, appCode: string): void {
  if (kind !== 'import') {
    throw new Mistake(
      `${appCode} is being rebuilt and was interrupted; finish that first with: daicho reindex ${appCode}`,
    );
  }
  if (source !== fingerprint) {
    throw new Mistake(
      `another load of ${appCode} was interrupted; run it again first, or give it up with: daicho reindex ${appCode}`,
    );
  }
}

/** Refuses to go on with a load into an app that was emptied, and is being filled by something else. */
export function refuseBeside(appCode: string): never {
  throw new Mistake(
    `${appCode} had no records any more, and is being filled by something else; run the same command again when that is done`,
  );
}

/** Refuses to go on with a load of which the records were read for other fields than the app has now. */
export function refuseOtherFields(before: App, now: App | undefined): asserts now is App {
  const isSame =
    now !== undefined && JSON.stringify([now.fields, now.tables]) === JSON.stringify([before.fields, before.tables]);
  if (!isSame) throw new Mistake(`the definition of ${before.code} was changed meanwhile; run the same command again`);
}
