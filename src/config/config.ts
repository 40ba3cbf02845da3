// Every setting once: its names, its default, what it means, what it may be.
import type { Environment } from './env.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

/** One setting, given by a variable of the environment or by a flag of the same meaning. */
export interface Setting<Value> {
  readonly variable: string;
  readonly flag: string;
  /** What stands for the value in help. */
  readonly placeholder: string;
  readonly default: string;
  /** A wrong value is not shown: it may hold a password. */
  readonly isSecret?: boolean;
  readonly meaning: string;
  /** What a message says was expected. */
  readonly expected: string;
  /** The value a text stands for; undefined for a text that is none. */
  read(text: string): Value | undefined;
}

export const HTTP_STATUSES = ['semantic', 'always-200'] as const;
export type HttpStatus = (typeof HTTP_STATUSES)[number];

const DISTRIBUTES = ['', 'citus'] as const;
export type Distribute = (typeof DISTRIBUTES)[number];

/** Or nothing. */
const DATABASE_ADDRESS = /^(?:postgres(?:ql)?:\/\/[^\s,]+(?:,[^\s,/]+)*(?:\/[^\s,]*)?)?$/;

/** A body is decoded to one string, which cannot be longer than about this. */
const GREATEST_BODY = 500 * 1024 * 1024;

export const SETTINGS = {
  port: {
    variable: 'PORT',
    flag: '--port',
    placeholder: 'number',
    default: '4040',
    meaning: 'port to listen on; 0 for any that is free',
    expected: 'a whole number from 0 to 65535',
    read: wholeNumber(0, 65_535),
  },
  host: {
    variable: 'HOST',
    flag: '--host',
    placeholder: 'address',
    default: '127.0.0.1',
    meaning: 'address to listen on; 0.0.0.0 for all of this machine',
    expected: 'an IP address or a host name',
    read: matching(/^[A-Za-z0-9._:%-]+$/),
  },
  dataDir: {
    variable: 'DATA_DIR',
    flag: '--data-dir',
    placeholder: 'folder',
    default: './data',
    meaning: 'folder that holds the register',
    expected: 'the path of a folder',
    read: matching(/^[^\0]+$/),
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    flag: '--database-url',
    isSecret: true,
    placeholder: 'address',
    default: '',
    meaning:
      'PostgreSQL database that holds the register instead of the data folder: postgres://user:password@host/database',
    expected: 'an address that begins with postgres:// or postgresql://',
    read: matching(DATABASE_ADDRESS),
  },
  databaseReadUrls: {
    variable: 'DATABASE_READ_URLS',
    flag: '--database-read-urls',
    isSecret: true,
    placeholder: 'addresses',
    default: '',
    meaning: 'read replicas of that database for searches, with commas between their addresses',
    expected: 'addresses that begin with postgres:// or postgresql://, with commas between them',
    read: listOf(matching(DATABASE_ADDRESS)),
  },
  databaseConnections: {
    variable: 'DATABASE_CONNECTIONS',
    flag: '--database-connections',
    placeholder: 'number',
    default: '8',
    meaning: 'connections of one process to that database for short searches; as many for long ones, and up to 9 more',
    expected: 'a whole number from 1 to 1000',
    read: wholeNumber(1, 1_000),
  },
  databaseTimeout: {
    variable: 'DATABASE_TIMEOUT',
    flag: '--database-timeout',
    placeholder: 'seconds',
    default: '30',
    meaning: 'seconds after which that database gives up a statement of a request; 0 for never',
    expected: 'a whole number from 0 to 86400',
    read: wholeNumber(0, 86_400),
  },
  distribute: {
    variable: 'DISTRIBUTE',
    flag: '--distribute',
    placeholder: 'engine',
    default: '',
    meaning: 'citus: a register that is made in that database is spread by Citus over several; nothing: it is in one',
    expected: 'citus, or nothing',
    read: (text: string): Distribute | undefined => DISTRIBUTES.find((kind) => kind === text),
  },
  basePath: {
    variable: 'BASE_PATH',
    flag: '--base-path',
    placeholder: 'path',
    default: '',
    meaning: 'product segment before /webapi, such as /pms',
    expected: 'a path that begins with / and does not end with it, of letters, digits and . _ ~ -, or nothing',
    read: matching(/^(?:\/[A-Za-z0-9._~-]+)*$/),
  },
  httpStatus: {
    variable: 'HTTP_STATUS',
    flag: '--http-status',
    placeholder: 'kind',
    default: 'semantic',
    meaning: 'semantic: refused requests have a status of their own; always-200: they have 200 too',
    expected: HTTP_STATUSES.join(' or '),
    read: (text: string): HttpStatus | undefined => HTTP_STATUSES.find((kind) => kind === text),
  },
  maxBody: {
    variable: 'MAX_BODY',
    flag: '--max-body',
    placeholder: 'size',
    default: '10MB',
    meaning: 'greatest size of a request body: bytes, or a number with KB or MB (1KB is 1024 bytes)',
    expected: 'a size from 1KB to 500MB, such as 10485760, 512KB or 10MB',
    read: byteSize(1024, GREATEST_BODY),
  },
  maxRecords: {
    variable: 'MAX_RECORDS',
    flag: '--max-records',
    placeholder: 'number',
    default: '0',
    meaning: 'most records that a search without limit may return; 0 for any number',
    expected: 'a whole number from 0 to 1000000000',
    read: wholeNumber(0, 1_000_000_000),
  },
  cacheMiB: {
    variable: 'CACHE_MIB',
    flag: '--cache-mib',
    placeholder: 'number',
    default: '64',
    meaning: 'page cache of short searches, in MiB',
    expected: 'a whole number from 1 to 65536',
    read: wholeNumber(1, 65_536),
  },
  workers: {
    variable: 'WORKERS',
    flag: '--workers',
    placeholder: 'number',
    default: '1',
    meaning: 'processes that answer requests',
    expected: 'a whole number from 1 to 64',
    read: wholeNumber(1, 64),
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    flag: '--log-level',
    placeholder: 'level',
    default: 'info',
    meaning: 'what is logged on standard error: error, warn, info, debug, or silent for nothing',
    expected: LOG_LEVELS.join(', ').replace(/, (?=[^,]*$)/, ' or '),
    read: (text: string): LogLevel | undefined => LOG_LEVELS.find((level) => level === text),
  },
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

export type Config = {
  readonly [name in SettingName]: Exclude<ReturnType<(typeof SETTINGS)[name]['read']>, undefined>;
};

/** Settings that cannot be what they were set to, one line each. */
export class WrongSettings extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'WrongSettings';
  }
}

