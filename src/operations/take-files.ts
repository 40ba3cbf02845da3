// The files that came with an update: what they are, then into the file store, each once however often the update is judged (D28).
import type { Problem } from '../errors.ts';
import { typeOf } from '../fields/field-types.ts';
import { fileValue } from '../fields/file.ts';
import type { FileStore } from '../files/file-store.ts';
import { type Image, readImage } from '../files/image.ts';
import type { NewFile, RowFile } from '../update/change.ts';
import type { PartTarget } from '../update/parts.ts';
import { imageFormats, newFile } from './new-file.ts';
import type { Upload } from './request.ts';

export interface TakenFiles {
  /** Looks at the files of the targets; one that is no image where an image is expected is a problem. */
  judge(targets: readonly PartTarget[], problems: Problem[]): Promise<void>;
  /** Puts the file of a target, which was judged, into the file store. */
  keep(target: PartTarget): Promise<NewFile>;
  /**
   * Once the record has adopted them: puts back what a sweep took in between, which looked just before and saw neither the file nor
   * that its content had come anew.
   */
  confirm(): Promise<void>;
}

/** The uploads of a request; `svg`: image fields take SVG too. */
export function takenFiles(files: FileStore, uploads: readonly Upload[], svg: boolean): TakenFiles {
  const images = new Map<string, Image>();
  const kept = new Map<string, Promise<NewFile>>();
  const uploadOf = ({ part }: PartTarget) => uploads.find((upload) => upload.part === part) as Upload;
  const putAway = (target: PartTarget): Promise<NewFile> => {
    const { part, received, fileName: name, contentType } = uploadOf(target);
    return newFile(files, { received, name, contentType, image: images.get(part) ?? null });
  };
  return {
    async judge(targets, problems) {
      for (const target of targets) {
        if (typeOf(target.field).holds !== 'image' || images.has(target.part)) continue;
        const image = await readImage(uploadOf(target).received, { svg });
        if (image !== null) images.set(target.part, image);
        else problems.push({ code: 'not_an_image', at: target.part, limit: imageFormats(svg) });
      }
    },
    keep(target) {
      const file = kept.get(target.part) ?? putAway(target);
      kept.set(target.part, file);
      return file;
    },
    async confirm() {
      for (const { part, received } of uploads) {
        if (kept.has(part) && (await files.find(received.digest)) === null) await files.keep(received);
      }
    },
  };
}

/** Keeps the files of targets: those of the form are put into `values`, those of rows come back. */
export async function keepFiles(
  targets: readonly PartTarget[],
  taken: TakenFiles,
  values: Map<string, string>,
): Promise<{ readonly added: readonly NewFile[]; readonly rows: readonly RowFile[] }> {
  const added: NewFile[] = [];
  const rows: RowFile[] = [];
  for (const target of targets) {
    const { part, field, row } = target;
    const file = await taken.keep(target);
    added.push(file);
    const value = fileValue(file);
    if (row === null) values.set(field.id, value);
    else rows.push({ part, tableCode: row.tableCode, fieldId: field.id, row: row.number, value });
  }
  return { added, rows };
}
