// Cells of file fields in a load: the ID of a file that the app has, or a path in a folder whose files come with the records.
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, resolve, sep } from 'node:path';
import type { FieldType } from '../fields/field-type.ts';
import { fileValue, isFileId, isImage } from '../fields/file.ts';
import type { FileStore, Received } from '../files/file-store.ts';
import { readImage } from '../files/image.ts';
import { Mistake, type Register } from '../store/register.ts';
import type { NewFile } from '../update/change.ts';
import { imageFormats, newFile } from './new-file.ts';

/** A cell that says which file a field holds. */
export interface FileCell {
  /** Field, for messages. */
  readonly at: string;
  /** Which line of its record it is in, from 0. */
  readonly line: number;
  readonly holds: NonNullable<FieldType['holds']>;
  readonly cell: string;
  /** Puts the value where it belongs. */
  set(value: string): void;
}

export interface FileCells {
  /** Sets the values of cells; gives the files that come with them, and what is wrong with each cell, or null. `keeps`: the record is put in. */
  take(
    cells: readonly FileCell[],
    keeps: boolean,
  ): Promise<{
    readonly files: readonly NewFile[];
    readonly reasons: readonly (string | null)[];
  }>;
  /**
   * After each put and after the end of the load: puts back what a sweep took of the files that came before the put before, whose
   * records have adopted them by now. The sweep looked just before and saw neither the file nor that its content had come anew.
   */
  confirm(): Promise<void>;
}

/** Where the files of a load come from. */
export interface FileSource {
  readonly folder: string;
  readonly store: FileStore;
  /** Image fields take SVG too. */
  readonly svg: boolean;
  /** Looks at the files and keeps none. */
  readonly dryRun: boolean;
}

/** Cells that hold IDs of files of the app: what an export without files writes, and a search returns. */
export function knownFiles(register: Register, appCode: string): FileCells {
  return {
    async take(cells) {
      const ids = [...new Set(cells.map(({ cell }) => cell))].filter(isFileId);
      const known = await register.useFiles(appCode, ids);
      const reasons = cells.map(({ at, holds, cell, set }) => {
        const file = known.get(cell);
        if (file === undefined)
          return `"${at}" names no file of the app ("${cell}"); files of a folder come in with --files`;
        if (holds === 'image' && !isImage(file)) return `"${at}": file ${cell} is not an image`;
        set(fileValue(file));
        return null;
      });
      return { files: [], reasons };
    },
    async confirm() {},
  };
}

/** Cells that hold paths in a folder. */
export async function filesInFolder({ folder, store, svg, dryRun }: FileSource): Promise<FileCells> {
  const root = await realpath(folder).catch((error: Error) => {
    throw new Mistake(`--files ${folder}: ${error.message}`);
  });
  /** Where the contents came from that were kept since the last put, and those of the put before: digest → path. */
  let kept = new Map<string, string>();
  let put = new Map<string, string>();
  return {
    async take(cells, keeps) {
      const files: NewFile[] = [];
      const reasons = await Promise.all(
        cells.map(async ({ at, cell, holds, set }) => {
          const path = await pathIn(root, cell);
          if (path === null) return `"${at}": there is no file ${cell} in ${folder}`;
          const received = await receive(store, path);
          try {
            const image = holds === 'image' ? await readImage(received, { svg }) : null;
            if (holds === 'image' && image === null) return `"${at}": ${cell} is not an image (${imageFormats(svg)})`;
            if (dryRun || !keeps) return null;
            const file = await newFile(store, { received, name: basename(cell), contentType: '', image });
            files.push(file);
            kept.set(file.digest, path);
            set(fileValue(file));
            return null;
          } finally {
            await store.drop(received);
          }
        }),
      );
      return { files, reasons };
    },
    async confirm() {
      const adopted = put;
      put = kept;
      kept = new Map();
      for (const [digest, path] of adopted) {
        if ((await store.find(digest)) !== null) continue;
        const received = await receive(store, path);
        try {
          // What is another content by now is told of by `check`.
          if (received.digest === digest) await store.keep(received);
        } finally {
          await store.drop(received);
        }
      }
    },
  };
}

/** Names may have been composed on one system and decomposed on another. */
const FORMS = ['', 'NFC', 'NFD'] as const;

/** The file that a cell names, where it is one inside of the folder. */
async function pathIn(root: string, cell: string): Promise<string | null> {
  if (cell.includes('\0') || isAbsolute(cell)) return null;
  for (const form of FORMS) {
    try {
      const path = await realpath(resolve(root, form === '' ? cell : cell.normalize(form)));
      // A link may lead out.
      if (path.startsWith(root.endsWith(sep) ? root : root + sep) && (await stat(path)).isFile()) return path;
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error;
    }
  }
  return null;
}

async function receive(store: FileStore, path: string): Promise<Received> {
  const receiver = await store.receive();
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: 1 << 18 })) await receiver.write(bytes as Buffer);
    return await receiver.end();
  } catch (error) {
    await receiver.abort();
    throw error;
  }
}
