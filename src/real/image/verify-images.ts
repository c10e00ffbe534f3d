/**
 * Reads the images of a checkpoint back, in a thread: the dispatcher's main thread must not work for long. The thread is started with
 * the first checkpoint and stays: starting a thread costs more than reading 8 MB.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";

type Answer = (problem: string) => void;

export class ImageVerifier {
  readonly #threadFile: string;
  #thread: Worker | undefined;
  /** In the order of the questions, which is that of the answers. */
  readonly #waiting: Answer[] = [];

  constructor(threadFile: string) {
    this.#threadFile = threadFile;
  }

  /** The objection to the first bad image; empty: all are good. */
  verify(paths: readonly string[]): Promise<string> {
    return new Promise((resolve) => {
      this.#thread ??= this.#start();
      this.#waiting.push(resolve);
      this.#thread.ref();
      this.#thread.postMessage(paths);
    });
  }

  #start(): Worker {
    const thread = new Worker(this.#threadFile);
    thread.on("message", (problem: string) => {
      this.#waiting.shift()?.(problem);
      // An idle thread does not keep the process alive.
      if (this.#waiting.length === 0) thread.unref();
    });
    thread.on("error", (error: Error) => this.#ended(thread, error.message));
    thread.on("exit", () => this.#ended(thread, "Cannot read images: the thread that should is gone"));
    return thread;
  }

  /** The next question starts another thread. */
  #ended(thread: Worker, problem: string): void {
    // An error is followed by the exit, when another thread may be at work already.
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const answer of this.#waiting.splice(0)) answer(problem);
  }
}

/** One for all jobs of the process. */
let verifier: ImageVerifier | undefined;

/** The objection to the first bad image; empty: all are good. */
export function verifyImages(paths: readonly string[]): Promise<string> {
  verifier ??= new ImageVerifier(join(__dirname, "verify-thread.cjs"));
  return verifier.verify(paths);
}
