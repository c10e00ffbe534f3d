/**
 * The reduce-scatter at the heart of the long reductions, along the canonical tree of `reduction-order.ts`: pairs are
 * folded, then in level l the virtual ranks at distance 2^l split what they both hold, each gives one half away and combines
 * the other. Distances double while vectors halve (usually it is the other way round), because that order combines
 * adjacent blocks: rank 0 with 1, then 0‥1 with 2‥3, exactly the tree. After k levels every virtual rank has one piece of
 * the complete result; (1 − 2^−k)·n bytes sent, plus up to n by the ranks of folded pairs.
 *
 * The vector lies in 2^k pieces, in the order in which halving meets them: virtual rank v ends with piece
 * `pieceOf(v)`, its bits reversed. Rabenseifner, 2004, with the order of the levels turned round.
 */
import type { Accumulator } from "../engine/accumulator.ts";
import { firstRankOf, isPair, type ReductionShape, virtualOf } from "../engine/reduction-order.ts";
import { part, type Rounds, receive, region, send } from "../engine/rounds.ts";
import type { Region } from "../engine/schedule.ts";

/** A run of pieces, first … end−1. */
interface Run {
  readonly first: number;
  readonly end: number;
}

export interface Halving {
  readonly rank: number;
  readonly shape: ReductionShape;
  readonly elementBytes: number;
  /** 2^k + 1 byte offsets: piece i lies between bounds i and i + 1. */
  readonly bounds: readonly number[];
  /** The holder of each pair (2i, 2i + 1): the lower rank, but the root of a rooted reduction in its own pair. */
  readonly holderOf: (virtual: number) => number;
  /** Room for incoming bytes: `incomingBytes` long. */
  readonly scratchOffset: number;
}

/** Reverses the lowest `levels` bits. */
export function pieceOf(virtual: number, levels: number): number {
  let piece = 0;
  for (let level = 0; level < levels; level++) piece = piece * 2 + ((virtual >> level) & 1);
  return piece;
}

/** Pieces of about the same number of elements. */
export function evenBounds({ levels }: ReductionShape, bytes: number, elementBytes: number): number[] {
  const pieces = 2 ** levels;
  const elements = bytes / elementBytes;
  return Array.from({ length: pieces + 1 }, (_, piece) => Math.floor((elements * piece) / pieces) * elementBytes);
}

/** The lower holder of each pair. */
export const lowerHolder =
  (shape: ReductionShape) =>
  (virtual: number): number =>
    firstRankOf(shape, virtual);

/** The holder of each pair, the root in its own. */
export const rootHolder =
  (shape: ReductionShape, root: number) =>
  (virtual: number): number =>
    virtualOf(shape, root) === virtual ? root : firstRankOf(shape, virtual);

/** The most bytes that arrive at once: half of the vector, or the larger half when pieces are unequal. */
export function incomingBytes({
  shape,
  bounds,
  elementBytes,
}: Pick<Halving, "shape" | "bounds" | "elementBytes">): number {
  const bytes = bounds.at(-1)!;
  const atMiddle = bounds[bounds.length >> 1]!;
  const ofHalves = shape.levels > 0 ? Math.max(atMiddle, bytes - atMiddle) : 0;
  return shape.pairs > 0 ? Math.max(ofHalves, bytes - pairMiddle(bytes, elementBytes)) : ofHalves;
}

const pairMiddle = (bytes: number, elementBytes: number): number => Math.floor(bytes / elementBytes / 2) * elementBytes;

/**
 * Folds pairs: the lower rank combines the lower half, the upper the upper half, then one gives its half to the other. True if
 * this rank is the holder and goes on.
 */
export function foldPair(rounds: Rounds, value: Accumulator, halving: Halving): boolean {
  const { rank, shape, bounds, elementBytes, holderOf, scratchOffset } = halving;
  const virtual = virtualOf(shape, rank);
  if (!isPair(shape, virtual)) return true;
  const bytes = bounds.at(-1)!;
  const middle = pairMiddle(bytes, elementBytes);
  const lower = { offset: 0, bytes: middle };
  const upper = { offset: middle, bytes: bytes - middle };
  const isLower = rank === firstRankOf(shape, virtual);
  const peer = isLower ? rank + 1 : rank - 1;
  const kept = isLower ? lower : upper;
  const given = isLower ? upper : lower;
  const incoming = region("scratch", scratchOffset, kept.bytes);
  rounds.add(
    send(peer, part(value.current, given.offset, given.bytes)),
    receive(peer, incoming),
    value.combinePart(kept.offset, incoming, isLower ? "right" : "left"),
  );
  const goesOn = holderOf(virtual) === rank;
  rounds.add(
    goesOn
      ? receive(peer, part(value.current, given.offset, given.bytes))
      : send(peer, part(value.current, kept.offset, kept.bytes)),
  );
  return goesOn;
}

/** The levels of halving; afterwards `value` has the complete piece of this rank's virtual rank. */
export function halve(rounds: Rounds, value: Accumulator, halving: Halving): void {
  const { rank, shape, bounds, holderOf, scratchOffset } = halving;
  const virtual = virtualOf(shape, rank);
  const extent = (run: Run) => ({ offset: bounds[run.first]!, bytes: bounds[run.end]! - bounds[run.first]! });
  for (let level = 0; level < shape.levels; level++) {
    const kept = extent(runAt(virtual, level + 1, shape));
    const given = extent(runAt(virtual ^ (1 << level), level + 1, shape));
    const peer = holderOf(virtual ^ (1 << level));
    const incoming = region("scratch", scratchOffset, kept.bytes);
    rounds.add(
      send(peer, part(value.current, given.offset, given.bytes)),
      receive(peer, incoming),
      value.combinePart(kept.offset, incoming, (virtual >> level) & 1 ? "left" : "right"),
    );
  }
}

/** The pieces that a virtual rank works on after that many levels: 2^k, halved at each level, the half that its bits select. */
function runAt(virtual: number, level: number, { levels }: ReductionShape): Run {
  const width = 2 ** (levels - level);
  const first = pieceOf(virtual, level) * width;
  return { first, end: first + width };
}

/** The bytes of `vector` that a virtual rank works on after that many levels. */
export function runRegion(vector: Region, virtual: number, level: number, { bounds, shape }: Halving): Region {
  const { first, end } = runAt(virtual, level, shape);
  return part(vector, bounds[first]!, bounds[end]! - bounds[first]!);
}
