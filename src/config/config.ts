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

/** What an S3-compatible store takes in one piece. */
const GREATEST_FILE = 5 * 1024 * 1024 * 1024;

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
    meaning:
      'greatest size of a request body without its files: bytes, or a number with KB, MB or GB (1KB is 1024 bytes)',
    expected: 'a size from 1KB to 500MB, such as 10485760, 512KB or 10MB',
    read: byteSize(1024, GREATEST_BODY),
  },
  filesDir: {
    variable: 'FILES_DIR',
    flag: '--files-dir',
    placeholder: 'folder',
    default: '',
    meaning: 'folder that keeps the contents of files; nothing: the folder files in the data folder',
    expected: 'the path of a folder, or nothing',
    read: matching(/^[^\0]*$/),
  },
  maxFile: {
    variable: 'MAX_FILE',
    flag: '--max-file',
    placeholder: 'size',
    default: '1GB',
    meaning: 'greatest size of a file that is uploaded',
    expected: 'a size from 1KB to 5GB, such as 20MB',
    read: byteSize(1024, GREATEST_FILE),
  },
  maxFiles: {
    variable: 'MAX_FILES',
    flag: '--max-files',
    placeholder: 'number',
    default: '100',
    meaning: 'most files that are uploaded with one update',
    expected: 'a whole number from 0 to 10000; 0 for no uploads',
    read: wholeNumber(0, 10_000),
  },
  maxUpload: {
    variable: 'MAX_UPLOAD',
    flag: '--max-upload',
    placeholder: 'size',
    default: '2GB',
    meaning: 'greatest size of the files of one update together',
    expected: 'a size from 1KB to 500GB, such as 100MB',
    read: byteSize(1024, 100 * GREATEST_FILE),
  },
  svgImages: {
    variable: 'SVG_IMAGES',
    flag: '--svg-images',
    placeholder: 'on or off',
    default: 'off',
    meaning: 'whether image fields take SVG, which can hold scripts, too',
    expected: 'on or off',
    read: (text: string): boolean | undefined => (text === 'on' ? true : text === 'off' ? false : undefined),
  },
  historyDays: {
    variable: 'HISTORY_DAYS',
    flag: '--history-days',
    placeholder: 'days',
    default: '0',
    meaning: 'days for which versions that were replaced, and records that were deleted, are kept; 0 for ever',
    expected: 'a whole number from 0 to 36500',
    read: wholeNumber(0, 36_500),
  },
  s3Bucket: {
    variable: 'S3_BUCKET',
    flag: '--s3-bucket',
    placeholder: 'name',
    default: '',
    meaning: 'bucket of an S3-compatible store that keeps the contents of files instead of the folder',
    expected: 'the name of a bucket, or nothing',
    read: matching(/^(?:[A-Za-z0-9][A-Za-z0-9._-]{1,62})?$/),
  },
  s3Prefix: {
    variable: 'S3_PREFIX',
    flag: '--s3-prefix',
    placeholder: 'text',
    default: '',
    meaning: 'what stands before every name in the bucket, such as daicho/',
    expected: "letters, digits and ! - _ . * ' ( ) /, not a / first",
    read: matching(/^(?:[A-Za-z0-9!_.*'()-][A-Za-z0-9!_.*'()/-]*)?$/),
  },
  s3Endpoint: {
    variable: 'S3_ENDPOINT',
    flag: '--s3-endpoint',
    placeholder: 'address',
    default: '',
    meaning: "address of the S3-compatible store; nothing: Amazon's",
    expected: 'an address such as https://s3.example.com, or nothing',
    read: matching(/^(?:https?:\/\/[A-Za-z0-9.[\]:-]+(?:\/[^\s?#@]*)?)?$/),
  },
  s3Region: {
    variable: 'S3_REGION',
    flag: '--s3-region',
    placeholder: 'name',
    default: 'us-east-1',
    meaning: 'region of the S3-compatible store',
    expected: 'the name of a region, such as ap-northeast-1',
    read: matching(/^[A-Za-z0-9-]+$/),
  },
  s3AccessKeyId: {
    variable: 'S3_ACCESS_KEY_ID',
    flag: '--s3-access-key-id',
    isSecret: true,
    placeholder: 'key',
    default: '',
    meaning: "access key for the S3-compatible store; nothing: what Amazon's own tools would use",
    expected: 'an access key, or nothing',
    read: matching(/^\S*$/),
  },
  s3SecretAccessKey: {
    variable: 'S3_SECRET_ACCESS_KEY',
    flag: '--s3-secret-access-key',
    isSecret: true,
    placeholder: 'key',
    default: '',
    meaning: 'the secret that belongs to it',
    expected: 'a secret access key, or nothing',
    read: matching(/^\S*$/),
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
  webhookPrivate: {
    variable: 'WEBHOOK_PRIVATE',
    flag: '--webhook-private',
    placeholder: 'on or off',
    default: 'off',
    meaning: 'whether webhooks may lead to addresses of this machine and of private networks',
    expected: 'on or off',
    read: (text: string): boolean | undefined => (text === 'on' ? true : text === 'off' ? false : undefined),
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
  ['GB', 1024 * 1024 * 1024],
]);

function byteSize(least: number, greatest: number): (text: string) => number | undefined {
  return (text) => {
    const parts = /^(\d{1,12})(KB|MB|GB)?$/i.exec(text);
    if (parts === null) return undefined;
    const bytes = Number(parts[1]) * (UNITS.get((parts[2] ?? '').toUpperCase()) ?? Number.NaN);
    return bytes >= least && bytes <= greatest ? bytes : undefined;
  };
}
