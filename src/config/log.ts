// The log: one line an event on standard error, `time level message key=value …`; never a key or a password.

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts are made only when the line is written. */
type Write = (message: string, facts?: () => Record<string, unknown>) => void;

export interface Log {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

const nothing: Write = () => {};

/** A log that writes the level and all above it. */
export function createLog(
  level: LogLevel,
  write: (line: string) => void = (line) => void process.stderr.write(line),
): Log {
  const order = ['error', 'warn', 'info', 'debug'] as const;
  const last = level === 'silent' ? -1 : order.indexOf(level);
  const writer = (name: (typeof order)[number]): Write => {
    if (order.indexOf(name) > last) return nothing;
    return (message, facts) => {
      const pairs = Object.entries(facts?.() ?? {}).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
      write(`${new Date().toISOString()} ${name} ${message}${pairs.join('')}\n`);
    };
  };
  return { error: writer('error'), warn: writer('warn'), info: writer('info'), debug: writer('debug') };
}
