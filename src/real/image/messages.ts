/** What `ImageWriter` and its thread tell each other. The thread does one thing at a time, in the order it was asked. */
import type { ImageFacts } from "../../image/header.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import type { Release } from "./release.ts";

/** `workerData` of the thread. */
export interface ImageThreadSetup {
  readonly path: string;
  readonly memory: WebAssembly.Memory;
}

export type ToImageThread = CopyRound | Finish | Discard;

/** Write what changed since the last round; the program runs. */
interface CopyRound {
  readonly kind: "round";
  readonly ranges: readonly MemoryRange[];
}

/** The program stands still: write the rest and make the file durable. */
export interface Finish {
  readonly kind: "finish";
  readonly header: ImageFacts;
  readonly state: Uint8Array;
  readonly ranges: readonly MemoryRange[];
  readonly release: Release | undefined;
}

/** No image after all. */
interface Discard {
  readonly kind: "discard";
}

export type FromImageThread = RoundReport | Captured | Stored | Failed;

export interface RoundReport {
  readonly kind: "round";
  /** Pages that had changed and were written. */
  readonly pages: number;
  readonly ms: number;
}

/** Nothing of the memory is needed any more: the program may go on. */
export interface Captured {
  readonly kind: "captured";
}

export interface Stored {
  readonly kind: "stored";
  readonly report: ImageReport;
}

/** The disk or the system said no; the message is one line and names the file. */
interface Failed {
  readonly kind: "failed";
  readonly message: string;
}

export interface ImageReport {
  readonly fileBytes: number;
  /** Pages in the file; one that was written in three rounds counts three times. */
  readonly pages: number;
  /** Pages that the last round wrote, with the program standing still. */
  readonly pagesLast: number;
  readonly rounds: number;
  /** From the call of `finish` to the end of the last round: as long as the program stood still for it. */
  readonly stoppedMs: number;
  /** From there until the file was durable. */
  readonly flushMs: number;
}
