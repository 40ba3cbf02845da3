// The operations by their paths (spec 4, D39).
import type { FileStore } from '../files/file-store.ts';
import type { Answer } from '../operations/answer.ts';
import { dataBulk } from '../operations/data-bulk.ts';
import { dataDelete, dataRestore } from '../operations/data-delete.ts';
import { dataPut } from '../operations/data-put.ts';
import { appDefinition, dataGet, dataHistory, datasetCount } from '../operations/data-read.ts';
import { admitUpdate, dataUpdate } from '../operations/data-update.ts';
import { datasetSearch } from '../operations/dataset-search.ts';
import { fileDownload } from '../operations/file-download.ts';
import type { Call, Form } from '../operations/request.ts';
import type { Store } from '../store/store.ts';

export interface Operation {
  answer(form: Form, call: Call): Promise<Answer>;
  /** Whether the parameters so far let files in, or a refusal, see `Intake`; null where the operation takes no files. */
  readonly admit: ((form: Form, call: Call) => Promise<boolean>) | null;
}

export interface RouteOptions {
  /** The product segment before `/webapi`, such as `/pms`; empty for none. */
  readonly basePath: string;
  /** Cap on the records of a search without `limit`; 0 for none (D22). */
  readonly maxRecords: number;
  /** Greatest size of what is no file, in bytes. */
  readonly maxBody: number;
  /** Image fields take SVG too. */
  readonly svgImages: boolean;
}

/** Path → operation. */
export function routes(store: Store, files: FileStore, options: RouteOptions): ReadonlyMap<string, Operation> {
  const { basePath, maxRecords, svgImages } = options;
  const reading = (answer: (form: Form, call: Call) => Promise<Answer>): Operation => ({ answer, admit: null });
  const writing = (answer: (form: Form, call: Call) => Promise<Answer>): Operation => ({
    answer,
    admit: (form, call) => admitUpdate(store, form, call),
  });
  const into = { files, svgImages };
  const operations: readonly (readonly [path: string, operation: Operation])[] = [
    ['/webapi/v1/dataset/search', reading((form, call) => datasetSearch(store, form, call, maxRecords))],
    ['/webapi/v1/data/update', writing((form, call) => dataUpdate(store, form, call, into))],
    ['/webapi/x1/data/insert', writing((form, call) => dataPut(store, form, call, into, 'insert'))],
    ['/webapi/x1/data/upsert', writing((form, call) => dataPut(store, form, call, into, 'upsert'))],
    ['/webapi/x1/table/update', writing((form, call) => dataPut(store, form, call, into, 'rows'))],
    ['/webapi/x1/data/bulk', writing((form, call) => dataBulk(store, form, call, { maxLine: options.maxBody }))],
    ['/webapi/x1/data/delete', reading((form, call) => dataDelete(store, form, call))],
    ['/webapi/x1/data/restore', reading((form, call) => dataRestore(store, form, call))],
    ['/webapi/x1/data/get', reading((form, call) => dataGet(store, form, call))],
    ['/webapi/x1/data/history', reading((form, call) => dataHistory(store, form, call))],
    ['/webapi/x1/dataset/count', reading((form, call) => datasetCount(store, form, call))],
    ['/webapi/x1/app/definition', reading((form, call) => appDefinition(store, form, call))],
    ['/webapi/x1/file/download', reading((form, call) => fileDownload(store, files, form, call))],
  ];
  return new Map(operations.map(([path, operation]) => [`${basePath}${path}`, operation]));
}
