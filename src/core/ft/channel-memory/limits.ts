/** Sizes that ranks and memories agree on: the same in every life, so that a message is always cut in the same places. */
export interface MemoryLimits {
  /** Bytes of a message that one frame carries at most; a multiple of four. */
  readonly pieceBytesMax: number;
  /** Messages up to so many bytes go to their receiver with their envelope; no more than a piece. */
  readonly inlineBytesMax: number;
}

export const memoryLimitsDefault: MemoryLimits = { pieceBytesMax: 1 << 18, inlineBytesMax: 1 << 13 };

/** So many words may be acknowledged late on either side of a channel (`Incoming.unsaidWordsMax`): far fewer than its rings have. */
export const unsaidWordsMax = 1 << 12;

/** Memories share the ranks round robin (V1). */
export const memoryOf = (rank: number, memories: number): number => rank % memories;
