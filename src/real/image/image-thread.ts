/**
 * The thread that writes one image. While one piece is on its way to the disk (in a thread of libuv's) the next one is
 * scanned, hashed and summed here.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert, unreachable } from "../../core/base/assert.ts";
import type { ImageEncoder, Piece } from "../../image/encoder.ts";
import { ImageError } from "../../image/image-error.ts";
import { fileError } from "./file-error.ts";
import type { Finish, FromImageThread, ImageThreadSetup, ToImageThread } from "./messages.ts";
import { PartFile } from "./part-file.ts";
import { letGo } from "./release.ts";
import { newEncoder } from "./write-image.ts";

assert(parentPort !== null, "image-thread.cjs runs as a worker thread");
const port = parentPort;
const { path, memory } = workerData as ImageThreadSetup;
const say = (message: FromImageThread): void => port.postMessage(message);

class Capture {
  readonly #file: PartFile;
  readonly #encoder: ImageEncoder;
  #rounds = 0;

  constructor() {
    this.#file = new PartFile(path);
    this.#encoder = newEncoder(memory);
    this.#file.write(this.#encoder.start());
  }

  async round(ranges: Finish["ranges"], isLast: boolean): Promise<{ pages: number; ms: number }> {
    const from = performance.now();
    const pagesBefore = this.#encoder.progress.pages;
    // A piece that waits is handled where it is awaited: an error between the two must not go unheard meanwhile.
    let writing: Promise<unknown> = Promise.resolve();
    for (const piece of this.#encoder.round({ ranges, isLast })) {
      await unless(writing);
      writing = this.#write(piece);
    }
    await unless(writing);
    this.#rounds++;
    return { pages: this.#encoder.progress.pages - pagesBefore, ms: performance.now() - from };
  }

  async finish({ header, state, ranges, release }: Finish): Promise<void> {
    const last = await this.round(ranges, true);
    letGo(release);
    say({ kind: "captured" });
    const from = performance.now();
    await this.#file.writeLater(this.#encoder.end(header, state));
    await this.#file.commitLater();
    const { fileBytes, pages } = this.#encoder.progress;
    const flushMs = performance.now() - from;
    const counts = { fileBytes, pages, pagesLast: last.pages, rounds: this.#rounds };
    say({ kind: "stored", report: { ...counts, stoppedMs: last.ms, flushMs } });
  }

  discard(): void {
    this.#file.discard();
  }

  /** The error as a value: see `round`. */
  #write(piece: Piece): Promise<unknown> {
    return this.#file.writeLater(piece).then(
      () => undefined,
      (error: unknown) => error,
    );
  }
}

async function unless(error: Promise<unknown>): Promise<void> {
  const found = await error;
  if (found !== undefined) throw found;
}

let capture: Capture | undefined;

async function answer(message: ToImageThread): Promise<void> {
  switch (message.kind) {
    case "round":
      capture ??= new Capture();
      say({ kind: "round", ...(await capture.round(message.ranges, false)) });
      return;
    case "finish":
      capture ??= new Capture();
      await capture.finish(message);
      port.close();
      return;
    case "discard":
      capture?.discard();
      port.close();
      return;
    default:
      unreachable(message);
  }
}

/** After an error nothing more is done: the file is gone, and the writer is told, who lets a rank go that stands still. */
async function answerOrFail(message: ToImageThread): Promise<void> {
  try {
    await answer(message);
  } catch (error) {
    const seen = fileError(`Cannot write image ${path}`, error);
    capture?.discard();
    say({ kind: "failed", message: seen instanceof ImageError ? seen.message : String((seen as Error).stack) });
    port.close();
  }
}

let last: Promise<void> = Promise.resolve();
port.on("message", (message: ToImageThread) => {
  last = last.then(() => answerOrFail(message));
});
