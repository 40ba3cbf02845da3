// The operations by their paths (spec 4, D39).
import type { FileStore } from '../files/file-store.ts';
import type { Answer } from '../operations/answer.ts';
import { admitUpdate, dataUpdate } from '../operations/data-update.ts';
import { datasetSearch } from '../operations/dataset-search.ts';
import { fileDownload } from '../operations/file-download.ts';
import type { Call, Form } from '../operations/request.ts';
import type { Store } from '../store/store.ts';

export interface Operation {
  answer(form: Form, call: Call): Promise<Answer>;
  /** Refuses a request early whose parameters so far say that it must be; null where the operation takes no files. */
  readonly admit: ((form: Form, call: Call) => Promise<void>) | null;
}

export interface RouteOptions {
  /** The product segment before `/webapi`, such as `/pms`; empty for none. */
  readonly basePath: string;
  /** Cap on the records of a search without `limit`; 0 for none (D22). */
  readonly maxRecords: number;
  /** Image fields take SVG too. */
  readonly svgImages: boolean;
}

/** Path → operation. */
export function routes(store: Store, files: FileStore, options: RouteOptions): ReadonlyMap<string, Operation> {
  const { basePath, maxRecords, svgImages } = options;
  const operations: readonly (readonly [path: string, operation: Operation])[] = [
    [
      '/webapi/v1/dataset/search',
      { answer: (form, call) => datasetSearch(store, form, call, maxRecords), admit: null },
    ],
    [
      '/webapi/v1/data/update',
      {
        answer: (form, call) => dataUpdate(store, form, call, { files, svgImages }),
        admit: (form, call) => admitUpdate(store, form, call),
      },
    ],
    ['/webapi/x1/file/download', { answer: (form, call) => fileDownload(store, files, form, call), admit: null }],
  ];
  return new Map(operations.map(([path, operation]) => [`${basePath}${path}`, operation]));
}
