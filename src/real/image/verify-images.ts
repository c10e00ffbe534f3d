/**
 * Reads the images of a checkpoint back. The dispatcher's main thread must not work for long at a time: a few images it reads itself, piece by piece, and many bytes are read by a
 * thread. The thread is started with the first of those and stays: starting it costs 60 ms of a processor, as much as reading 100 MB.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as others } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { checkingImage } from "./read-image.ts";

/** Up to so many bytes are read without a thread, in pieces of about so many milliseconds. */
const bytesHereMax = 32 * 1024 * 1024;
const pieceMs = 1;

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
  if (paths.reduce((sum, path) => sum + bytesOf(path), 0) <= bytesHereMax) return verifyHere(paths);
  verifier ??= new ImageVerifier(join(__dirname, "verify-thread.cjs"));
  return verifier.verify(paths);
}

/** In this thread, which does other things meanwhile. */
export async function verifyHere(paths: readonly string[]): Promise<string> {
  let sinceMs = performance.now();
  for (const path of paths) {
    try {
      for (const _ of checkingImage(path)) {
        if (performance.now() - sinceMs < pieceMs) continue;
        await others();
        sinceMs = performance.now();
      }
    } catch (error) {
      if (error instanceof ImageError) return error.message;
      throw error;
    }
  }
  return "";
}

/** One that is not there will be complained about. */
const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
