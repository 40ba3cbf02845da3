// Gives memory back at once, where waiting for the garbage collector would pile it up.

/**
 * Frees bytes that nobody reads any more, if they have memory of their own; they are empty from then on. A transfer goes through
 * thousands of chunks, and the collector, which sees only how small they are to JavaScript, comes after tens of megabytes.
 */
export function release(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0);
}