/** The settings that are asked for, read from flags, else from the environment, else their defaults; throws WrongSettings. */
export function readConfig<Name extends SettingName>(
  names: readonly Name[],
  flags: { readonly [name in SettingName]?: string },
  environment: Environment,
): Pick<Config, Name> {
  const config: Partial<Record<SettingName, unknown>> = {};
  const wrong: string[] = [];
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const text = flags[name] ?? environment[setting.variable] ?? setting.default;
    const value = setting.read(text);
    const given = flags[name] === undefined ? setting.variable : setting.flag;
    if (value === undefined)
      wrong.push(`${given} is ${setting.isSecret ? 'wrong' : JSON.stringify(text)}; expected ${setting.expected}`);
    config[name] = value;
  }
  if (wrong.length > 0) throw new WrongSettings(wrong);
  return config as Pick<Config, Name>;
}

function wholeNumber(least: number, greatest: number): (text: string) => number | undefined {
  return (text) => {
    if (!/^\d{1,15}$/.test(text)) return undefined;
    const value = Number(text);
    return value >= least && value <= greatest ? value : undefined;
  };
}

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined);
}

/** Texts with commas between them; none for ''. */
function listOf(read: (text: string) => string | undefined): (text: string) => readonly string[] | undefined {
  return (text) => {
    const texts = text === '' ? [] : text.split(/,\s*(?=postgres(?:ql)?:)/).map((part) => read(part.trim()));
    return texts.every((part) => part !== undefined && part !== '') ? (texts as string[]) : undefined;
  };
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['KB', 1024],
  ['MB', 1024 * 1024],
]);

function byteSize(least: number, greatest: number): (text: string) => number | undefined {
  return (text) => {
    const parts = /^(\d{1,12})(KB|MB)?$/i.exec(text);
    if (parts === null) return undefined;
    const bytes = Number(parts[1]) * (UNITS.get((parts[2] ?? '').toUpperCase()) ?? Number.NaN);
    return bytes >= least && bytes <= greatest ? bytes : undefined;
  };
}
