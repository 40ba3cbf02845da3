// Unique fields: applying a definition, loading records (x1, D39).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { appOf } from '../harness/running.ts';
import { type Opened, openApp } from '../spec/opened.ts';

const definition = (more = '') => `
code: Q
fields:
  - { id: q_primarykey, type: id, search: exact }
  - { id: q_mail, type: text${more} }
  - { id: q_number, type: number${more} }
`;

let opened: Opened;
before(async () => {
  opened = await openApp(definition(), [
    { q_primarykey: '1', q_mail: 'a', q_number: '1' },
    { q_primarykey: '2', q_mail: 'b', q_number: '1.0' },
    { q_primarykey: '3' },
    { q_primarykey: '4' },
  ]);
});
after(() => opened.running.close());

const apply = (yaml: string) => {
  const { app, source } = appOf(yaml);
  return opened.running.register.apply(app, source, { allowDataLoss: false, dryRun: false, progress: () => {} });
};

test('unique: a field whose values are not unique cannot become it; the message names two records', async () => {
  await assert.rejects(apply(definition(', unique: true')), /q_number cannot be unique: the records 1 and 2 have/);
  await opened.running.put('Q', [{ q_primarykey: '2', q_mail: 'b', q_number: '2' }]);
  assert.equal((await apply(definition(', unique: true'))).kind, 'changed');
});

test('unique: a load with a value that another record has is refused and names it', async () => {
  const { running } = opened;
  await assert.rejects(running.put('Q', [{ q_primarykey: '9', q_mail: 'a' }]), /record 9 has "a" in q_mail/);
  await assert.rejects(running.put('Q', [{ q_primarykey: '1', q_number: '2.00' }]), /record 1 has "2.00" in q_number/);
  await assert.rejects(
    running.put('Q', [
      { q_primarykey: '7', q_mail: 'same' },
      { q_primarykey: '8', q_mail: 'same' },
    ]),
    /record 8 has "same" in q_mail/,
  );
  await running.put('Q', [{ q_primarykey: '1', q_mail: 'a', q_number: '1' }]);
  assert.equal(await opened.find({ q_primarykey: '9' }), '');
  assert.deepEqual(await running.register.check(['Q'], () => {}), []);
});

test('unique: a field that is not unique any more takes what it did not', async () => {
  await apply(definition());
  await opened.running.put('Q', [{ q_primarykey: '9', q_mail: 'a' }]);
  assert.equal(await opened.find({ q_primarykey: '9' }), '9');
});
