/** Messages between `ImageWriter` and its thread. The thread does one thing at a time, in the order of the messages. */
import type { ImageFacts } from "../../image/header.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import type { Release } from "./release.ts";

/** `workerData` of the thread. */
export interface ImageThreadSetup {
  readonly path: string;
  readonly memory: WebAssembly.Memory;
}

export type ToImageThread = CopyRound | FinishImage | Discard;

/** Write the pages that changed since the last round; the program runs. */
interface CopyRound {
  readonly kind: "round";
  readonly ranges: readonly MemoryRange[];
}

/** The program stands still: write the rest and make the file durable. */
export interface FinishImage {
  readonly kind: "finish";
  readonly header: ImageFacts;
  readonly state: Uint8Array;
  readonly ranges: readonly MemoryRange[];
  readonly release: Release | undefined;
}

/** Give up the image. */
interface Discard {
  readonly kind: "discard";
}

export type FromImageThread = RoundReport | ImageCaptured | ImageStored | Failed;

export interface RoundReport {
  readonly kind: "round";
  /** Pages that had changed and were written. */
  readonly pages: number;
  readonly ms: number;
}

/** The memory is not needed any more: the program may continue. */
interface ImageCaptured {
  readonly kind: "captured";
}

interface ImageStored {
  readonly kind: "stored";
  readonly report: ImageReport;
}

/** The disk or the system failed; the message is one line and names the file. */
interface Failed {
  readonly kind: "failed";
  readonly message: string;
}

export interface ImageReport {
  readonly fileBytes: number;
  /** Pages in the file; a page that was written in three rounds counts three times. */
  readonly pages: number;
  /** Pages that the last round wrote, with the program standing still. */
  readonly pagesLast: number;
  readonly rounds: number;
  /** From the call of `finish` to the end of the last round: the time for which the program stood still. */
  readonly stoppedMs: number;
  /** From there until the file was durable. */
  readonly flushMs: number;
}
