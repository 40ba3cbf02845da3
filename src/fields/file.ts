// Files and images: the value holds a file's ID and, so that an entry is rendered from it alone, what never changes of the file (spec 2.2, D36, D38).
import { type FieldType, isStorable } from './field-type.ts';

/** What the value of a file or image field holds. */
export interface FileValue {
  /** 32 hexadecimal digits, random. */
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** Media type: of an image what its bytes say, otherwise what was sent with it. */
  readonly type: string;
  /** As it was sent; '' for none. */
  readonly name: string;
}

/** A file of an app as the register knows it; its content is in the file store. */
export interface StoredFile extends FileValue {
  /** SHA-256 of the content in hexadecimal; the file store knows it by this. */
  readonly digest: string;
  /** Pixels of an image in an image field; null for other files. */
  readonly width: number | null;
  readonly height: number | null;
}

/** ID, size, media type, name; the name may be empty and hold anything. */
const VALUE = /^([0-9a-f]{32}) (\d{1,15}) ([^ ]+) (.*)$/s;

/** Whether a text can be the ID of a file. */
export function isFileId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The text that a field keeps for a file. */
export function fileValue({ id, size, type, name }: FileValue): string {
  return `${id} ${size} ${type} ${name}`;
}

/** The file of a value; null for an empty one. */
export function fileOf(value: string): FileValue | null {
  const parts = VALUE.exec(value);
  if (parts === null) return null;
  const [, id = '', size, type = '', name = ''] = parts;
  return { id, size: Number(size), type, name };
}

/** IDs of the files that a text may refer to: a value, or several in a version of the history. */
export function fileIdsIn(text: string): readonly string[] {
  return text.match(/(?<![0-9A-Za-z])[0-9a-f]{32}(?= \d)/g) ?? [];
}

/** Whether the bytes of a file are an image; what is sent as one and is none has another type. */
export function isImage({ type }: Pick<FileValue, 'type'>): boolean {
  return type.startsWith('image/');
}

function fileType(type: 'file' | 'image'): FieldType {
  return {
    searches: [],
    compares: 'text',
    filledBy: 'request',
    holds: type,
    // What a request sends is a file ID, which the register knows (D26); only a value that was kept before is read here.
    parse: (kept) => {
      const file = fileOf(kept);
      if (file !== null) return type === 'image' && !isImage(file) ? { code: 'not_an_image' } : kept;
      return { code: isStorable(kept) ? 'unknown_file' : 'bad_character' };
    },
    render: (value) => {
      const file = fileOf(value);
      if (file === null) return `{"type":"${type}","value":"","filename":"","filesize":""}`;
      return `{"type":"${type}","value":"${file.id}","filename":${JSON.stringify(file.name)},"filesize":"${file.size}"}`;
    },
  };
}

export const file = fileType('file');
export const image = fileType('image');
