// The signals that end a process.

/** Resolves at the first signal to end; a second one ends the process at once. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isEnding = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (isEnding) process.exit(1);
      isEnding = true;
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}
