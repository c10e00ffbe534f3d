/**
 * MPI_Dims_create (MPI 5.0 §8.5.2): the free dimensions of a grid, as close to each other as the number of processes allows,
 * in non-increasing order; dimensions that are not 0 stay.
 *
 * Close means the smallest difference between the largest and the smallest dimension. Of the grids with that difference the
 * choice is MPICH's: the largest smallest dimension, then the smallest sum, then the largest dimension at the first difference.
 *
 * Every factorisation that may be the closest is tried. A number below 2^31 has at most 30 prime factors, so of more dimensions
 * all others are 1.
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";

export function dimsCreate(nodes: number, dims: readonly number[]): number[] {
  if (!Number.isSafeInteger(nodes) || nodes <= 0) {
    throw new MpiError(ErrorClass.ARG, `Cannot make a grid of ${nodes} processes: there must be at least 1`);
  }
  const wrong = dims.findIndex((dim) => dim < 0);
  if (wrong >= 0) {
    throw new MpiError(
      ErrorClass.DIMS,
      `Cannot make a grid: dimension ${wrong} is ${dims[wrong]} and must be 0 (free) or more`,
    );
  }
  const fixed = dims.reduce((product, dim) => (dim === 0 ? product : product * dim), 1);
  const free = dims.filter((dim) => dim === 0).length;
  if (nodes % fixed !== 0 || (free === 0 && nodes !== fixed)) {
    throw new MpiError(
      ErrorClass.DIMS,
      `Cannot make a grid of ${nodes} processes: the fixed dimensions hold ${fixed}, which ${free === 0 ? "must be all" : "must divide it"}`,
    );
  }
  const factors = free === 0 ? [] : balanced(nodes / fixed, Math.min(free, factorsMax + 1));
  let next = 0;
  return dims.map((dim) => (dim === 0 ? (factors[next++] ?? 1) : dim));
}

/** Prime factors of an int. */
const factorsMax = 30;

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);

/** `count` factors of `product`, in non-increasing order. */
function balanced(product: number, count: number): number[] {
  const divisors = divisorsOf(product);
  let best: number[] | undefined;
  const isBetter = (found: readonly number[]): boolean => {
    if (best === undefined) return true;
    const difference = spread(found) - spread(best) || best[0]! - found[0]! || sum(found) - sum(best);
    if (difference !== 0) return difference < 0;
    const other = found.findIndex((dim, i) => dim !== best![i]);
    return other >= 0 && found[other]! > best[other]!;
  };
  // The largest factor is chosen first, so every choice bounds the following ones: each is at most the last, their product is
  // the rest.
  const choose = (chosen: readonly number[], rest: number): void => {
    const left = count - chosen.length;
    if (left === 0) {
      if (rest === 1 && isBetter(chosen)) best = [...chosen];
      return;
    }
    const limit = chosen.at(-1) ?? rest;
    for (const divisor of divisors) {
      if (divisor > limit) break;
      if (rest % divisor !== 0 || divisor ** left < rest) continue;
      // The smallest factor cannot exceed the geometric mean of the remaining ones.
      const mean = Math.floor(rest ** (1 / left) + 1e-9);
      const least = (chosen[0] ?? divisor) - Math.min(divisor, mean);
      if (best === undefined || least <= spread(best)) choose([...chosen, divisor], rest / divisor);
    }
  };
  choose([], product);
  return best!;
}

const spread = (factors: readonly number[]): number => factors[0]! - factors.at(-1)!;

function divisorsOf(product: number): number[] {
  const low: number[] = [];
  for (let i = 1; i * i <= product; i++) if (product % i === 0) low.push(i);
  const high = low.map((divisor) => product / divisor).reverse();
  return [...new Set([...low, ...high])];
}
