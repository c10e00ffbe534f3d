/**
 * The binomial tree that rooted algorithms climb: ⌈log2 p⌉ deep, for any p and any root.
 *
 * Ranks are counted from the root (`relative`). Clearing the lowest set bit gives the parent. The subtree of a rank is the run
 * of relative ranks that begins with it, so the blocks of a subtree are one piece.
 */
import type { RootedPlace } from "../engine/schedule.ts";

interface BinomialNode {
  /** Rank counted from the root. */
  readonly relative: number;
  /** Ranks in this subtree, this one included: relative … relative + width − 1. */
  readonly width: number;
  /** Rank of the parent; −1 at the root. */
  readonly parent: number;
  /** Widest first: the child with the most to pass on is served first. */
  readonly children: readonly BinomialChild[];
}

interface BinomialChild {
  readonly rank: number;
  readonly relative: number;
  readonly width: number;
}

export function binomialNode({ rank, size, root }: RootedPlace): BinomialNode {
  const relative = (rank - root + size) % size;
  const rankAt = (at: number): number => (at + root) % size;
  const children: BinomialChild[] = [];
  let bit = 1;
  for (; bit < size && (relative & bit) === 0; bit *= 2) {
    const child = relative + bit;
    if (child < size) children.unshift({ rank: rankAt(child), relative: child, width: Math.min(bit, size - child) });
  }
  return {
    relative,
    width: Math.min(bit, size - relative),
    parent: relative === 0 ? -1 : rankAt(relative - bit),
    children,
  };
}
