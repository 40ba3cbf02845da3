// `option web-api`: switches the WebAPI option (spec 5 rule 3).
import { Argument, type Command } from 'commander';
import { type Context, withRegister } from './context.ts';
import { describeCommand } from './options.ts';

export function optionWebApi(context: Context): Command {
  return describeCommand('web-api', 'Switch the WebAPI option: off refuses every request.', 'daicho option web-api off')
    .addArgument(new Argument('<state>', 'on or off').choices(['on', 'off']))
    .action((state: 'on' | 'off', _: unknown, command: Command) =>
      withRegister(context, command, async (register) => {
        await register.setWebApi(state === 'on');
        context.note(`The WebAPI option is ${state}.`);
      }),
    );
}
