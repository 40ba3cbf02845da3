// Reading a definition file, YAML or JSON: its app, or every problem with its file and line.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { App } from '../app/app.ts';
import { define } from '../app/define.ts';

/** Greatest length of a definition in characters; reading takes time in proportion to it. */
const MAX_LENGTH = 2_000_000;
/** Lines reported at most: one syntax error can lead to thousands more. */
const MAX_REPORTED = 200;

interface LinedProblem {
  readonly line: number;
  readonly message: string;
}

/** The tree that `define` reads, and the line of every key and element in it. */
interface LinedTree {
  readonly value: unknown;
  readonly line: number;
  readonly inside: ReadonlyMap<string | number, LinedTree>;
}

/** Problems are `file:line: message`, in the order of their lines; `source` is the text as it was given. */
export function readDefinition(
  file: string,
  text: string,
): { app: App; source: string } | { problems: readonly string[] } {
  if (text.length > MAX_LENGTH) {
    return listed(file, [{ line: 1, message: `the file is too large; expected ${MAX_LENGTH} characters at most` }]);
  }
  const lines = new LineCounter();
  // The parser's own check for repeated keys compares every key with every other.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const problems = syntaxProblems(document, lines);
  if (problems.length > 0) return listed(file, problems);
  const tree = linedTree(document.contents, { lines, problems });
  const defined = define(tree.value);
  if ('problems' in defined) {
    for (const { path, message } of defined.problems) problems.push({ line: lineAt(tree, path), message });
  }
  return problems.length > 0 || 'problems' in defined ? listed(file, problems) : { app: defined.app, source: text };
}

function listed(file: string, problems: readonly LinedProblem[]): { problems: readonly string[] } {
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const all = [...new Set(sorted.map(({ line, message }) => `${file}:${line}: ${message}`))];
  const more = all.length - MAX_REPORTED;
  if (more <= 0) return { problems: all };
  return {
    problems: [...all.slice(0, MAX_REPORTED), `${file}:${sorted.at(-1)?.line}: ${more} more problems up to here`],
  };
}

function syntaxProblems(document: Document, lines: LineCounter): LinedProblem[] {
  const problems = document.errors.map(({ code, message, pos }) => ({
    line: lines.linePos(pos[0]).line,
    message: SYNTAX_MESSAGES[code] ?? message,
  }));
  const { yaml } = document.directives ?? {};
  if (yaml?.version !== undefined && yaml.version !== '1.2') {
    problems.push({ line: 1, message: `%YAML ${yaml.version} is not supported; expected 1.2, or no %YAML line` });
  }
  return problems;
}

const SYNTAX_MESSAGES: { readonly [code: string]: string } = {
  MULTIPLE_DOCS: 'a second document begins here; expected one definition in a file',
  RESOURCE_EXHAUSTION: 'nested too deeply',
};

interface Reading {
  readonly lines: LineCounter;
  readonly problems: LinedProblem[];
}

/** Aliases are refused and not followed, so the tree is never larger than the file. */
function linedTree(node: Node | null, reading: Reading, line = lineOf(node, 1, reading)): LinedTree {
  const none = new Map<string | number, LinedTree>();
  if (node === null) return { value: null, line, inside: none };
  reportNotation(node, line, reading);
  if (isMap<Node, Node | null>(node)) return linedMap(node.items, line, reading);
  if (isSeq<Node | null>(node)) {
    const inside = new Map(
      node.items.map((item, index) => [index, linedTree(item, reading, lineOf(item, line, reading))]),
    );
    return { value: [...inside.values()].map((element) => element.value), line, inside };
  }
  return { value: isScalar(node) ? scalarValue(node.value, node.source) : null, line, inside: none };
}

function linedMap(
  pairs: readonly { readonly key: Node; readonly value: Node | null }[],
  line: number,
  reading: Reading,
): LinedTree {
  const value = new Map<string, unknown>();
  const inside = new Map<string | number, LinedTree>();
  for (const pair of pairs) {
    const keyLine = lineOf(pair.key, line, reading);
    const key = keyText(pair.key);
    if (key === undefined) {
      reading.problems.push({ line: keyLine, message: 'a key is not possible here; expected a text as the key' });
      continue;
    }
    reportNotation(pair.key, keyLine, reading);
    const child = linedTree(pair.value, reading, keyLine);
    const first = inside.get(key);
    if (first === undefined) {
      value.set(key, child.value);
      inside.set(key, child);
    } else {
      const message = `the key ${JSON.stringify(key)} is given twice; the first is in line ${first.line}`;
      reading.problems.push({ line: keyLine, message });
    }
  }
  return { value, line, inside };
}

function keyText(node: Node | null): string | undefined {
  if (!isScalar(node)) return undefined;
  return typeof node.value === 'string' ? node.value : (node.source ?? undefined);
}

/** A number is one only if it would be written the same way again: `001` and `1.10` stay as they are written. */
function scalarValue(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  return source === undefined || String(value) === source ? value : source;
}

function reportNotation(node: Node, line: number, { problems }: Reading): void {
  const report = (what: string): void => {
    problems.push({ line, message: `${what} is not supported in a definition; expected the value itself` });
  };
  if (isAlias(node)) report(`the alias *${node.source}`);
  else {
    if (node.anchor !== undefined) report(`the anchor &${node.anchor}`);
    if (node.tag !== undefined) report(`the tag ${node.tag}`);
  }
}

function lineOf(node: Node | null, otherwise: number, { lines }: Reading): number {
  const start = node?.range?.[0];
  return start === undefined ? otherwise : lines.linePos(start).line;
}

/** The line of what a path leads to; of the nearest thing around it when it is missing. */
function lineAt(tree: LinedTree, path: readonly (string | number)[]): number {
  let at = tree;
  for (const step of path) {
    const next = at.inside.get(step);
    if (next === undefined) break;
    at = next;
  }
  return at.line;
}
