// The answers as JSON text: found, no match, updated, refused (spec 2.3, 4, 7); members in the specification's order.

const FINE = '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null';

/** What stands before the records of a search that found some; then come the records, joined by commas. */
export function openFound(recordsKey: string): string {
  return `${FINE},"${recordsKey}":[`;
}

/** What stands after them; `next` only where `limit` was sent (D23): the value for `after`, or null. */
export function closeFound(next: string | null | undefined): string {
  return next === undefined ? ']}' : `],"rkwa_next":${JSON.stringify(next)}}`;
}

/** A search that found nothing: one message and the echo of the search form (spec 4.1, 7 rule 2, D21). */
export function renderNoMatch(message: string, echo: string, paged: boolean): string {
  const members = echo === '' ? '' : `,${echo}`;
  return `{"rkwa_status":"OK","rkwa_errorcount":1,"rkwa_errmsg":[${JSON.stringify(message)}]${members}${
    paged ? ',"rkwa_next":null' : ''
  }}`;
}

/** A record after its update; `entries` are its members without braces (spec 4.2). `notes`: what it was written in spite of. */
export function renderUpdated(entries: string, notes: readonly string[] = []): string {
  if (notes.length === 0) return `${FINE},${entries}}`;
  return `{"rkwa_status":"OK","rkwa_errorcount":${notes.length},"rkwa_errmsg":${JSON.stringify(notes)},${entries}}`;
}

/** A line of many that is refused, with the code of its first problem, which has no header to stand in (D39). */
export function renderRefusedLine(messages: readonly string[], code: string): string {
  return `${renderRefused(messages).slice(0, -1)},"code":${JSON.stringify(code)}}`;
}

/** An operation that is done; `members` follow the envelope, '' for none (D39). */
export function renderDone(members: string): string {
  return members === '' ? `${FINE}}` : `${FINE},${members}}`;
}

/** A refused call: every message, in the catalogue's words (D32). */
export function renderRefused(messages: readonly string[]): string {
  return `{"rkwa_status":"NG","rkwa_errorcount":${messages.length},"rkwa_errmsg":${JSON.stringify(messages)}}`;
}
