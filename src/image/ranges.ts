/** The parts of a memory that belong to an image: byte ranges from the caller, whole pages in the image. */
import { assert } from "../core/base/assert.ts";
import { pageBytes } from "./kernel.ts";
import type { PageRun } from "./page-set.ts";

/** Bytes from the first up to, but not including, the second. */
export type MemoryRange = readonly [from: number, to: number];

/** Whole pages that cover the ranges, in order, each once. */
export function pagesOf(ranges: readonly MemoryRange[], memoryBytes: number): PageRun[] {
  const runs: { from: number; to: number }[] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    assert(from >= 0 && from <= to && to <= memoryBytes, `range ${from} to ${to} of a memory of ${memoryBytes} bytes`);
    if (from === to) continue;
    const run = { from: Math.floor(from / pageBytes), to: Math.ceil(to / pageBytes) };
    const last = runs.at(-1);
    if (last !== undefined && run.from <= last.to) last.to = Math.max(last.to, run.to);
    else runs.push(run);
  }
  return runs;
}

/** The ranges without the bytes of `hole`. */
export function rangesWithout(ranges: readonly MemoryRange[], [from, to]: MemoryRange): MemoryRange[] {
  return ranges
    .flatMap(([first, end]): MemoryRange[] => [
      [first, Math.min(end, Math.max(first, from))],
      [Math.max(first, Math.min(end, to)), end],
    ])
    .filter(([first, end]) => first < end);
}
