/**
 * Captures one image in a thread of its own, for callers with an event loop (a node's main thread must not work for long).
 *
 *     const writer = ImageWriter.start({ path, memory });
 *     await writer.preCopy(() => ranges());          // the program runs
 *     … the program is stopped …
 *     const { captured, stored } = writer.finish({ header, state, ranges: ranges(), release });
 *     await captured;                                // it may go on
 *     await stored;                                  // the file is durable, under its name
 *
 * One writer, one image. After a failure every promise is rejected with the same `ImageError`, the unfinished file is removed,
 * and an older image of the same name is still there.
 */

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { assert, unreachable } from "../../core/base/assert.ts";
import type { ImageFacts } from "../../image/header.ts";
import { ImageError } from "../../image/image-error.ts";
import { isWorthAnotherRound, pagesFew } from "../../image/pre-copy.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import { threadOptions } from "../machine/thread-options.ts";
import type { FromImageThread, ImageReport, ImageThreadSetup, RoundReport, ToImageThread } from "./messages.ts";
import { letGo, type Release } from "./release.ts";

interface ImageWriterOptions extends ImageThreadSetup {
  /** The path of the thread's code, where it does not lie beside this file (tests). */
  readonly threadFile?: string;
}

interface LastPart {
  readonly header: ImageFacts;
  /** Copied at once: it may lie in memory that the program will change. */
  readonly state: Uint8Array;
  readonly ranges: readonly MemoryRange[];
  /** For a rank that waits without an event loop; the rank is released also when the capture fails. */
  readonly release?: Release;
}

interface Finishing {
  /** The last round is written: the program may continue. */
  readonly captured: Promise<void>;
  /** The image is durable and has its name. */
  readonly stored: Promise<ImageReport>;
}

export class ImageWriter {
  readonly #worker: Worker;
  readonly #captured = new Answer<void>();
  readonly #stored = new Answer<ImageReport>();
  #round: Answer<RoundReport> | undefined;
  #failure: Error | undefined;
  #release: Release | undefined;
  #isFinishing = false;

  static start(options: ImageWriterOptions): ImageWriter {
    return new ImageWriter(options);
  }

  private constructor({ path, memory, threadFile }: ImageWriterOptions) {
    const setup: ImageThreadSetup = { path, memory };
    this.#worker = new Worker(threadFile ?? join(__dirname, "image-thread.cjs"), {
      workerData: setup,
      execArgv: threadOptions,
    });
    this.#worker.on("message", (message: FromImageThread) => this.#hear(message));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new ImageError(`Cannot write image ${path}: its thread has ended`)));
  }

  /** One round: writes the pages that changed since the last one; the first time all pages that are not zero. One at a time. */
  copyRound(ranges: readonly MemoryRange[]): Promise<RoundReport> {
    assert(this.#round === undefined && !this.#isFinishing, "rounds come one after the other, before the end");
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const round = new Answer<RoundReport>();
    this.#round = round;
    this.#tell({ kind: "round", ranges });
    return round.promise;
  }

  /** Rounds until few pages change, or no fewer than before; `ranges` is called before each, as the program's memory grows. */
  async preCopy(ranges: () => readonly MemoryRange[]): Promise<readonly RoundReport[]> {
    const reports: RoundReport[] = [];
    while (isWorthAnotherRound(reports, pagesFew.written)) reports.push(await this.copyRound(ranges()));
    return reports;
  }

  /** The program stands still until `captured`. */
  finish({ header, state, ranges, release }: LastPart): Finishing {
    assert(this.#round === undefined && !this.#isFinishing, "the end comes once, after the rounds");
    this.#isFinishing = true;
    this.#release = release;
    if (this.#failure !== undefined) letGo(release);
    else this.#tell({ kind: "finish", header, state: state.slice(), ranges, release });
    return { captured: this.#captured.promise, stored: this.#stored.promise };
  }

  /** Instead of `finish`: gives up the image. */
  async discard(): Promise<void> {
    assert(!this.#isFinishing, "an image is finished or discarded");
    this.#isFinishing = true;
    const gone = new Promise<void>((resolve) => this.#worker.once("exit", () => resolve()));
    if (this.#failure !== undefined) return;
    this.#tell({ kind: "discard" });
    await gone;
  }

  #tell(message: ToImageThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromImageThread): void {
    switch (message.kind) {
      case "round": {
        const round = this.#round;
        this.#round = undefined;
        round?.resolve(message);
        return;
      }
      case "captured":
        // From here on the word belongs to the rank again.
        this.#release = undefined;
        this.#captured.resolve();
        return;
      case "stored":
        this.#stored.resolve(message.report);
        return;
      case "failed":
        this.#fail(new ImageError(message.message));
        return;
      default:
        unreachable(message);
    }
  }

  /** Also called when the thread ends after success: then everything is settled, and the call has no effect. */
  #fail(error: Error): void {
    this.#failure ??= error;
    const round = this.#round;
    this.#round = undefined;
    round?.reject(this.#failure);
    letGo(this.#release);
    this.#captured.reject(this.#failure);
    this.#stored.reject(this.#failure);
  }
}

/** A promise and the two ways to settle it. Rejecting it without a listener is no unhandled rejection. */
class Answer<Value> {
  readonly promise: Promise<Value>;
  resolve!: (value: Value) => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise<Value>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => {});
  }
}
