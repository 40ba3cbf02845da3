// The environment of the process; nothing else reads it.

/** Variable → its value; undefined where it is not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment as it is now. An empty variable counts as not set, as in files that list all of them. */
export function readEnvironment(): Environment {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
}
