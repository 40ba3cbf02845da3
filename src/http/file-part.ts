// The files of a multipart body on their way to the disk: counted, bounded, and left nowhere if the request is refused.
import { type Problem, refuse } from '../errors.ts';
import type { Receiver } from '../files/file-store.ts';
import { type Form, shown, type Upload } from '../operations/request.ts';
import type { FormLimits, Intake } from './form.ts';
import { addRepeated } from './parameters.ts';
import type { PartHeader } from './part-header.ts';

/**
 * Bytes that the files before the credentials may have together. Parts may come in any order, but what strangers have written to the
 * disk must be little beside what MAX_BODY usually lets them have held in memory.
 */
const BEFORE_CREDENTIALS = 1024 * 1024;

/** Where the bytes of a part go; a promise where the next ones must wait for it. */
export interface Taker {
  take(bytes: Buffer): Promise<void> | undefined;
  end(): Promise<void> | undefined;
}

export interface FileParts {
  /** Takes the part of a file, which must end before the next is opened. */
  open(header: PartHeader & { readonly fileName: string }): Taker;
  /** Bytes of files so far that the bounds of files apply to. */
  bytes(): number;
  /** Forgets the file under way, if there is one. */
  abort(): Promise<void>;
}

/** Takes files in, as far as there is an `intake`; what has arrived whole is put into `uploads`. */
export function takeFiles(
  limits: FormLimits,
  intake: Intake | null,
  form: Form,
  problems: Problem[],
  uploads: Upload[],
): FileParts {
  const names = new Set<string>();
  let files = 0;
  let bytes = 0;
  let isAdmitted = false;
  let receiver: Receiver | null = null;

  /** Where a file is to be received; null where its bytes are only to be passed by. */
  async function begin({ name, fault }: PartHeader): Promise<Receiver | null> {
    if (intake !== null && ++files > limits.maxFiles) throw refuse('too_many_files', { limit: limits.maxFiles });
    if (intake !== null && !isAdmitted) isAdmitted = await intake.admit(form);
    if (fault !== null) problems.push({ code: fault, ...(name === undefined ? {} : { at: shown(name) }) });
    else if (intake === null || name === undefined)
      problems.push({
        code: 'file_part_refused',
        ...(name === undefined ? {} : { at: shown(name) }),
        ...(intake === null ? { limit: 0 } : {}),
      });
    else if (names.has(name)) addRepeated(name, problems);
    else {
      names.add(name);
      return intake.receive();
    }
    return null;
  }

  function count(size: number, { name }: PartHeader): void {
    if (intake === null) return;
    const { maxFile, maxUpload } = limits;
    if (size > maxFile) {
      throw refuse('file_too_large', { ...(name === undefined ? {} : { at: shown(name) }), limit: maxFile });
    }
    if (bytes > maxUpload) throw refuse('files_too_large', { limit: maxUpload });
    if (!isAdmitted && bytes > BEFORE_CREDENTIALS)
      throw refuse('files_before_credentials', { limit: BEFORE_CREDENTIALS });
  }

  function open(header: PartHeader & { readonly fileName: string }): Taker {
    let size = 0;
    const first = async (taken: Buffer) => {
      receiver = await begin(header);
      count(size, header);
      await receiver?.write(taken);
    };
    const end = async () => {
      // A browser sends such a part for a file field that nothing was chosen for.
      if (size === 0 && header.fileName === '' && header.fault === null) return;
      if (size === 0) receiver = await begin(header);
      if (receiver === null) return;
      const received = await receiver.end();
      receiver = null;
      uploads.push({
        part: header.name ?? '',
        fileName: header.fileName,
        contentType: header.contentType,
        received,
      });
    };
    return {
      take(taken) {
        const isFirst = size === 0;
        size += taken.length;
        if (intake !== null) bytes += taken.length;
        if (isFirst) return first(taken);
        count(size, header);
        return receiver?.write(taken);
      },
      end,
    };
  }

  return {
    open,
    bytes: () => bytes,
    async abort() {
      const underway = receiver;
      receiver = null;
      await underway?.abort();
    },
  };
}
