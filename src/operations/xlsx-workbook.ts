// What a workbook of XLSX says beside its sheets: which there are, how cells show numbers, texts that cells share.
import { posix } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { Mistake } from '../store/register.ts';
import type { ZipArchive } from './read-zip.ts';
import { attributeOf, NotXml, scanXml, type XmlHandler } from './scan-xml.ts';
import { type TextStore, textStore } from './text-store.ts';
import { PLAIN, type Shown, shownBy } from './xlsx-values.ts';

export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** Days are counted from 1904. */
  readonly is1904: boolean;
  /** By number of the style of a cell. */
  readonly shown: readonly Shown[];
  readonly texts: TextStore;
}

export interface Sheet {
  readonly name: string;
  /** Name of its file in the archive. */
  readonly part: string;
  readonly isHidden: boolean;
}

/** Reads a file of an archive as XML, with a handler. */
export async function readXml(archive: ZipArchive, part: string, handler: XmlHandler): Promise<void> {
  for await (const _ of xmlPieces(archive, part, handler));
}

/** The same, with a pause after each piece of the file. */
export async function* xmlPieces(
  archive: ZipArchive,
  part: string,
  handler: XmlHandler,
  onRead?: (share: number) => void,
): AsyncGenerator<void> {
  const decoder = new StringDecoder('utf8');
  const scanner = scanXml(handler);
  try {
    let isFirst = true;
    for await (const bytes of archive.read(part, onRead)) {
      const text = decoder.write(bytes);
      scanner.push(isFirst && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
      isFirst = false;
      yield;
    }
    scanner.push(decoder.end());
    scanner.finish();
  } catch (error) {
    if (error instanceof NotXml)
      throw new Mistake(`${part} of the XLSX file is not XML as it should be: ${error.message}`);
    throw error;
  }
}

export async function readWorkbook(archive: ZipArchive): Promise<Workbook> {
  const root = await relationsOf(archive, '_rels/.rels', '');
  const part = root.find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  const folder = posix.dirname(part);
  const relations = await relationsOf(archive, `${folder}/_rels/${posix.basename(part)}.rels`, folder);
  const targets = new Map(relations.filter(({ type }) => type === 'worksheet').map(({ id, target }) => [id, target]));
  const sheets: Sheet[] = [];
  let is1904 = false;
  await readXml(archive, part, {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = isTrue(attributeOf(attributes, 'date1904'));
      if (name !== 'sheet') return;
      // Sheets of charts have no cells.
      const target = targets.get(attributeOf(attributes, 'id') ?? '');
      const state = attributeOf(attributes, 'state') ?? 'visible';
      if (target !== undefined)
        sheets.push({ name: attributeOf(attributes, 'name') ?? '', part: target, isHidden: state !== 'visible' });
    },
    text() {},
    close() {},
  });
  const partOf = (kind: string) => relations.find(({ type }) => type === kind)?.target;
  const styles = partOf('styles');
  const strings = partOf('sharedStrings');
  return {
    ...{ sheets, is1904 },
    shown: styles === undefined ? [] : await readStyles(archive, styles),
    texts: strings === undefined ? textStore() : await readTexts(archive, strings),
  };
}

export const isTrue = (text: string | null) => text === '1' || text === 'true';

interface Relation {
  readonly id: string;
  /** The last part of its name. */
  readonly type: string;
  readonly target: string;
}

async function relationsOf(archive: ZipArchive, part: string, folder: string): Promise<readonly Relation[]> {
  const relations: Relation[] = [];
  if (!archive.has(part)) return relations;
  await readXml(archive, part, {
    open(name, attributes) {
      if (name !== 'Relationship') return;
      const target = attributeOf(attributes, 'Target') ?? '';
      relations.push({
        id: attributeOf(attributes, 'Id') ?? '',
        type: posix.basename(attributeOf(attributes, 'Type') ?? ''),
        target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
      });
    },
    text() {},
    close() {},
  });
  return relations;
}

async function readStyles(archive: ZipArchive, part: string): Promise<readonly Shown[]> {
  const codes = new Map<number, string>();
  const shown: Shown[] = [];
  let isInCells = false;
  await readXml(archive, part, {
    open(name, attributes) {
      if (name === 'numFmt')
        codes.set(Number(attributeOf(attributes, 'numFmtId')), attributeOf(attributes, 'formatCode') ?? '');
      else if (name === 'cellXfs') isInCells = true;
      else if (name === 'xf' && isInCells) {
        const id = Number(attributeOf(attributes, 'numFmtId') ?? 0);
        shown.push(id === 0 ? PLAIN : shownBy(id, codes.get(id)));
      }
    },
    text() {},
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return shown;
}

async function readTexts(archive: ZipArchive, part: string): Promise<TextStore> {
  const texts = textStore();
  const reader = textReader();
  await readXml(archive, part, {
    open: reader.open,
    text: reader.text,
    close(name) {
      reader.close(name);
      if (name === 'si') texts.add(reader.take());
    },
  });
  return texts;
}

/** Gathers a text from its runs; how it is to be read aloud (`rPh`) is none of them. */
export function textReader(): XmlHandler & { take(): string } {
  let gathered = '';
  let isText = false;
  let isReading = false;
  return {
    open(name) {
      if (name === 't') isText = !isReading;
      else if (name === 'rPh') isReading = true;
    },
    text(text) {
      if (isText) gathered += text;
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'rPh') isReading = false;
    },
    take() {
      const text = plainText(gathered);
      gathered = '';
      return text;
    },
  };
}

/** Text without the escapes of what XML cannot have. */
export function plainText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
