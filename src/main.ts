// Arguments and environment in, exit code out.
import { runCommandLine } from './cli/cli.ts';
import { readEnvironment } from './config/env.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), readEnvironment());
