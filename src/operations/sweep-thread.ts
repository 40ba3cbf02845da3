// The thread that sweeps files while a server answers: it reads every record that names one.
import { parentPort, workerData } from 'node:worker_threads';
import type { FileSettings } from '../files/file-store.ts';
import { openFileStore } from '../files/file-stores.ts';
import { type EngineSettings, engineOf } from '../store/engine.ts';
import { type SweepReport, sweepFiles } from './sweep-files.ts';

/** Where the register and its files are. */
export interface SweepSettings {
  readonly engine: EngineSettings;
  readonly files: FileSettings;
}

const { engine, files } = workerData as SweepSettings;
const store = await openFileStore(files);
const register = await (await engineOf(engine)).openRegister();
try {
  parentPort?.postMessage((await sweepFiles(register, store)) satisfies SweepReport);
} finally {
  await register.close();
  await store.close();
}
