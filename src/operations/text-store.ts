// Many texts in little memory: as bytes one after the other, not each as a string of its own.

export interface TextStore {
  add(text: string): void;
  readonly count: number;
  at(index: number): string;
}

const BLOCK = 1 << 20;

export function textStore(): TextStore {
  const blocks: Buffer[] = [];
  /** Of each text: its block, where it begins in it, where it ends. */
  let places = new Uint32Array(3 * 1024);
  let count = 0;
  let used = BLOCK;
  return {
    add(text) {
      const length = Buffer.byteLength(text);
      if (used + length > BLOCK) {
        blocks.push(Buffer.allocUnsafeSlow(Math.max(BLOCK, length)));
        used = 0;
      }
      (blocks.at(-1) as Buffer).write(text, used);
      if (3 * count === places.length) {
        const larger = new Uint32Array(places.length * 2);
        larger.set(places);
        places = larger;
      }
      places.set([blocks.length - 1, used, used + length], 3 * count);
      used += length;
      count++;
    },
    get count() {
      return count;
    },
    at(index) {
      const [block, start, end] = places.subarray(3 * index, 3 * index + 3) as unknown as [number, number, number];
      return (blocks[block] as Buffer).toString('utf8', start, end);
    },
  };
}
