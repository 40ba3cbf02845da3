// Every reason to refuse a request: one catalogue, each with its machine-readable code and its HTTP status (D33, D34).

/** Code of a refusal → HTTP status. The order of the entries is the order of docs/reference/errors.md. */
export const STATUS = {
  missing_parameter: 400,
  repeated_parameter: 400,
  bad_encoding: 400,
  bad_lang: 400,
  bad_limit: 400,
  bad_revision: 400,
  bad_mode: 400,
  bad_size: 400,
  bad_key: 400,
  bad_version: 400,
  bad_atomic: 400,
  line_not_json: 400,
  line_too_long: 400,
  bad_line: 400,
  unknown_after: 400,
  unknown_execuserid: 400,
  unknown_tablecode: 400,
  malformed_body: 400,
  param_not_json: 400,
  param_not_object: 400,
  param_repeated_key: 400,
  param_too_deep: 400,
  unknown_field: 400,
  unknown_table_code: 400,
  field_not_searchable: 400,
  condition_not_string: 400,
  too_many_keywords: 400,
  conditions_not_object: 400,
  entry_not_object: 400,
  rows_not_array: 400,
  value_not_string: 400,
  missing_primary_key: 400,
  not_a_number: 400,
  number_too_long: 400,
  not_a_date: 400,
  not_a_time: 400,
  not_a_datetime: 400,
  text_too_long: 400,
  bad_character: 400,
  unknown_file: 400,
  unknown_row: 400,
  required_value: 400,
  not_a_choice: 400,
  not_calculated: 200,
  unknown_version: 400,
  not_an_image: 400,
  file_part_refused: 400,
  too_many_records: 400,
  malformed_request: 400,
  files_before_credentials: 400,
  bad_credentials: 401,
  option_off: 403,
  not_in_production: 403,
  no_right: 403,
  unknown_record: 404,
  unknown_fileid: 404,
  unknown_path: 404,
  wrong_method: 405,
  revision_conflict: 409,
  record_exists: 409,
  not_unique: 409,
  body_too_large: 413,
  file_too_large: 413,
  files_too_large: 413,
  too_many_files: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  internal_error: 500,
  being_loaded: 503,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** One reason to refuse a request; `at` names the field, parameter or part, the other members fill its message. */
export interface Problem {
  readonly code: ErrorCode;
  /** Field ID, table code, parameter or part name the problem is about; a table's field as `table.field`. */
  readonly at?: string;
  /** Line of a request that has many, from 1. */
  readonly line?: number;
  /** What was sent, cut to a length that can be shown. */
  readonly sent?: string;
  /** A bound, a position or a list that the message names. */
  readonly limit?: number | string;
}

/** Thrown by an operation that refuses the request: all problems found, never only the first (D18, D26). */
export class Refusal extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => problem.code).join(', '));
    this.name = 'Refusal';
    this.problems = problems;
  }
}

/** The refusal of a request for one reason. */
export function refuse(code: ErrorCode, details: Omit<Problem, 'code'> = {}): Refusal {
  return new Refusal([{ code, ...details }]);
}

/** Somebody else was first, and nothing was done: the same may be done a moment later. */
export class Undone extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Undone';
  }
}

/** A database or a file store cannot serve now: busy for too long, full, closed, or away. */
export class Unavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unavailable';
  }
}
