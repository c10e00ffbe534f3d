/**
 * The thread that writes one image. It blocks on the disk by design; while it scans and sums, the system sends written bytes to
 * the disk (part-file.ts).
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert, unreachable } from "../../core/base/assert.ts";
import type { ImageEncoder } from "../../image/encoder.ts";
import { ImageError } from "../../image/image-error.ts";
import { imageFileError } from "./file-error.ts";
import type { FinishImage, FromImageThread, ImageThreadSetup, ToImageThread } from "./messages.ts";
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
    this.#encoder = newEncoder(memory, true);
    this.#file.write(this.#encoder.start());
  }

  round(ranges: FinishImage["ranges"]): { pages: number; ms: number } {
    const from = performance.now();
    const pagesBefore = this.#encoder.progress.pages;
    for (const piece of this.#encoder.round(ranges)) this.#file.write(piece);
    this.#rounds++;
    return { pages: this.#encoder.progress.pages - pagesBefore, ms: performance.now() - from };
  }

  finish({ header, state, ranges, release }: FinishImage): void {
    const last = this.round(ranges);
    letGo(release);
    say({ kind: "captured" });
    const from = performance.now();
    this.#file.write(this.#encoder.end(header, state));
    this.#file.commit();
    const { fileBytes, pages } = this.#encoder.progress;
    const flushMs = performance.now() - from;
    const counts = { fileBytes, pages, pagesLast: last.pages, rounds: this.#rounds };
    say({ kind: "stored", report: { ...counts, stoppedMs: last.ms, flushMs } });
  }

  discard(): void {
    this.#file.discard();
  }
}

let capture: Capture | undefined;

function answer(message: ToImageThread): void {
  switch (message.kind) {
    case "round":
      capture ??= new Capture();
      say({ kind: "round", ...capture.round(message.ranges) });
      return;
    case "finish":
      capture ??= new Capture();
      capture.finish(message);
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

/** An error ends the work: the file is removed, and the writer, which releases a waiting rank, is told. */
function answerOrFail(message: ToImageThread): void {
  try {
    answer(message);
  } catch (error) {
    const seen = imageFileError(`Cannot write image ${path}`, error);
    capture?.discard();
    say({ kind: "failed", message: seen instanceof ImageError ? seen.message : String((seen as Error).stack) });
    port.close();
  }
}

port.on("message", answerOrFail);
