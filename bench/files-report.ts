// What the bench of files found, as a plain text table.
import type { FileRow, Files } from './files.ts';
import type { MemoryRow } from './files-memory.ts';
import { columns, factLines } from './report.ts';

export interface FilesReport extends Files {
  readonly machine: string;
  readonly workers: number;
  readonly engine: string;
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

/** The report as text that can be pasted into a page. */
export function filesText(report: FilesReport): string {
  const facts = [
    ['machine', report.machine],
    ...(report.engine === 'sqlite' ? [] : [['engine', 'PostgreSQL']]),
    ...(report.workers === 1 ? [] : [['workers', String(report.workers)]]),
    ['rounds', String(report.rounds)],
  ];
  const rates = [['', 'clients', 'MB/s', 'bare MB/s', 'ratio', 'p50 ms', 'bare p50 ms'], ...report.rows.map(rateCells)];
  const memory = [
    ['', 'clients', 'rest MB', 'greatest MB', 'growth MB', 'bare growth MB'],
    ...report.memory.map(memoryCells),
  ];
  const tables = [rates, memory].filter((lines) => lines.length > 1);
  return [...factLines(facts), ...tables.flatMap((lines) => ['', ...columns(lines)])].join('\n');
}

function rateCells({ name, clients, measured, bare, ratio }: FileRow): string[] {
  const rates = [measured.megabytesPerSecond, bare.megabytesPerSecond].map((rate) => rate.toFixed(0));
  return [name, String(clients), ...rates, ratio.toFixed(2), measured.p50.toFixed(1), bare.p50.toFixed(1)];
}

function memoryCells({ name, clients, measured, bare }: MemoryRow): string[] {
  const { atRest, greatest } = measured;
  return [name, String(clients), ...[atRest, greatest, greatest - atRest, bare.greatest - bare.atRest].map(megabytes)];
}
