// Gives up a transfer that stands still.

export interface ProgressWatch {
  /** Aborted when the transfer has stood still, or when it was stopped. */
  readonly signal: AbortSignal;
  stop(reason: Error): void;
  end(): void;
}

/** Watches a number that grows with the transfer; null while nothing is to be expected. `silence` in milliseconds. */
export function watchProgress(silence: number, progress: () => number | null): ProgressWatch {
  const controller = new AbortController();
  let last = progress();
  const timer = setInterval(() => {
    const now = progress();
    if (now !== null && now === last) stop(new Error(`nothing moved for ${silence / 1_000} s`));
    last = now;
  }, silence).unref();
  const end = () => clearInterval(timer);
  const stop = (reason: Error) => {
    end();
    controller.abort(reason);
  };
  return { signal: controller.signal, stop, end };
}
