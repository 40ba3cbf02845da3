// Care of the pair index while much is put into it: how much it takes in at once, and how it is brought into one piece.
import type { Layout } from '../../sql/layout.ts';
import { quote } from '../../sql/sql.ts';
import { type Connection, pauseWriting, writing } from './connection.ts';

/** Pages of the pair index that one step of a merge writes. */
const MERGE_STEP = 2_000;

/** How the pair index takes in what comes: much at once, and between small updates. */
const TUNED = { load: { hashsize: 2_097_152, automerge: 8 }, updates: { hashsize: 1_048_576, automerge: 4 } };

/** Makes the pair index of every table ready for a load, or for updates again. */
export function tunePairs(db: Connection, { form, tables }: Layout, what: keyof typeof TUNED): void {
  writing(db, () => {
    for (const { pairs } of [form, ...tables]) {
      if (pairs === null) continue;
      for (const [name, value] of Object.entries(TUNED[what])) {
        db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('${name}', ${value})`);
      }
    }
  });
}

/** Brings the pair index into one piece, some pages in each transaction: a query looks into every piece there is. */
export function mergePairs(db: Connection, pairs: string): void {
  const changes = db.prepare('select total_changes()').pluck();
  const merge = (pages: number): number => {
    const before = changes.get() as number;
    writing(db, () => db.exec(`insert into ${quote(pairs)} (${quote(pairs)}, rank) values ('merge', ${pages})`));
    return (changes.get() as number) - before;
  };
  // A negative number starts the merge, positive ones go on with it; one change alone says that nothing was left.
  for (let left = merge(-MERGE_STEP); left >= 2; ) {
    pauseWriting();
    left = merge(MERGE_STEP);
  }
}
