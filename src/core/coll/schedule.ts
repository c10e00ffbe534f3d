/**
 * A collective operation as data: rounds of steps that one executor runs (`executor.ts`).
 *
 * A builder (one file per algorithm, `<collective>-<algorithm>.ts`) gets its place and sizes and returns the rounds of ONE
 * rank. All steps of a round are started together, sends and receives first posted, and the round is over when they are
 * all complete; local steps of a round (copy, reduce) run in the order listed, after the round's messages.
 *
 * Buffers are named, not pointed to, so that a schedule is plain data and can be built again after a restart:
 */
export type BufferName =
  /** What the caller gave to send. With in-place operations the same memory as `receive`. */
  | "send"
  /** Where the caller wants the result. */
  | "receive"
  /** Memory of the operation itself, `scratchBytes` long, zero-filled never: contents start undefined. */
  | "scratch";

/** A run of bytes in one of the buffers. */
export interface Region {
  readonly buffer: BufferName;
  readonly offset: number;
  readonly bytes: number;
}

export type Step =
  /** To the process with that rank of the communicator (of the remote group, on an inter-communicator). */
  | { readonly kind: "send"; readonly peer: number; readonly from: Region }
  | { readonly kind: "receive"; readonly peer: number; readonly to: Region }
  | { readonly kind: "copy"; readonly from: Region; readonly to: Region }
  /**
   * into = left ∘ right, element by element; `into` may be the same region as `left` or as `right`. Lower ranks stand on the left:
   * with a non-commutative operation the order is that of the ranks.
   */
  | { readonly kind: "reduce"; readonly left: Region; readonly right: Region; readonly into: Region };

export type Round = readonly Step[];

export interface Schedule {
  readonly rounds: readonly Round[];
  readonly scratchBytes: number;
}

/** Where a rank stands in the communicator that runs the collective. */
export interface Place {
  readonly rank: number;
  readonly size: number;
}

/** Rooted collectives say who the root is. */
export interface RootedPlace extends Place {
  readonly root: number;
}
