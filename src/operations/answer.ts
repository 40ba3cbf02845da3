// What an operation answers: the bytes of an envelope, at once or page by page.

export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  /** Text, records in UTF-8, text. */
  | { readonly kind: 'records'; readonly open: string; readonly records: Uint8Array; readonly close: string }
  /** The same with the records in pages; `close` is known after the last. */
  | { readonly kind: 'pages'; readonly open: string; readonly pages: AsyncIterable<Uint8Array>; close(): string };
