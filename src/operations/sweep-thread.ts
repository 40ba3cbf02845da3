// The thread that sweeps files while a server answers: it reads every record that names one.
import { parentPort, workerData } from 'node:worker_threads';
import type { FileSettings } from '../files/file-store.ts';
import { openFileStore } from '../files/file-stores.ts';
import { type EngineSettings, engineOf } from '../store/engine.ts';
import { type SweepReport, sweep } from './sweep-files.ts';

/** Where the register and its files are. */
export interface SweepSettings {
  readonly engine: EngineSettings;
  readonly files: FileSettings;
  /** Days for which the history is kept; 0 for ever. */
  readonly historyDays: number;
}

const { engine, files, historyDays } = workerData as SweepSettings;
const store = await openFileStore(files);
const register = await (await engineOf(engine)).openRegister();
try {
  parentPort?.postMessage((await sweep(register, store, { historyDays })) satisfies SweepReport);
} finally {
  await register.close();
  await store.close();
}
