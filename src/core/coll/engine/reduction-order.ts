/**
 * THE order in which the parts of p ranks are combined. Every reduction, whatever its algorithm, placement, protocol or
 * order of arrival, gives bit for bit what folding by this tree gives; floating-point results therefore depend on the
 * communicator's size and the operation alone, never on the root or the algorithm chosen.
 *
 * Let 2^k be the largest power of two ≤ p and rem = p − 2^k. The first 2·rem ranks are combined in pairs (2i, 2i+1), each
 * pair one *virtual* rank; every other rank is a virtual rank by itself. Over the 2^k virtual ranks stands a balanced binary
 * tree of adjacent blocks, the lower block always on the left, so the order of the ranks is kept and the operation need
 * not be commutative. The shape is what recursive doubling and recursive halving can follow with any p.
 *
 *     p = 6:   ((0 1)(2 3)) (4 5)        p = 5:   ((0 1) 2) (3 4)
 *
 * Blocks are named by (height, index). Height 0 are the ranks, height 1 the virtual ranks, height h + 1 blocks of 2^h
 * virtual ranks; the whole is (heightOf(p), 0).
 */
export interface ReductionShape {
  readonly size: number;
  /** k: levels of the tree over the virtual ranks. */
  readonly levels: number;
  /** rem: how many virtual ranks are pairs. */
  readonly pairs: number;
}

export function reductionShape(size: number): ReductionShape {
  const levels = 31 - Math.clz32(size);
  return { size, levels, pairs: size - 2 ** levels };
}

export const virtualOf = ({ pairs }: ReductionShape, rank: number): number =>
  rank < 2 * pairs ? rank >> 1 : rank - pairs;

/** The lowest rank in a virtual rank; for virtual rank 2^k, one past the last, it is p. */
export const firstRankOf = ({ pairs }: ReductionShape, virtual: number): number =>
  virtual < pairs ? 2 * virtual : virtual + pairs;

export const isPair = ({ pairs }: ReductionShape, virtual: number): boolean => virtual < pairs;

export const heightOf = ({ levels }: ReductionShape): number => levels + 1;

/** The ranks first … end−1, of which those before `middle` are the left operand; `middle` = `end` when nothing is combined. */
export interface Combination {
  readonly first: number;
  readonly middle: number;
  readonly end: number;
}

/** The two operands of a block at height ≥ 1. */
export function combination(shape: ReductionShape, height: number, index: number): Combination {
  if (height === 1) {
    const first = firstRankOf(shape, index);
    const end = firstRankOf(shape, index + 1);
    return { first, middle: first + 1, end };
  }
  const width = 2 ** (height - 2);
  return {
    first: firstRankOf(shape, 2 * index * width),
    middle: firstRankOf(shape, (2 * index + 1) * width),
    end: firstRankOf(shape, (2 * index + 2) * width),
  };
}

/** Index of the block at `height` that contains the rank. */
export const indexAt = (shape: ReductionShape, height: number, rank: number): number =>
  height === 0 ? rank : virtualOf(shape, rank) >> (height - 1);

/**
 * Folds p parts that lie in memory by the tree: calls `combine(left, right, into)` with the indices of parts, `into` being
 * `left`. Afterwards part 0 is the result; the other parts hold intermediate values.
 */
export function foldParts(size: number, combine: (left: number, right: number, into: number) => void): void {
  const steps = foldSteps(size);
  for (let i = 0; i < steps.length; i += 2) combine(steps[i]!, steps[i + 1]!, steps[i]!);
}

/** The order as data: pairs (left, right) of parts, each combined into the left one. */
export function foldSteps(size: number): Int32Array {
  const shape = reductionShape(size);
  const steps: number[] = [];
  for (let pair = 0; pair < shape.pairs; pair++) steps.push(2 * pair, 2 * pair + 1);
  const virtuals = 2 ** shape.levels;
  for (let width = 1; width < virtuals; width *= 2) {
    for (let virtual = 0; virtual < virtuals; virtual += 2 * width) {
      steps.push(firstRankOf(shape, virtual), firstRankOf(shape, virtual + width));
    }
  }
  return Int32Array.from(steps);
}
