// POST {base_url}/webapi/x1/file/download: a file of an app, or its thumbnail (D39).

import { Refusal, refuse } from '../errors.ts';
import { isFileId } from '../fields/file.ts';
import { type FileStore, SMALL } from '../files/file-store.ts';
import { THUMBNAIL_TYPE, thumbnail } from '../files/thumbnail.ts';
import type { Store, StoredFile } from '../store/store.ts';
import type { Answer, Content } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { judgedNow } from './judged-now.ts';
import { type Call, checkLang, type Form, oneOf, required, shown } from './request.ts';

/** Gives a file, or throws the Refusal of the request's problems. */
export async function fileDownload(store: Store, files: FileStore, form: Form, call: Call): Promise<Answer> {
  const { file, small } = await judgedNow(store, call, () => findFile(store, form, call));
  return small ? smallOf(files, file) : wholeOf(files, file);
}

interface Asked {
  readonly file: StoredFile;
  /** Its thumbnail is asked for. */
  readonly small: boolean;
}

async function findFile(store: Store, form: Form, call: Call): Promise<Asked> {
  required(form, 'appcode', call.problems);
  required(form, 'appkey', call.problems);
  const fileid = required(form, 'fileid', call.problems);
  checkLang(form, call.problems);
  const small = oneOf(form, 'size', ['small'], 'bad_size', call.problems) !== undefined;
  const { registered } = authenticate(store, form, 'use', call);
  if (call.problems.length > 0) throw new Refusal(call.problems);
  const found = await store.files(registered, [fileid].filter(isFileId));
  if (found === 'stale') return findFile(store, form, call);
  const file = found.get(fileid);
  if (file === undefined) throw refuse('unknown_fileid', { at: 'fileid', sent: shown(fileid) });
  return { file, small };
}

function wholeOf(files: FileStore, file: StoredFile): Content {
  return {
    kind: 'content',
    name: file.name || file.id,
    type: file.type,
    size: file.size,
    etag: `"${file.digest}"`,
    read: (range) => read(files, file, file.digest, range),
  };
}

async function smallOf(files: FileStore, file: StoredFile): Promise<Content> {
  const size = await thumbnail(files, file);
  if (size === null) throw refuse('not_an_image', { at: 'fileid', sent: shown(file.id) });
  return {
    kind: 'content',
    name: `${file.name || file.id}.webp`,
    type: THUMBNAIL_TYPE,
    size,
    etag: `"${file.digest}${SMALL}"`,
    read: (range) => read(files, file, file.digest + SMALL, range),
  };
}

async function read(files: FileStore, file: StoredFile, name: string, range: Parameters<Content['read']>[0]) {
  const content = await files.read(name, range);
  if (content === null) throw new Error(`the content ${name} of the file ${file.id} is missing`);
  return content;
}
