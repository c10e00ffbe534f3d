/** Printed lines on their way from a rank by its node to the dispatcher. */

export type Stream = "stdout" | "stderr";

/** Consecutive bytes of one stream of one rank: the end of an unfinished line, whole lines, the start of another. */
export interface LineChunk {
  readonly stream: Stream;
  /** Number, in the rank's stream, of the line to which the first byte belongs, and its place in that line. */
  readonly number: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** The unfinished line at the end shall be seen now: the program is about to read input. */
  readonly flush: boolean;
}

/** How much output of one node may be under way. Must hold at least one ring (`line-ring.ts`). */
export const outputWindowBytes = 1 << 20;
