// Records that Citus spreads over several databases: what is written for one of them names its place, so that one database does it.

import { keyColumn, type Layout } from '../../sql/layout.ts';
import { tokenNumbers } from '../../sql/pairs.ts';
import { quote } from '../../sql/sql.ts';
import { arrayText, type Connection, rowsOf, run } from './connection.ts';
import type { RecordTable, StoredRows } from './record-table.ts';
import { columnNames } from './tables.ts';

/** The parts of a record table that are others where records are spread; `keys` is the table of primary keys. */
export function spreadTable(
  layout: Layout,
  keys: string,
  whole: RecordTable,
  stored: StoredRows,
): Pick<RecordTable, 'findForUpdate' | 'insert' | 'update' | 'remove' | 'keepVersions'> {
  const { form, history } = layout;
  const name = quote(form.name);
  const keyPosition = form.columns.findIndex((column) => column.name === keyColumn(layout));
  const columns = columnNames(form);
  const set = columns.map((column, index) => `${quote(column)} = $${index + 4}`).join(', ');
  const updateText = `update ${name} set pms_revision = $2::int, pms_answer = $3, ${set} where pms_seq = $1::bigint`;
  return {
    async findForUpdate(tx, primaryKeys) {
      const found = await rowsOf<[string]>(
        tx,
        `select pms_seq from ${quote(keys)} where key = any($1::text[]) order by pms_seq`,
        [arrayText(primaryKeys)],
      );
      const records = await Promise.all(
        found.map(([place]) => stored(tx, 'where t.pms_seq = $1::bigint for update', [place])),
      );
      return records.flat();
    },
    async insert(tx, records) {
      await run(tx, `insert into ${quote(keys)} (key, pms_seq) select * from unnest($1::text[], $2::bigint[])`, [
        arrayText(records.map(({ derived }) => derived.columns[keyPosition] ?? null)),
        arrayText(records.map(({ seq }) => seq)),
      ]);
      await whole.insert(tx, records);
    },
    async update(tx, records, paired) {
      const writing = records.map(({ seq, revision, derived }) =>
        run(tx, updateText, [seq, revision, derived.answer, ...derived.columns]),
      );
      if (form.pairs !== null) {
        const text = `update ${quote(form.pairs)} set tokens = $2::text::int[] where pms_id = $1::bigint`;
        for (const { seq, derived } of records) {
          if (paired.has(seq)) writing.push(run(tx, text, [seq, arrayText(tokenNumbers(derived.tokens, seq))]));
        }
      }
      await Promise.all(writing);
    },
    async remove(tx, places) {
      await run(tx, `delete from ${quote(keys)} where pms_seq = any($1::bigint[])`, [arrayText(places)]);
      await whole.remove(tx, places);
    },
    async keepVersions(tx: Connection, versions) {
      const text = `insert into ${quote(history)} (record, revision, user_id, at, version) values ($1::bigint, $2::int, $3, $4, $5)`;
      await Promise.all(
        versions.map(({ seq, revision, userId, at, version }) => run(tx, text, [seq, revision, userId, at, version])),
      );
    },
  };
}
