/**
 * How much of the memory of a C program is in use, read from that memory itself: by the process, and by threads that look at it while the program
 * runs.
 */

/** Bytes from the first up to, but not including, the second. */
export type HeapRange = readonly [from: number, to: number];

/** Words of the struct `banyan_memory`: the program's part ends at the break, that of the runtime begins at the limit. */
export const BREAK = 0;
export const LIMIT = 1;

/** Where to look. Plain data. */
export interface MemoryMarks {
  /** The struct. */
  readonly marks: number;
  /** The area for an unwound stack, and its length. */
  readonly area: number;
  readonly bytes: number;
}

/** Words in front of the area: where it is free, where it ends. */
const areaHeadBytes = 8;

/** The part of the area that no unwound stack reaches: whatever it holds, nobody will read it. */
export function unusedArea({ area, bytes }: Pick<MemoryMarks, "area" | "bytes">, words: Int32Array): HeapRange {
  // Nothing has been unwound there yet while the word is 0.
  const used = Math.max(area + areaHeadBytes, words[area >> 2]!);
  return [used, area + bytes];
}

/** All that is in use; of a program that runs it may be more in a moment. */
export function rangesInUse(marks: number, words: Int32Array): HeapRange[] {
  const first = marks >> 2;
  return [
    [0, words[first + BREAK]!],
    [words[first + LIMIT]!, words.byteLength],
  ];
}
