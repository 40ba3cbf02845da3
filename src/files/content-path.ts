// Where a content lies in a store: under the first two digits of its digest, so that no folder grows too large.

const NAME = /^[0-9a-f]{64}(?:\.small)?$/;

/** Whether a name is a digest, or that of a thumbnail. */
export function isContentName(name: string): boolean {
  return NAME.test(name);
}

/** `<first two digits>/<name>`; throws where the name is none of a content, so that nothing else becomes a path. */
export function contentPath(name: string): string {
  if (!isContentName(name)) throw new Error(`not the name of a content: ${JSON.stringify(name)}`);
  return `${name.slice(0, 2)}/${name}`;
}
