// The operations by their paths (spec 4).
import type { Answer } from '../operations/answer.ts';
import { dataUpdate } from '../operations/data-update.ts';
import { datasetSearch } from '../operations/dataset-search.ts';
import type { Call, Form } from '../operations/request.ts';
import type { Store } from '../store/store.ts';

export type Operation = (store: Store, form: Form, call: Call) => Promise<Answer>;

export interface RouteOptions {
  /** The product segment before `/webapi`, such as `/pms`; empty for none. */
  readonly basePath: string;
  /** Cap on the records of a search without `limit`; 0 for none (D22). */
  readonly maxRecords: number;
}

/** Path → operation. */
export function routes({ basePath, maxRecords }: RouteOptions): ReadonlyMap<string, Operation> {
  return new Map<string, Operation>([
    [`${basePath}/webapi/v1/dataset/search`, (store, form, call) => datasetSearch(store, form, call, maxRecords)],
    [`${basePath}/webapi/v1/data/update`, dataUpdate],
  ]);
}
