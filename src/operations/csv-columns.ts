// A header row of field IDs or names → which column is for which field of an app.
import type { App, Field } from '../app/app.ts';

/** A column of the file and the field it is for. */
export interface Column {
  /** Place among the cells of a line. */
  readonly position: number;
  readonly field: Field;
}

/** The columns of one table. */
export interface TableColumns {
  readonly code: string;
  /** The fields of a row, each with its column where the file has one. */
  readonly fields: readonly { readonly field: Field; readonly position: number | null }[];
}

export interface Columns {
  /** Cells that a line must have. */
  readonly width: number;
  /** Place of the primary key among the cells; null where the file does not have it. */
  readonly key: number | null;
  /** The other fields of the form. */
  readonly form: readonly Column[];
  /** The tables that the file has columns of. */
  readonly tables: readonly TableColumns[];
  /** Columns left out without having been told so. */
  readonly notes: readonly string[];
}

/** Name of the column that a file of bad rows has last. */
export const ERROR_COLUMN = 'error';

/** Matches a header with an app's fields; `map` says otherwise for columns it names, '' to leave one out. */
export function matchColumns(
  app: App,
  header: readonly string[],
  map: ReadonlyMap<string, string>,
): Columns | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const notes: string[] = [];
  const positions = new Map<Field, number>();
  const fieldOf = fieldFinder(app);
  for (const [position, name] of header.entries()) {
    const mapped = map.get(name);
    if (mapped === '') continue;
    const found = fieldOf(mapped ?? name);
    if (found !== null && found !== 'several') {
      const other = positions.get(found);
      if (other === undefined) positions.set(found, position);
      else
        problems.push(
          `the columns ${header[other]} and ${name} are both for the field ${found.id}; leave one out with --map ${name}=`,
        );
    } else if (found === 'several')
      problems.push(`several fields have the name ${name}; say which by its ID: --map ${name}=FIELD`);
    else if (mapped !== undefined)
      problems.push(`--map ${name}=${mapped}: there is no field ${mapped}; the fields are ${fieldList(app)}`);
    else if (name === '') notes.push(`column ${position + 1} has no name and is left out`);
    else if (name.startsWith('pms_')) notes.push(`the column ${name} is left out: the server fills that field`);
    else if (name === ERROR_COLUMN && position === header.length - 1)
      notes.push(`the column ${ERROR_COLUMN} is left out`);
    else
      problems.push(
        `the column ${name} is no field; leave it out with --map ${name}= or say which it is; the fields are ${fieldList(app)}`,
      );
  }
  for (const name of map.keys())
    if (!header.includes(name)) problems.push(`--map ${name}=: the file has no column ${name}`);
  const columns = columnsOf(app, positions);
  problems.push(...missing(app, columns, positions));
  return problems.length > 0 ? { problems } : { ...columns, width: header.length, notes };
}

function columnsOf(app: App, positions: ReadonlyMap<Field, number>): Pick<Columns, 'key' | 'form' | 'tables'> {
  const form = app.fields.flatMap((field) => {
    const position = positions.get(field);
    return position === undefined || field === app.primaryKey ? [] : [{ field, position }];
  });
  const tables = app.tables
    .filter(({ fields }) => fields.some((field) => positions.has(field)))
    .map(({ code, fields }) => ({
      code,
      fields: fields.map((field) => ({ field, position: positions.get(field) ?? null })),
    }));
  return { key: positions.get(app.primaryKey) ?? null, form, tables };
}

/** Fields that a record must have a value in and that no line could give one. */
function missing(
  app: App,
  { key, form, tables }: Omit<Columns, 'width' | 'notes'>,
  positions: ReadonlyMap<Field, number>,
): string[] {
  const problems: string[] = [];
  if (form.length === 0 && key === null)
    problems.push(`no column is a field of the form; the fields are ${fieldList(app)}`);
  const lacks = (field: Field) => field.required && field.default === '' && !positions.has(field);
  // With primary keys, records may all be there already, with a value.
  const fields = key === null ? app.fields.filter(lacks) : [];
  for (const field of [
    ...fields,
    ...tables.flatMap((table) => table.fields.map((column) => column.field).filter(lacks)),
  ]) {
    problems.push(`the field ${field.id} is required and no column is for it`);
  }
  return problems;
}

/** Fields by ID, else by their name in any language. */
function fieldFinder(app: App): (name: string) => Field | 'several' | null {
  const fields = [...app.fields, ...app.tables.flatMap((table) => table.fields)];
  const byId = new Map(fields.map((field) => [field.id, field]));
  const byName = new Map<string, Field | 'several'>();
  for (const field of fields) {
    for (const name of new Set(Object.values(field.name))) byName.set(name, byName.has(name) ? 'several' : field);
  }
  return (name) => byId.get(name) ?? byName.get(name) ?? null;
}

function fieldList(app: App): string {
  const named = ({ id, name }: Field) => (name.ja === undefined ? id : `${id} (${name.ja})`);
  return [...app.fields, ...app.tables.flatMap((table) => table.fields)].map(named).join(', ');
}
