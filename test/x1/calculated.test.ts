// Calculated fields of records that x1 operations write (D39, P21), on the engine in use.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Reply } from '../harness/running.ts';
import { entries, type Opened, openApp } from '../spec/opened.ts';

const definition = `
code: C
fields:
  - { id: c_primarykey, type: id, search: exact }
  - { id: c_name, type: text }
  - { id: c_rate, type: number, default: 0.1 }
  - { id: c_sum, type: calculation, formula: "sum(l_amount)", search: exact }
  - { id: c_total, type: calculation, formula: "c_sum * (1 + c_rate)" }
  - { id: c_share, type: calculation, formula: "c_sum / c_rate" }
  - { id: c_label, type: concatenation, formula: 'c_name & "様 " & c_total', search: partial }
tables:
  - code: c_lines
    fields:
      - { id: l_price, type: number }
      - { id: l_qty, type: number, default: 1 }
      - { id: l_amount, type: calculation, formula: "l_price * l_qty" }
`;

let opened: Opened;
before(async () => {
  opened = await openApp(definition, []);
});
after(() => opened.running.close());

const call = (operation: string, param: object): Promise<Reply> =>
  opened.running.post(`/webapi/x1/${operation}`, { ...opened.credentials, param: JSON.stringify(param), lang: 'en' });
const line = (price: string, qty: string) => entries({ l_price: price, l_qty: qty });

test('P21: fields of the form and of rows are calculated when a record is put in, exactly', async () => {
  const param = {
    ...entries({ c_primarykey: '1', c_name: '佐藤', c_sum: '999' }),
    c_lines: [line('0.1', '3'), line('19.99', '2')],
  };
  const { json, text } = await call('data/insert', param);
  assert.equal(json.rkwa_errorcount, 0, text);
  assert.deepEqual([json.c_sum.value, json.c_total.value, json.c_label.value], ['40.28', '44.308', '佐藤様 44.308']);
  const { json: whole } = await call('data/get', entries({ c_primarykey: '1' }));
  assert.deepEqual(
    whole.c_lines.map((row: { l_amount: { value: string } }) => row.l_amount.value),
    ['0.3', '39.98'],
  );
  assert.equal(await opened.find({ c_sum: '40.28' }), '1', 'and found by it');
});

test('P21: a change calculates anew, also what depends on rows that are changed', async () => {
  assert.equal((await call('data/upsert', entries({ c_primarykey: '1', c_rate: '1' }))).json.c_total.value, '80.56');
  const rows = { ...entries({ c_primarykey: '1' }), c_lines: [entries({ pms_row: '1', l_qty: '10' })] };
  const { json } = await call('table/update', rows);
  assert.deepEqual([json.c_sum.value, json.c_total.value], ['1', '2']);
});

test('P21: a formula that cannot be evaluated gives an empty value, and the answer says so', async () => {
  const { json, status, headers } = await call('data/upsert', entries({ c_primarykey: '1', c_rate: '0' }));
  assert.deepEqual([status, headers.get('x-error-code'), json.rkwa_status, json.rkwa_errorcount], [200, null, 'OK', 1]);
  assert.match(json.rkwa_errmsg[0], /"c_share" could not be calculated/);
  assert.deepEqual([json.c_share.value, json.c_total.value], ['', '1']);
});

test('4.2 table calculation: an update of the specification calculates nothing', async () => {
  const { json } = await opened.update(entries({ c_primarykey: '1', c_sum: '7' }), { mode: 'merge' });
  assert.deepEqual([json.c_sum.value, json.c_total.value], ['7', '1']);
});
