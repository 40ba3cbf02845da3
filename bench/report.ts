// What the bench found, as a document and as a plain text table.
import { cpus } from 'node:os';
import type { Bulk } from './bulk.ts';
import type { Measured } from './drive.ts';
import type { Export } from './export.ts';
import type { Fill } from './fill.ts';
import type { Loaded } from './load.ts';

/** One line of the table; bytes are those of an answer's body. */
export interface RowResult {
  readonly name: string;
  /** Records found by the row's searches, least and most; null for updates. */
  readonly finds: readonly [number, number] | null;
  readonly connections: number;
  readonly measured: Measured;
  readonly oneClient: Measured | null;
  readonly bare: Measured | null;
  /** Requests a second in relation to the bare server's. */
  readonly ratio: number | null;
}

export interface Report {
  readonly machine: string;
  readonly seconds: number;
  readonly workers: number;
  readonly engine: string;
  readonly loaded: Loaded;
  readonly importRate: number;
  readonly startMilliseconds: number;
  readonly memoryAtRest: number | null;
  readonly memoryAfter: number | null;
  readonly rows: readonly RowResult[];
  /** Null where it was not measured. */
  readonly bulk: Bulk | null;
  readonly exported: Export | null;
  readonly fill: Fill | null;
  /** Rate of updates with 32 clients in relation to one client's. */
  readonly updateFactor: number | null;
}

/** The machine as one line. */
export function machine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${processors.length} × ${model}`;
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const size = (bytes: number | null) =>
  bytes === null ? 'unknown' : `${(bytes / 1e6).toFixed(bytes < 1e9 ? 1 : 0)} MB`;

/** The report as text that can be pasted into a page. */
export function reportText(report: Report): string {
  const { loaded } = report;
  const facts = [
    ['machine', report.machine],
    ...(report.engine === 'sqlite' ? [] : [['engine', 'PostgreSQL']]),
    ...(report.workers === 1 ? [] : [['workers', String(report.workers)]]),
    [
      'import',
      `${whole(loaded.records)} records in ${loaded.importSeconds.toFixed(1)} s: ${whole(report.importRate)}/s`,
    ],
    [
      'database',
      `${size(loaded.databaseBytes)}, ${(loaded.databaseBytes / loaded.csvBytes).toFixed(1)} times the CSV of ${size(loaded.csvBytes)}`,
    ],
    ['start', `${whole(report.startMilliseconds)} ms to the first answer`],
    ['memory', `${size(report.memoryAtRest)} at rest, ${size(report.memoryAfter)} after all rows`],
    ...(report.bulk === null
      ? []
      : [
          [
            'bulk',
            `${whole(report.bulk.records)} records put in at ${whole(report.bulk.insertRate)}/s, taken out at ${whole(report.bulk.deleteRate)}/s`,
          ],
        ]),
    ...(report.fill === null
      ? []
      : [
          [
            'fill',
            `${whole(report.fill.records)} records into an empty app at ${whole(report.fill.rate)}/s, of seven fields at ${whole(report.fill.plainRate)}/s; ${size(report.fill.memory)} at most`,
          ],
        ]),
    ...(report.exported === null
      ? []
      : [
          [
            'export',
            `${whole(report.exported.records)} records to XLSX in ${report.exported.seconds.toFixed(1)} s; ${size(report.exported.memory)} at most`,
          ],
        ]),
    ...(report.updateFactor === null
      ? []
      : [['updates', `${report.updateFactor.toFixed(1)} times one client's rate with 32 clients`]]),
  ];
  const head = [
    '',
    'finds',
    'bytes',
    'clients',
    'req/s',
    'p50 ms',
    'p99 ms',
    'bare req/s',
    'ratio',
    'p50 ms, 1 client',
  ];
  return [...factLines(facts), '', ...columns([head, ...report.rows.map(rowCells)])].join('\n');
}

/** The lines above a table. */
export function factLines(facts: readonly (readonly string[])[]): string[] {
  return facts.map(([name = '', fact]) => `${name.padEnd(9)} ${fact}`);
}

/** The lines of a table: the first column to the left, the others to the right. */
export function columns(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

function rowCells(row: RowResult): string[] {
  const [least, most] = row.finds ?? [0, 0];
  return [
    row.name,
    row.finds === null ? '' : least === most ? whole(least) : `${whole(least)}-${whole(most)}`,
    whole(row.measured.bodyBytes),
    String(row.connections),
    whole(row.measured.requestsPerSecond),
    row.measured.p50.toFixed(2),
    row.measured.p99.toFixed(2),
    row.bare === null ? '' : whole(row.bare.requestsPerSecond),
    row.ratio === null ? '' : row.ratio.toFixed(2),
    row.oneClient === null ? '' : row.oneClient.p50.toFixed(2),
  ];
}
