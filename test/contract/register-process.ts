// A process of its own that works on a register, to be watched or killed: place, command, its argument.
// It writes a line per progress report and `done` at the end.
import { writeSync } from 'node:fs';
import type { Progress } from '../../src/store/register.ts';
import { engineAt } from '../harness/fresh-register.ts';
import { appOf } from '../harness/running.ts';

const [place = '', command = '', argument = ''] = process.argv.slice(2);
const register = await (await engineAt(place)).openRegister();
// Written at once: what comes next may keep the event loop for a while.
const say = (line: string) => writeSync(1, `${line}\n`);
const progress: Progress = (done, total) => say(`${done}/${total}`);

switch (command) {
  case 'apply': {
    const { app, source } = appOf(argument);
    await register.apply(app, source, { allowDataLoss: true, dryRun: false, progress });
    break;
  }
  case 'reindex':
    await register.reindex(argument, progress);
    break;
  case 'rename':
    await register.changeUser('sato', { name: argument }, progress);
    break;
  case 'load': {
    const loader = await register.load('A', 'sato', 'the source');
    for (let position = loader.position; position < Number(argument); position += 1_000) {
      const records = Array.from({ length: 1_000 }, (_, n) => {
        const line = position + n + 1;
        return { line, primaryKey: `S${line}`, values: new Map([['t', `京都 ${line}`]]), tables: new Map() };
      });
      await loader.put(records, position + 1_000);
      say(`${position + 1_000}/${argument}`);
    }
    await loader.finish(progress);
    break;
  }
}
await register.close();
say('done');
