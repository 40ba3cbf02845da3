// Files and images: the value is a file ID (spec 2.2, D36, D38).
import { type FieldType, isStorable } from './field-type.ts';

function fileType(type: string): FieldType {
  return {
    searches: [],
    compares: 'text',
    filledBy: 'request',
    // No file has been uploaded, so no file ID exists (D26).
    parse: (sent) => ({ code: isStorable(sent) ? 'unknown_file' : 'bad_character' }),
    render: () => `{"type":"${type}","value":"","filename":"","filesize":""}`,
  };
}

export const file = fileType('file');
export const image = fileType('image');
