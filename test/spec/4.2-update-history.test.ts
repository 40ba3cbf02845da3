// Spec 4.2: updates of one record at once, and what the register keeps of them; D29, D31.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { entries, type Opened, openApp, refusal } from './opened.ts';

let opened: Opened;
before(async () => {
  const definition = `
code: H
fields:
  - { id: h_primarykey, type: id, search: exact }
  - { id: h_text, type: text, search: partial }
  - { id: h_copy, type: text, search: exact }
  - { id: __proto__, type: text }
`;
  opened = await openApp(definition, [
    { h_primarykey: '静', h_text: '初版', ['__proto__']: '原型' },
    { h_primarykey: '競', h_text: '0', h_copy: '0' },
    { h_primarykey: '走', h_text: '0', h_copy: '0' },
  ]);
  await opened.running.addUser('suzuki', '鈴木');
});
after(() => opened.running.close());

interface Version {
  readonly revision: number;
  readonly user_id: string;
  readonly at: string;
  readonly fields: Record<string, string>;
}

/** The tables of the app's records and of their history. */
async function tables(): Promise<{ readonly form: string; readonly history: string }> {
  const [[id, generation] = []] = await opened.running.query(`select id, generation from apps where code = 'H'`);
  return { form: `app_${id}_${generation}`, history: `app_${id}_history` };
}

/** The kept versions of a record, oldest first, read from the database beside the running server. */
async function historyOf(primaryKey: string): Promise<Version[]> {
  const { form, history } = await tables();
  const rows = await opened.running.query(`select revision, user_id, at, version from ${history}
    where record = (select pms_seq from ${form} where h_primarykey = '${primaryKey}') order by revision`);
  return (rows as [number, string, string, string][]).map(([revision, user_id, at, version]) => ({
    ...{ revision, user_id, at },
    fields: JSON.parse(version).fields,
  }));
}

test('D29: every update keeps the previous version, with who made the change and when', async () => {
  const { running } = opened;
  const suzuki = { appcode: 'H', appkey: await running.key('H', 'suzuki') };
  await opened.update(entries({ h_primarykey: '静', h_text: '二版\r\n"𠮷"', ['__proto__']: '型' }));
  const { json } = await running.update(suzuki, entries({ h_primarykey: '静', h_text: '三版' }));
  const versions = await historyOf('静');
  assert.deepEqual(
    versions.map(({ revision, user_id, fields }) => [revision, user_id, fields.h_text, fields.pms_u_usr]),
    [
      [1, 'yamada', '初版', 'yamada'],
      [2, 'suzuki', '二版\r\n"𠮷"', 'yamada'],
    ],
  );
  assert.deepEqual(
    versions.map(({ fields }) => Object.getOwnPropertyDescriptor(fields, '__proto__')?.value),
    ['原型', '型'],
  );
  assert.equal(versions[1]?.at, json.pms_u_ymd.value);
});

test('D29: a refused update keeps no version', async () => {
  const before = (await historyOf('静')).length;
  refusal(await opened.update(entries({ h_primarykey: '静', nowhere: '' })));
  refusal(await opened.update({ ...entries({ h_primarykey: '静' }), pms_revision: { value: '1' } }));
  assert.equal((await historyOf('静')).length, before);
});

test('D29: an answered update is in the database', async () => {
  const { json } = await opened.update(entries({ h_primarykey: '静', h_text: '書かれた' }));
  const { form } = await tables();
  const stored = await opened.running.query(`select h_text, pms_u_ymd from ${form} where h_primarykey = '静'`);
  assert.deepEqual(stored, [['書かれた', json.pms_u_ymd.value]]);
});

test('D31: of 64 updates of one revision at once exactly one wins', async () => {
  const param = (writer: number) => ({
    ...entries({ h_primarykey: '競', h_text: `書き手${writer}`, h_copy: `書き手${writer}` }),
    pms_revision: { value: '1' },
  });
  const replies = await Promise.all(Array.from({ length: 64 }, (_, writer) => opened.update(param(writer))));
  const won = replies.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const reply of replies.filter(({ status }) => status !== 200))
    assert.equal(refusal(reply).code, 'revision_conflict');
  const record = await opened.record('競', { revision: '1' });
  assert.deepEqual([record.h_text.value, record.pms_revision.value], [won[0]?.json.h_text.value, '2']);
});

test('D31: 64 writers that read and try again all get through, one per revision, each whole', async () => {
  let refusals = 0;
  const winners = await Promise.all(
    Array.from({ length: 64 }, async (_, writer) => {
      for (;;) {
        const { pms_revision: revision } = (await opened.search({ h_primarykey: '走' }, { revision: '1' })).json.H[0];
        const value = `書き手${writer}`;
        const param = { ...entries({ h_primarykey: '走', h_text: value, h_copy: value }), pms_revision: revision };
        const { status, json } = await opened.update(param);
        if (status === 200) {
          assert.deepEqual([json.h_text.value, json.h_copy.value], [value, value]);
          return Number(revision.value);
        }
        assert.equal(status, 409);
        refusals++;
      }
    }),
  );
  const revisions = Array.from({ length: 64 }, (_, index) => index + 1);
  assert.deepEqual(
    winners.toSorted((a, b) => a - b),
    revisions,
  );
  const versions = await historyOf('走');
  assert.deepEqual(
    versions.map(({ revision }) => revision),
    revisions,
  );
  for (const { fields } of versions) assert.equal(fields.h_text, fields.h_copy);
  assert.equal((await opened.record('走', { revision: '1' })).pms_revision.value, '65');
  assert.ok(refusals > 0, 'they met');
});

test('D31: updates without a revision at once are all carried out, one after the other', async () => {
  const before = (await historyOf('走')).length;
  const replies = await Promise.all(
    Array.from({ length: 64 }, (_, n) =>
      opened.update(entries({ h_primarykey: '走', h_text: `並${n}`, h_copy: `並${n}` })),
    ),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  for (const [n, { json }] of replies.entries())
    assert.deepEqual([json.h_text.value, json.h_copy.value], [`並${n}`, `並${n}`]);
  assert.equal((await historyOf('走')).length, before + 64);
  const { h_text, h_copy } = await opened.record('走');
  assert.equal(h_text.value, h_copy.value);
  assert.equal(await opened.find({ h_text: '並' }), '走');
  assert.equal(await opened.find({ h_text: '書き手', h_primarykey: '走' }), '', 'earlier values are found no more');
});
