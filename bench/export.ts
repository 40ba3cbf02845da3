// Exports records as XLSX, and watches the memory that this takes.
import { join } from 'node:path';
import { command, memoryOfCommand, type Where } from './daicho.ts';
import { ORDER_DAYS } from './records.ts';
import { APP_CODE } from './register.ts';

/** Name of what is measured, for `--only`. */
export const EXPORT = 'export';

export interface Export {
  readonly records: number;
  readonly seconds: number;
  /** Most memory of the command, in bytes. */
  readonly memory: number | null;
}

/** Records to export: those of so many days are about as many. */
const RECORDS = 100_000;
const FIRST_DAY = Date.UTC(2019, 0, 1);
const DAY = 86_400_000;

export async function measureExport(where: Where, scratch: string, records: number): Promise<Export> {
  const days = Math.ceil((ORDER_DAYS * RECORDS) / records);
  const last = new Date(FIRST_DAY + (days - 1) * DAY).toISOString().slice(0, 10);
  const range = records <= RECORDS ? [] : ['--where', 'bench_order=2019-01-01', '--where', `bench_order_to=${last}`];
  const args = ['record', 'export', APP_CODE, ...range, '--output', join(scratch, 'export.xlsx')];
  const from = performance.now();
  const memory = await memoryOfCommand(where, ...args);
  const seconds = (performance.now() - from) / 1000;
  const report = JSON.parse(await command(where, ...args, '--json')) as { readonly records: number };
  return { records: report.records, seconds, memory };
}
