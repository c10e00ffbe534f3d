/**
 * A large memory travels in lanes: each has a thread at either end and a connection of its own, and takes its stripes of the memory. What costs time is
 * to look at pages, not to send them, so two lanes are nearly twice as fast, and the last look takes half as long.
 */
import { type MemoryMarks, rangesInUse, unusedArea } from "../../core/request/memory-marks.ts";
import { type MemoryRange, rangesWithout } from "../../image/ranges.ts";

export interface Lane {
  readonly index: number;
  readonly of: number;
}

/** Whole chunks of an image. */
export const stripeBytes = 4 << 20;

export const lanesMax = 2;

/** Less than that is over before a second thread has started. */
const bytesMin = 48 << 20;

export function lanesFor(ranges: readonly MemoryRange[]): number {
  return usedBytes(ranges) < bytesMin ? 1 : lanesMax;
}

export const usedBytes = (ranges: readonly MemoryRange[]): number =>
  ranges.reduce((sum, [from, to]) => sum + to - from, 0);

const patienceMsMin = 100;
const patienceBytesPerMs = 250_000;

/** So long the threads of a lane let programs go first, but not for ever: where every processor computes, a replica would be lacking for very long. */
export const patienceMs = (bytes: number): number => patienceMsMin + bytes / patienceBytesPerMs;

/** What a program uses of its memory at the moment. */
export const usedRanges = (marks: MemoryMarks, words: Int32Array): MemoryRange[] =>
  rangesWithout(rangesInUse(marks.marks, words), unusedArea(marks, words));

/** The part of the ranges in the stripes of a lane. */
export function rangesOfLane(ranges: readonly MemoryRange[], { index, of }: Lane): MemoryRange[] {
  if (of === 1) return [...ranges];
  return ranges.flatMap(([from, to]) => {
    const parts: MemoryRange[] = [];
    for (let stripe = Math.floor(from / stripeBytes); stripe * stripeBytes < to; stripe++) {
      if (stripe % of !== index) continue;
      parts.push([Math.max(from, stripe * stripeBytes), Math.min(to, (stripe + 1) * stripeBytes)]);
    }
    return parts;
  });
}
