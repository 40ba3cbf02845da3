// `app show`: the definition of an app.
import type { Command } from 'commander';
import { parseDocument, visit } from 'yaml';
import { type Context, withRegister } from './context.ts';
import { appArgument, describeCommand, jsonOption } from './options.ts';

export function appShow(context: Context): Command {
  return describeCommand(
    'show',
    'Print the definition of an app as it was applied.',
    'daicho app show ORDERS > orders.yaml',
  )
    .addArgument(appArgument())
    .addOption(jsonOption())
    .action((code: string, options: { json?: true }, command: Command) =>
      withRegister(context, command, async (register) => {
        const source = await register.source(code);
        if (options.json) context.printJson(definitionTree(source));
        else context.print(source.endsWith('\n') ? source : `${source}\n`);
      }),
    );
}

/** The definition as a tree that JSON can hold; numbers that JSON would write otherwise stay the texts they are. */
function definitionTree(source: string): unknown {
  const document = parseDocument(source);
  visit(document, {
    Scalar(_, node) {
      const isNumber = typeof node.value === 'number' || typeof node.value === 'bigint';
      if (isNumber && node.source !== undefined && String(node.value) !== node.source) node.value = node.source;
    },
  });
  return document.toJS();
}
