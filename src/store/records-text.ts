// From the answers that a page query gives to the text of records: closed, and joined to what came before.

/** Answers lack the last closing brace (sql/search.ts); with it they are records. */
export function closed(answers: Uint8Array): Uint8Array {
  const records = Buffer.allocUnsafe(answers.length + 1);
  records.set(answers);
  records[answers.length] = 125;
  return records;
}

/** The same behind a comma, which joins them to the records of the page before. */
export function closedAfter(answers: Uint8Array): Uint8Array {
  const records = Buffer.allocUnsafe(answers.length + 2);
  records[0] = 44;
  records.set(answers, 1);
  records[answers.length + 1] = 125;
  return records;
}
