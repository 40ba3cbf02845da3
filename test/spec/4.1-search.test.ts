// Spec 4.1: the parameters of a search and the shape of its answers; D11, D12, D15, D20, D21.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: ORDERS
recordsKey: orders
fields:
  - { id: ord_primarykey, type: id, search: exact }
  - { id: ord_customer, type: text, search: partial }
  - { id: ord_note, type: text_area, search: any_of, list: hidden }
  - { id: ord_amount, type: number, search: range }
  - { id: ord_secret, type: text }
tables:
  - code: ord_lines
    fields:
      - { id: line_product, type: text, search: exact }
      - { id: line_qty, type: number, search: range }
      - { id: line_cost, type: number, list: hidden }
  - { code: ord_hidden, fields: [{ id: hid_text, type: text }] }
system:
  pms_i_ymd: { search: range }
`;
  const line = (product: string, qty: string) => ({ line_product: product, line_qty: qty, line_cost: '5' });
  opened = await openApp(definition, [
    {
      ord_primarykey: '9',
      ord_customer: '東京商事',
      ord_amount: '300',
      ord_lines: [line('机', '1'), line('椅子', '4')],
    },
    { ord_primarykey: '10', ord_customer: '大阪物産', ord_amount: '100', ord_note: '至急\r\n連絡' },
    { ord_primarykey: '8', ord_customer: '東京物産', ord_amount: '200', ord_lines: [line('机', '2')] },
  ]);
});
after(() => opened.running.close());

const search = (parameters: Record<string, string>, param?: unknown) => opened.running.search(parameters, param);

for (const name of ['appcode', 'appkey']) {
  const titles: Record<string, string> = {
    appcode: '4.1 parameter appcode: required',
    appkey: '4.1 parameter appkey: required',
  };
  test(titles[name] ?? '', async () => {
    const { appcode, appkey } = opened.credentials;
    const others: Record<string, string> = { appcode, appkey };
    delete others[name];
    for (const sent of [others, { ...others, [name]: '' }]) {
      const { code, status, messages } = refusal(await search(sent, {}));
      assert.deepEqual([code, status, messages.length], ['missing_parameter', 400, 1]);
      assert.match(messages[0] ?? '', new RegExp(`「${name}」`));
    }
  });
}

test('4.1 parameter execuserid: not required, and not used for an ordinary user', async () => {
  assert.equal((await opened.search({}, { execuserid: 'nobody' })).text, (await opened.search({})).text);
});

test('4.1 parameter lang: not required; the language of the messages', async () => {
  const message = async (lang: string) => (await opened.search({ ord_primarykey: '?' }, { lang })).json.rkwa_errmsg[0];
  assert.equal(await message('1'), 'No matching data was found.');
  assert.equal(await message('0'), (await opened.search({ ord_primarykey: '?' })).json.rkwa_errmsg[0]);
});

test('4.1 parameter tablecode: the table to include; without it no table is in the result', async () => {
  const { json } = await opened.search({ ord_primarykey: '9' }, { tablecode: 'ord_lines' });
  assert.equal(json.ord_lines[0].ord_lines.length, 2);
  assert.equal('orders' in json, false);
  assert.equal('ord_lines' in (await opened.search({ ord_primarykey: '9' })).json.orders[0], false);
});

test('4.1 parameter tablecode: one that the app does not have is refused, with everything else that is wrong', async () => {
  const { code, messages } = refusal(await opened.search({ ord_nothing: 'x' }, { tablecode: 'ord_linez' }));
  assert.equal(code, 'unknown_tablecode');
  assert.equal(messages.length, 2);
  assert.match(messages[0] ?? '', /tablecode.*ord_linez/);
  assert.match(messages[1] ?? '', /ord_nothing/);
});

test('4.1 parameter param: not required, a JSON object', async () => {
  assert.equal(refusal(await search({ ...opened.credentials, param: '[]' })).code, 'param_not_object');
  assert.equal((await search({ ...opened.credentials })).status, 200);
});

test('D15: without param, or with {}, all records are found', async () => {
  assert.equal(await opened.find({}), '9 10 8');
  assert.equal(await opened.find(undefined), '9 10 8');
  assert.equal(await opened.find(undefined, { param: '' }), '9 10 8');
  assert.equal(await opened.find(undefined, { param: ' { } ' }), '9 10 8');
});

const SYSTEM = (at: string) =>
  `"pms_i_usr":{"type":"pms_i_usr","value":{"id":"yamada","name":"山田 太郎"}},"pms_i_ymd":{"type":"pms_i_ymd","value":"${at}"},` +
  `"pms_u_usr":{"type":"pms_u_usr","value":{"id":"yamada","name":"山田 太郎"}},"pms_u_ymd":{"type":"pms_u_ymd","value":"${at}"}`;

test('4.1 point 1: the envelope, then the records as an array of objects keyed by field ID, to the byte', async () => {
  const { text, json, headers, status } = await opened.search({ ord_primarykey: '10' });
  assert.equal(
    text,
    '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null,"orders":[{' +
      '"ord_primarykey":{"type":"id","value":"10"},"ord_customer":{"type":"text","value":"大阪物産"},' +
      '"ord_amount":{"type":"number","value":"100","value_formatted":"100"},"ord_secret":{"type":"text","value":""},' +
      `${SYSTEM(json.orders[0].pms_i_ymd.value)}}]}`,
  );
  assert.equal(status, 200);
  assert.equal(headers.get('x-error-code'), null);
  assert.equal(Number(headers.get('content-length')), Buffer.byteLength(text));
});

test('4.1 point 1: with tablecode the array stands under the table code, to the byte', async () => {
  const { text, json } = await opened.search({ ord_primarykey: '8' }, { tablecode: 'ord_lines' });
  assert.equal(
    text,
    '{"rkwa_status":"OK","rkwa_errorcount":0,"rkwa_errmsg":null,"ord_lines":[{' +
      '"ord_primarykey":{"type":"id","value":"8"},"ord_customer":{"type":"text","value":"東京物産"},' +
      '"ord_amount":{"type":"number","value":"200","value_formatted":"200"},"ord_secret":{"type":"text","value":""},' +
      `${SYSTEM(json.ord_lines[0].pms_i_ymd.value)},"ord_lines":[{"line_product":{"type":"text","value":"机"},` +
      '"line_qty":{"type":"number","value":"2","value_formatted":"2"}}]}]}',
  );
});

test('4.1 point 2: without a match, status OK, count 1, one message and the echo of the search form, to the byte', async () => {
  const { text, status, headers } = await opened.search({
    ord_customer: '"\\\u2028な\tし',
    ord_amount_to: '1,000',
    ord_lines: { line_qty: '3' },
  });
  assert.equal(
    text,
    '{"rkwa_status":"OK","rkwa_errorcount":1,"rkwa_errmsg":["該当するデータがありません。"],"ord_primarykey":"",' +
      `"ord_customer":${JSON.stringify('"\\\u2028な\tし')},"ord_note":"","ord_amount":"","ord_amount_to":"1,000",` +
      '"pms_i_ymd":"","pms_i_ymd_to":"","ord_lines":{"line_product":"","line_qty":"3","line_qty_to":""}}',
  );
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8');
  assert.equal(headers.get('x-error-code'), null);
});

test('D21: the echo lists range fields twice, nests table fields, and leaves out what is hidden in the search settings', async () => {
  const { json } = await opened.search({ ord_primarykey: 'ない' }, { tablecode: 'ord_lines' });
  const { rkwa_status: _, rkwa_errorcount: __, rkwa_errmsg: ___, ...echo } = json;
  assert.deepEqual(echo, {
    ord_primarykey: 'ない',
    ord_customer: '',
    ord_note: '',
    ord_amount: '',
    ord_amount_to: '',
    pms_i_ymd: '',
    pms_i_ymd_to: '',
    ord_lines: { line_product: '', line_qty: '', line_qty_to: '' },
  });
});

test('4.1 point 3: fields hidden in the list settings are absent from records and rows, and can still be searched', async () => {
  const { json } = await opened.search({ ord_note: '至急' }, { tablecode: 'ord_lines' });
  assert.equal(json.ord_lines.length, 1);
  assert.equal('ord_note' in json.ord_lines[0], false);
  const row = (await opened.record('9', { tablecode: 'ord_lines' })).ord_lines[0];
  assert.deepEqual(Object.keys(row), ['line_product', 'line_qty']);
});

test('D11: the records stand under tablecode, else recordsKey, else the app code', async () => {
  const members = async (parameters: Record<string, string>) => Object.keys((await search(parameters, {})).json)[3];
  assert.equal(await members(opened.credentials), 'orders');
  assert.equal(await members({ ...opened.credentials, tablecode: 'ord_lines' }), 'ord_lines');
  await opened.running.define('{ code: PLAIN, fields: [{ id: p_primarykey, type: id }] }');
  await opened.running.put('PLAIN', [{}]);
  assert.equal(await members({ appcode: 'PLAIN', appkey: await opened.running.key('PLAIN', 'yamada') }), 'PLAIN');
});

test('D12: every record carries all of its rows in row order, also those that a condition does not meet, also none', async () => {
  const { json } = await opened.search({}, { tablecode: 'ord_lines' });
  const products = json.ord_lines.map((record: { ord_lines: { line_product: { value: string } }[] }) =>
    record.ord_lines.map((row) => row.line_product.value),
  );
  assert.deepEqual(products, [['机', '椅子'], [], ['机']]);
  const met = await opened.search({ ord_lines: { line_product: '椅子' } }, { tablecode: 'ord_lines' });
  assert.equal(met.json.ord_lines[0].ord_lines.length, 2);
});

const ORDERS_OF_FINDING = [
  ['D20: all records come in the order in which they were put in', {}, '9 10 8'],
  ['D20: found by partial match, in the same order', { ord_customer: '東京' }, '9 8'],
  ['D20: found by a range, in the same order', { ord_amount: '100' }, '9 10 8'],
  ['D20: found by two conditions, in the same order', { ord_amount: '150', ord_customer: '東' }, '9 8'],
  ['D20: found by rows, in the same order', { ord_lines: { line_qty: '0' } }, '9 8'],
] as const;

for (const [title, param, keys] of ORDERS_OF_FINDING)
  test(title, async () => assert.equal(await opened.find(param), keys));

test('D20: an update does not change the order', async () => {
  await opened.update(entries({ ord_primarykey: '9', ord_customer: '東京商事', ord_amount: '300', ord_note: '' }));
  assert.equal(await opened.find({ ord_customer: '東京' }), '9 8');
  assert.equal(await opened.find({}), '9 10 8');
});

test('4.1: a search sees an update that was answered before it', async () => {
  for (let amount = 400; amount < 420; amount++) {
    const values = { ord_primarykey: '10', ord_customer: `客${amount}`, ord_amount: String(amount) };
    assert.equal((await opened.update(entries(values))).status, 200);
    const [byText, byNumber] = await Promise.all([
      opened.find({ ord_customer: `客${amount}` }),
      opened.find({ ord_amount: String(amount), ord_amount_to: String(amount) }),
    ]);
    assert.deepEqual([byText, byNumber], ['10', '10']);
    assert.equal(await opened.find({ ord_customer: `客${amount - 1}` }), '');
  }
});
