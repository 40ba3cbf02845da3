// How far long work is: a bar with rate and time left on a terminal, a plain line now and then elsewhere.
import type { Progress } from '../store/register.ts';

export interface ProgressBar {
  readonly report: Progress;
  /** Work of another kind begins; it is counted from 0. */
  begin(what: string, unit: string): void;
  /** Removes the bar. */
  end(): void;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Milliseconds between two drawings of the bar, and between two lines. */
const REDRAW_AFTER = 100;
const LINE_AFTER = 2_000;
/** A line comes after this much more of the work, or after this many milliseconds. */
const LINE_SHARE = 0.1;
const LINE_AT_LATEST = 30_000;
const BAR_WIDTH = 24;

/** Shows progress on a stream; short work shows nothing. */
export function startProgress(stream: ProgressStream, unit: string, now = () => performance.now()): ProgressBar {
  const isTerminal = stream.isTTY === true;
  let work = { what: '', unit, started: now() };
  let shownAt = work.started;
  let shownShare = 0;
  let drawn = false;

  const isDue = (elapsed: number, share: number): boolean => {
    if (isTerminal) return elapsed >= REDRAW_AFTER;
    return elapsed >= LINE_AFTER && (share - shownShare >= LINE_SHARE || elapsed >= LINE_AT_LATEST);
  };
  const clear = () => {
    if (drawn) stream.write('\r\x1b[2K');
    drawn = false;
  };
  return {
    report(done, total) {
      const at = now();
      const share = total > 0 ? Math.min(1, done / total) : 0;
      if (!isDue(at - shownAt, share)) return;
      shownAt = at;
      shownShare = share;
      const text = describe(work.what, work.unit, done, total, (at - work.started) / 1000);
      if (isTerminal) {
        const line = total > 0 ? `${bar(share)} ${text}` : text;
        stream.write(`\r${line.slice(0, (stream.columns ?? 80) - 1)}\x1b[K`);
        drawn = true;
      } else stream.write(`${text}\n`);
    },
    begin(what, nextUnit) {
      clear();
      work = { what, unit: nextUnit, started: now() };
      shownAt = work.started;
      shownShare = 0;
    },
    end: clear,
  };
}

/** `12% 120,000 of 1,000,000 records, 40,000/s, 22 s left`. */
export function describe(what: string, unit: string, done: number, total: number, seconds: number): string {
  const rate = seconds > 0 ? done / seconds : 0;
  const count = (number: number) => Math.round(number).toLocaleString('en');
  const parts = [`${count(done)}${total > 0 ? ` of ${count(total)}` : ''} ${unit}`];
  if (rate > 0) parts.push(`${count(rate)}/s`);
  if (rate > 0 && total > done) parts.push(`${duration((total - done) / rate)} left`);
  const share = total > 0 ? `${Math.floor((Math.min(done, total) / total) * 100)}% ` : '';
  return `${what === '' ? '' : `${what}: `}${share}${parts.join(', ')}`;
}

function duration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function bar(share: number): string {
  const full = Math.round(share * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}]`;
}
