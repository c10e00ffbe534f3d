/**
 * A collective operation as data: rounds of steps that one executor runs (`executor.ts`).
 *
 * A builder (one file per algorithm, `<collective>-<algorithm>.ts`) gets its place and sizes and returns the rounds of ONE
 * rank. All messages of a round are started together and the round is over when they are all complete; local steps of a
 * round (copy, reduce) run in the order listed, after the round's messages.
 *
 * All messages of one operation carry one tag. Their order keeps them apart: of two processes, the k-th message that one sends
 * (round by round, in the order listed) is the k-th that the other receives from it, and both name the same number of bytes.
 * Every builder keeps this, and the tests check it of every schedule (`matching.ts`).
 *
 * Programs may break the rule about lengths: their ranks may name counts that do not match. Then messages are longer or shorter
 * than the schedule says, and the executor reports it. For no rank to wait, the number of messages must not depend on the
 * lengths: a collective of 0 bytes has the messages of any other, and a part of 0 bytes is still a message. Only alltoallv
 * leaves empty parts out, because most of its parts may be empty.
 *
 * Buffers are named, not pointed to, so that a schedule is plain data and can be built again after a restart. They are packed
 * and contiguous: the starter of the operation deals with datatypes.
 */
export type BufferName =
  /** The caller's data to send. A builder that was told `inPlace` never names it. */
  | "send"
  /**
   * The place of the caller's result; with `inPlace` also its contribution, where the standard says so. The buffer of a
   * broadcast.
   */
  | "receive"
  /** Memory of the operation itself, `scratchBytes` long, with undefined contents at the start. */
  | "scratch";

/** A run of bytes in one of the buffers. */
export interface Region {
  readonly buffer: BufferName;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Without `group` the peer has that rank in the communicator (in an inter-communicator: in the remote group); "local" is a peer
 * in the rank's own group of an inter-communicator.
 */
interface Peer {
  readonly peer: number;
  readonly group?: "local";
}

export type Step =
  | ({ readonly kind: "send"; readonly from: Region } & Peer)
  | ({ readonly kind: "receive"; readonly to: Region } & Peer)
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

/** Rooted collectives name the root. */
export interface RootedPlace extends Place {
  readonly root: number;
}

/** Where a rank stands in an inter-communicator: `rank` is that in its own group. */
export interface InterPlace {
  readonly rank: number;
  readonly localSize: number;
  readonly remoteSize: number;
}

/** `inPlace` is the caller's IN_PLACE. Other ranks need not know: the messages are the same. */
export interface MayBeInPlace {
  readonly inPlace?: boolean;
}

/** The vector of a reduction. */
export interface Vector extends MayBeInPlace {
  readonly bytes: number;
  /** ≥ 1. Elements are never split. */
  readonly elementBytes: number;
}

/** Where each rank's block lies in a buffer, in bytes: the counts and displacements of the `v` and `w` forms. */
export interface Blocks {
  readonly bytes: readonly number[];
  readonly offsets: readonly number[];
}
