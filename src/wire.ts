// The public contract as types: what a client sends and what it gets back (spec 2.2, 2.3, 4). No code.

/** Languages of messages (D1). */
export type Lang = 'ja' | 'en' | 'zh';

/** Parameters of both operations (spec 4.1, 4.2). */
export interface CommonParameters {
  appcode: string;
  appkey: string;
  execuserid?: string;
  lang?: '0' | '1' | '2' | Lang;
}

/** Parameters of `dataset/search` (spec 4.1; `limit`, `after`, `revision`: D23). */
export interface SearchParameters extends CommonParameters {
  tablecode?: string;
  param?: string;
  limit?: string;
  after?: string;
  revision?: '0' | '1';
}

/** Parameters of `data/update` (spec 4.2; `mode`: D30). */
export interface UpdateParameters extends CommonParameters {
  param: string;
  mode?: 'replace' | 'merge';
}

/** `param` of a search: field ID → keyword, table code → the same for the table's rows. */
export interface SearchParam {
  [fieldIdOrTableCode: string]: string | { [fieldId: string]: string };
}

/** `param` of an update: field ID → its new value; other members of an entry are ignored (D24). */
export interface UpdateParam {
  [fieldId: string]: { value: string };
}

/** Envelope members of every response (spec 2.3). */
export interface Envelope {
  rkwa_status: 'OK' | 'NG';
  rkwa_errorcount: number;
  rkwa_errmsg: string[] | null;
}

/** A user as entries show it (spec 2.2). */
export interface UserValue {
  id: string;
  name: string;
}

/** One field of a record (spec 2.2, D36). */
export type Entry =
  | {
      type:
        | 'id'
        | 'text'
        | 'text_area'
        | 'date'
        | 'datetime'
        | 'time'
        | 'dropdown'
        | 'checkbox'
        | 'radio'
        | 'list'
        | 'concatenation'
        | 'calculation'
        | 'auto_number'
        | 'pms_i_ymd'
        | 'pms_u_ymd'
        | 'pms_revision';
      value: string;
    }
  | { type: 'number'; value: string; value_formatted: string }
  | { type: 'file' | 'image'; value: string; filename: string; filesize: string }
  | { type: 'pms_i_usr' | 'pms_u_usr'; value: UserValue };

/** One row of a table: field ID → entry. */
export interface TableRow {
  [fieldId: string]: Entry;
}

/** A record: field ID → entry; with `tablecode`, the table code → its rows (D12). */
export interface WireRecord {
  [fieldIdOrTableCode: string]: Entry | TableRow[];
}

/** Answer of `dataset/search`: the envelope and the records under the table code or the app's records key (D11). */
export type SearchAnswer = Envelope & { rkwa_next?: string | null } & {
  [recordsKey: string]: WireRecord[] | unknown;
};

/** Answer of `data/update`: the envelope and the updated record's entries. */
export type UpdateAnswer = Envelope & { [fieldId: string]: Entry | unknown };
