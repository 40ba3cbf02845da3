// Asks the process that opens images: starts it when it is needed, ends it when it is not, or when an image takes too long.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FromDecoder, ToDecoder } from './image-decoder.ts';

/** Milliseconds without an image after which the process ends. */
const IDLE = 30_000;

export type Decoded = Exclude<FromDecoder, { kind: 'fault' }>;

/** One process; it opens one image at a time, the others wait. Nobody waits for it when the server ends. */
export class ImageProcess {
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #timeLimit: number;

  /** `timeLimit`: milliseconds that an image may take once it is there. */
  constructor(timeLimit: number) {
    this.#timeLimit = timeLimit;
  }

  /** Its answer to what is sent, the last of which asks. An image that takes too long, or that it breaks at, is unreadable. */
  ask(sent: Iterable<ToDecoder> | AsyncIterable<ToDecoder>): Promise<Decoded> {
    const asked = this.#turn.then(() => this.#ask(sent));
    // The failure is that of who asked, not of who comes next.
    this.#turn = asked.catch(() => {});
    return asked;
  }

  async #ask(sent: Iterable<ToDecoder> | AsyncIterable<ToDecoder>): Promise<Decoded> {
    const child = this.#started();
    child.ref();
    child.channel?.ref();
    let timer: NodeJS.Timeout | undefined;
    try {
      const answered = answerOf(child);
      // Where sending fails nobody looks at it.
      answered.catch(() => {});
      for await (const message of sent) await send(child, message);
      timer = setTimeout(() => this.#kill(child), this.#timeLimit);
      return await answered;
    } catch (error) {
      // It may hold a part of a content.
      this.#kill(child);
      throw error;
    } finally {
      clearTimeout(timer);
      child.unref();
      child.channel?.unref();
      this.#idle = setTimeout(() => this.#end(), IDLE).unref();
    }
  }

  #started(): ChildProcess {
    clearTimeout(this.#idle);
    // It may have ended by itself, and the end of its channel may be told later than its own.
    if (this.#child?.connected && this.#child.exitCode === null && this.#child.signalCode === null) return this.#child;
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    // Nothing of the environment: there are secrets in it.
    const child = fork(fileURLToPath(new URL(`./image-decoder.${extension}`, import.meta.url)), {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: {},
    });
    // Whoever asks listens for its errors; between two questions one means that it is gone, and the next starts another.
    child.on('error', () => {});
    this.#child = child;
    return child;
  }

  #kill(child: ChildProcess): void {
    child.kill('SIGKILL');
    this.#child = null;
  }

  #end(): void {
    // It ends itself where nobody is there any more.
    if (this.#child?.connected) this.#child.disconnect();
    this.#child = null;
  }
}

/** Resolves when the message is with the other process, so that no more than one part of a content waits here. */
function send(child: ChildProcess, message: ToDecoder): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** The next answer; unreadable where a signal ends the process first. */
function answerOf(child: ChildProcess): Promise<Decoded> {
  return new Promise((resolve, reject) => {
    const done = () => {
      child.off('message', onMessage).off('exit', onExit).off('error', onError);
    };
    const onMessage = (message: unknown) => {
      done();
      const answer = message as FromDecoder;
      if (answer.kind === 'fault') reject(new Error(`an image could not be opened: ${answer.reason}`));
      else resolve(answer);
    };
    const onExit = (code: number | null) => {
      done();
      if (code === null) resolve({ kind: 'unreadable' });
      else reject(new Error(`the process that opens images ended with code ${code}`));
    };
    const onError = (error: Error) => {
      done();
      reject(error);
    };
    child.on('message', onMessage).on('exit', onExit).on('error', onError);
  });
}
