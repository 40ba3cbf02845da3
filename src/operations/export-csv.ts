// Records as CSV that can be imported again (P12), in UTF-8 or CP932.
import type { App } from '../app/app.ts';
import { Mistake } from '../store/register.ts';
import { csvLine } from './csv-line.ts';
import { encodeCp932, notInCp932 } from './encode-cp932.ts';
import { columnsOf, headerOf, linesOf } from './export-lines.ts';
import { type ExportedRecord, type Piece, placeOf, type RecordsWriter } from './exported.ts';
import type { Encoding } from './read-text.ts';

/** By it spreadsheets know that a file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Writes CSV; a character that CP932 does not have ends it with a Mistake. */
export function csvWriter(encoding: Encoding, names: boolean): RecordsWriter {
  return async function* (app, records) {
    const header = headerOf(app, names);
    yield encoding === 'utf-8' ? BYTE_ORDER_MARK + csvLine(header) : headerBytes(header);
    for await (const batch of records) {
      const text = batch.flatMap((record) => linesOf(app, record).map(csvLine)).join('');
      yield encoding === 'utf-8' ? text : (encodeCp932(text) ?? refuse(app, batch));
    }
  };
}

function headerBytes(header: readonly string[]): Piece {
  const bytes = encodeCp932(csvLine(header));
  if (bytes !== null) return bytes;
  const name = header.find((cell) => notInCp932(cell) !== null) as string;
  throw new Mistake(`the column ${name}: ${lacking(notInCp932(name) as string)}`);
}

/** Says which character it is that CP932 does not have, and where. */
function refuse(app: App, batch: readonly ExportedRecord[]): never {
  for (const record of batch) {
    for (const line of linesOf(app, record)) {
      for (const [index, { id }] of columnsOf(app).entries()) {
        const character = notInCp932(line[index] as string);
        if (character !== null) throw new Mistake(`${placeOf(record, id)}: ${lacking(character)}`);
      }
    }
  }
  throw new Error('every cell can be written, but not all of them together');
}

function lacking(character: string): string {
  const point = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  return `CP932 does not have the character ${character} (U+${point}); write UTF-8, which Excel reads too`;
}
