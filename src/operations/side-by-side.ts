// Walks two sequences that have the same order side by side, some items at a time, and says where they differ.

export interface Sequence<Item> {
  /** Items behind one, in order; fewer than the limit only at the end. */
  read(after: Item, limit: number): Promise<readonly Item[]>;
}

export interface Order<Item> {
  /** Stands before every item. */
  readonly start: Item;
  compare(a: Item, b: Item): number;
  /** Whether two items at the same place are the same. */
  isSame(a: Item, b: Item): boolean;
}

/** A stretch of both sequences. */
export interface Stretch<Item> {
  /** Items of the source in it. */
  readonly length: number;
  /** Only in the source. */
  readonly missing: readonly Item[];
  /** In both and not the same; as they are in the source. */
  readonly different: readonly Item[];
  /** Only in the target. */
  readonly extra: readonly Item[];
}

/** Both sequences from the start to the end. What comes behind a stretch is read before the stretch is given. */
export async function* sideBySide<Item>(
  source: Sequence<Item>,
  target: Sequence<Item>,
  { start, compare, isSame }: Order<Item>,
  limit: number,
): AsyncGenerator<Stretch<Item>> {
  const read = (after: Item) => Promise.all([source.read(after, limit), target.read(after, limit)]);
  for (let [ours, theirs] = await read(start); ours.length + theirs.length > 0; ) {
    // As far as both are known: a full batch may go on behind its last item.
    const ends = [ours, theirs].flatMap((items) => (items.length < limit ? [] : [items.at(-1) as Item]));
    const end = ends.toSorted(compare)[0];
    const within = (item: Item) => end === undefined || compare(item, end) <= 0;
    const stretch = compareItems(ours.filter(within), theirs.filter(within), compare, isSame);
    [ours, theirs] = end === undefined ? [[], []] : await read(end);
    yield stretch;
  }
}

function compareItems<Item>(
  ours: readonly Item[],
  theirs: readonly Item[],
  compare: Order<Item>['compare'],
  isSame: Order<Item>['isSame'],
): Stretch<Item> {
  const missing: Item[] = [];
  const different: Item[] = [];
  const extra: Item[] = [];
  let next = 0;
  for (const item of ours) {
    while (next < theirs.length && compare(theirs[next] as Item, item) < 0) extra.push(theirs[next++] as Item);
    const other = theirs[next];
    if (other === undefined || compare(other, item) > 0) missing.push(item);
    else {
      if (!isSame(item, other)) different.push(item);
      next++;
    }
  }
  extra.push(...theirs.slice(next));
  return { length: ours.length, missing, different, extra };
}
