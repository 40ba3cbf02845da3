// What an update asks for, parsed: the record and the values to write (spec 4.2).

export interface Change {
  /** Primary key of the record to update. */
  readonly primaryKey: string;
  /** The revision the record must have (D24); null for whichever it has. */
  readonly revision: string | null;
  /** Field ID → value to write, '' to empty it; fields that are not here keep theirs. */
  readonly values: ReadonlyMap<string, string>;
}

/** `replace` empties absent fields (spec 4.2), `merge` keeps them (D30). */
export const UPDATE_MODES = ['replace', 'merge'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];
