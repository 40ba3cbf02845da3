// Messages in English.
import type { Problem } from '../errors.ts';
import type { Messages } from './language.ts';

export const en = {
  missing_parameter: ({ at }) =>
    at === undefined
      ? 'A required parameter is missing or empty.'
      : `The required parameter "${at}" is missing or empty.`,
  repeated_parameter: ({ at }) =>
    `${at === undefined ? 'A parameter' : `The parameter "${at}"`} was sent more than once. Send it once.`,
  bad_encoding: ({ at }) =>
    `${at === undefined ? 'The request body' : `The parameter "${at}"`} is not valid UTF-8 or not correctly percent-encoded.`,
  bad_lang: (problem) =>
    `${subject(problem, 'lang')} is not a language${shown(problem)}. Send 0 (or ja, Japanese), 1 (or en, English) or 2 (or zh, Chinese).`,
  bad_limit: (problem) =>
    `${subject(problem, 'limit')} is not valid${shown(problem)}. Send a whole number from 1 to 10000.`,
  bad_revision: (problem) => `${subject(problem, 'revision')} is not valid${shown(problem)}. Send 0 or 1.`,
  bad_mode: (problem) => `${subject(problem, 'mode')} is not valid${shown(problem)}. Send replace or merge.`,
  bad_size: (problem) => `${subject(problem, 'size')} is not valid${shown(problem)}. Send small, or leave it out.`,
  bad_key: (problem) =>
    `${subject(problem, 'key')} is not a field that tells records apart${shown(problem)}. Send the ID of the primary key or of a unique field.`,
  bad_atomic: (problem) => `${subject(problem, 'atomic')} is not valid${shown(problem)}. Send 0 or 1.`,
  line_not_json: ({ at, limit }) => `${at === undefined ? 'The line' : `"${at}"`} is not valid JSON${position(limit)}.`,
  line_too_long: ({ limit }) =>
    `The line is too long.${limit === undefined ? '' : ` At most ${bytes(limit)} are allowed.`}`,
  bad_line: ({ at }) =>
    `${at === undefined ? 'The line' : `"${at}"`} does not say what to do. Send an object with one of insert, update, merge, upsert and delete, whose value is the record.`,
  bad_version: (problem) =>
    `${subject(problem, 'version')} is not a revision${shown(problem)}. Send a whole number from 1, or leave it out.`,
  unknown_after: (problem) =>
    `${subject(problem, 'after')} is not the primary key of any record${shown(problem)}. Send the primary key of the last record of the previous page.`,
  unknown_execuserid: (problem) =>
    `${subject(problem, 'execuserid')} names a user that does not exist${shown(problem)}.`,
  unknown_tablecode: (problem) =>
    `${subject(problem, 'tablecode')} names a table that this app does not have${shown(problem)}.`,
  malformed_body: ({ limit }) =>
    limit === undefined
      ? 'The request body cannot be read. Send it in the format that Content-Type names, multipart/form-data with its boundary.'
      : `The request has more than ${limit} parameters. Send fewer.`,
  param_not_json: ({ limit }) => `"param" is not valid JSON${position(limit)}.`,
  param_not_object: () => '"param" is not a JSON object. Send one object in { }.',
  param_repeated_key: ({ at, limit }) =>
    `"param" contains ${at === undefined ? 'a key' : `the key "${at}"`} more than once${position(limit)}. Send it once.`,
  param_too_deep: ({ limit }) =>
    `"param" is nested too deeply.${limit === undefined ? '' : ` At most ${limit} levels are allowed.`}`,
  unknown_field: ({ at }) =>
    at === undefined
      ? 'A field was sent that this app does not have. Check the field IDs.'
      : `This app has no field "${at}". Check the field ID.`,
  unknown_table_code: ({ at }) =>
    at === undefined
      ? 'A table was sent that this app does not have. Check the table codes.'
      : `This app has no table "${at}". Check the table code.`,
  field_not_searchable: (problem) =>
    `${subject(problem)} cannot be used as a condition, because it is hidden in the app's search settings.`,
  condition_not_string: (problem) => `${subject(problem)} is not a string. Send the condition as a string.`,
  conditions_not_object: ({ at }) =>
    `The conditions on ${at === undefined ? 'a table' : `the table "${at}"`} are not an object. Send an object whose keys are field IDs.`,
  entry_not_object: (problem) => `${subject(problem)} is not an object. Send it as {"value": "…"}.`,
  rows_not_array: ({ at }) =>
    `The rows of ${at === undefined ? 'a table' : `the table "${at}"`} are not an array. Send an array of objects, one for each row.`,
  value_not_string: (problem) => `The "value" of ${within(problem)} is not a string. Send it as a string.`,
  missing_primary_key: ({ at }) =>
    `"param" does not say which record is meant: ${at === undefined ? 'its key' : `the entry "${at}"`} is missing.`,
  not_a_number: (problem) =>
    `${subject(problem)} is not a number${shown(problem)}. Send a decimal number such as 1234.5 or 1,234.5, without an exponent.`,
  number_too_long: (problem) =>
    `${subject(problem)} has too many digits${shown(problem)}. At most ${problem.limit ?? 30} significant digits are allowed.`,
  not_a_date: (problem) =>
    `${subject(problem)} is not a date${shown(problem)}. Send a date that exists, as YYYY-MM-DD or YYYY/MM/DD.`,
  not_a_time: (problem) =>
    `${subject(problem)} is not a time of day${shown(problem)}. Send HH:MM or HH:MM:SS, from 00:00 to 23:59:59.`,
  not_a_datetime: (problem) =>
    `${subject(problem)} is not a date and time${shown(problem)}. Send a date and time that exist, as YYYY-MM-DD HH:MM or YYYY-MM-DD HH:MM:SS.`,
  too_many_keywords: (problem) =>
    `${subject(problem)} has too many keywords.${problem.limit === undefined ? '' : ` At most ${problem.limit} are allowed.`}`,
  text_too_long: (problem) =>
    `${subject(problem)} is too long.${problem.limit === undefined ? '' : ` At most ${problem.limit} characters are allowed.`}`,
  bad_character: (problem) =>
    `${subject(problem)} contains a character that cannot be stored (NUL, or half of a surrogate pair).`,
  unknown_file: (problem) =>
    `${subject(problem)} names a file that does not exist${shown(problem)}. Send an existing file ID.`,
  unknown_row: ({ at, limit }) =>
    `${at === undefined ? 'A row' : `"${at}"`} names a row that the record does not have${limit === undefined ? '' : ` (its rows: ${limit})`}. Send the number of one of its rows.`,
  not_an_image: (problem) =>
    `${subject(problem)} is not an image${shown(problem)}.${problem.limit === undefined ? '' : ` Send one of these: ${problem.limit}.`}`,
  required_value: (problem) => `${subject(problem)} is required. Send a value.`,
  not_a_choice: (problem) =>
    `${subject(problem)} is not one of the choices${shown(problem)}.${problem.limit === undefined ? '' : ` Send one of: ${problem.limit}`}`,
  not_calculated: (problem) =>
    `${subject(problem)} could not be calculated and is empty${problem.limit === undefined ? '' : ` (${problem.limit})`}.`,
  unknown_version: (problem) =>
    `The record has no such version${shown(problem)}. Send the revision of one that its history has.`,
  file_part_refused: ({ at, limit }) =>
    limit === 0
      ? `${at === undefined ? 'A file' : `The file "${at}"`} was sent, and this operation takes none.`
      : `${at === undefined ? 'A file' : `The file "${at}"`} is not for a file or image field. Name it by the field ID or, in a table, by the field ID, an underscore and the row number.`,
  too_many_records: ({ limit }) =>
    `There are more records than allowed${limit === undefined ? '' : ` (at most ${limit})`}. Reduce their number.`,
  malformed_request: () => 'The request is not valid HTTP.',
  files_before_credentials: ({ limit }) =>
    `The parameters appcode and appkey must come before large files.${limit === undefined ? '' : ` Files before them may have ${bytes(limit)} together.`}`,
  bad_credentials: () => 'Authentication failed. Check appcode and appkey.',
  option_off: () => 'The WebAPI option is not enabled. Ask the administrator.',
  not_in_production: () => 'This app is not in production. Until it is, only its administrators can use it.',
  no_right: ({ limit }) => `You do not have ${right(limit)} this app. Ask an administrator of the app.`,
  unknown_record: (problem) => `There is no record with the primary key that was sent${shown(problem)}.`,
  unknown_fileid: (problem) => `This app has no file with the ID that was sent${shown(problem)}.`,
  unknown_path: (problem) => `There is nothing at this path${shown(problem)}. Check the URL.`,
  wrong_method: ({ sent, limit }) =>
    `${sent === undefined ? 'This method' : `The method ${sent}`} cannot be used for this URL.${limit === undefined ? '' : ` Use ${limit}.`}`,
  revision_conflict: ({ sent, limit }) =>
    `The record has been changed since it was read${both(sent, limit)}. Read it again, then repeat the update.`,
  record_exists: (problem) => `There is a record already with the value of ${within(problem)}${shown(problem)}.`,
  not_unique: (problem) =>
    `Another record has the value of ${within(problem)}${shown(problem)}, which must be unique. Send another value.`,
  body_too_large: ({ limit }) =>
    `The request body is too large.${limit === undefined ? '' : ` At most ${bytes(limit)} are allowed.`}`,
  file_too_large: ({ at, limit }) =>
    `${at === undefined ? 'A file' : `The file "${at}"`} is too large.${limit === undefined ? '' : ` At most ${bytes(limit)} are allowed.`}`,
  files_too_large: ({ limit }) =>
    `The files of the request are too large together.${limit === undefined ? '' : ` At most ${bytes(limit)} are allowed.`}`,
  too_many_files: ({ limit }) =>
    `The request has too many files.${limit === undefined ? '' : ` At most ${limit} are allowed.`}`,
  unsupported_media_type: (problem) =>
    `This Content-Type is not supported${shown(problem)}. Send application/x-www-form-urlencoded or multipart/form-data.`,
  range_not_satisfiable: ({ limit }) =>
    `The file does not have the bytes that Range asks for${limit === undefined ? '' : ` (it has ${bytes(limit)})`}.`,
  internal_error: () => "An internal error occurred. Details are in the server's log.",
  being_loaded: () =>
    'The first records of this app are being imported, or that was interrupted. Until it is finished, no record can be put in.',
  unavailable: () => 'The service is not available at the moment. Try again in a little while.',
  on_line: (line, text) => `Line ${line}: ${text}`,
  no_match: () => 'No matching data was found.',
} satisfies Messages;

function subject({ at }: Problem, otherwise?: string): string {
  const name = at ?? otherwise;
  return name === undefined ? 'A value that was sent' : `"${name}"`;
}

function within({ at }: Problem): string {
  return at === undefined ? 'an entry' : `"${at}"`;
}

function shown({ sent }: Problem): string {
  return sent === undefined ? '' : ` ("${sent}")`;
}

function position(limit: Problem['limit']): string {
  if (limit === undefined) return '';
  return typeof limit === 'number' ? ` (at character ${limit})` : ` (${limit})`;
}

function bytes(limit: number | string): string {
  return typeof limit === 'number' ? `${limit} bytes` : limit;
}

function right(limit: Problem['limit']): string {
  if (limit === 'use') return 'the right to use';
  if (limit === 'administer') return 'the right to administer';
  return limit === 'update' ? 'the right to update records of' : 'the necessary right in';
}

function both(sent: string | undefined, stored: Problem['limit']): string {
  const parts: string[] = [];
  if (sent !== undefined) parts.push(`revision sent: "${sent}"`);
  if (stored !== undefined) parts.push(`current revision: "${stored}"`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
