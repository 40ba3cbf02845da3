// Bytes that come in pieces and are wanted whole, in memory that follows their size and not the number of pieces.

export interface Gathered {
  add(bytes: Buffer): void;
  /** All that was added; not copied where it came in one piece. */
  whole(): Buffer;
}

/** A piece may be as small as a byte, and each one kept would take a hundred times that. */
export function gather(): Gathered {
  let room: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    add(bytes) {
      if (size === 0) room = bytes;
      else {
        if (size + bytes.length > room.length) {
          const larger = Buffer.allocUnsafeSlow(2 * (size + bytes.length));
          larger.set(room.subarray(0, size));
          room = larger;
        }
        room.set(bytes, size);
      }
      size += bytes.length;
    },
    whole: () => (size === room.length ? room : room.subarray(0, size)),
  };
}
