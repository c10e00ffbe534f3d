/**
 * The general coefficient problem: the best combination of the grids that can be had.
 *
 * A lost grid must have the coefficient zero. Of all downsets of the scheme with that property the one is wanted that has the largest worth, Σ 4^−|l|₁ over
 * its levels: the hierarchical surplus of level l is bounded by that for a solution with bounded mixed second derivatives, so what is left out of the
 * sum costs least (Harding and Hegland, 2013).
 *
 * Solved exactly, best first. Begin with the whole scheme. If a set gives a grid that cannot be had a coefficient, every better answer below lacks at least one of
 * the corners l + z that the coefficient counts, and, being a downset, everything above that corner: one branch for each of the highest corners.
 * No set is worth more than one it was cut from, so the first set that is taken out and needs nothing lost is the best there is. Branching depends on the lost
 * grids alone: few losses make few branches.
 */
import { coefficientsOf, cornersOf, diagonalOf, type Scheme } from "./scheme.ts";

interface Candidate {
  readonly isIn: Uint8Array;
  readonly worth: number;
}

/** The coefficients of the best downset that needs only grids that can be had. All are zero if there is none. */
export function bestCoefficients(scheme: Scheme, isAvailable: (place: number) => boolean): Int32Array {
  const whole = new Uint8Array(scheme.levels.length).fill(1);
  const open: Candidate[] = [{ isIn: whole, worth: worthOf(scheme, whole) }];
  const seen = new Set<string>();
  for (;;) {
    const { isIn } = takeBest(open);
    const coefficients = coefficientsOf(scheme, isIn);
    const cuts = fewestCuts(scheme, isIn, (place) => coefficients[place] !== 0 && !isAvailable(place));
    if (cuts === null) return coefficients;
    for (const cut of cuts) {
      const smaller = without(scheme, isIn, cut);
      const key = smaller.join("");
      if (seen.has(key)) continue;
      seen.add(key);
      open.push({ isIn: smaller, worth: worthOf(scheme, smaller) });
    }
  }
}

/** Whole numbers, so that sums are exact: 4 to the number of the diagonal. */
function worthOf(scheme: Scheme, isIn: Uint8Array): number {
  return scheme.levels.reduce((sum, level, place) => sum + isIn[place]! * 4 ** diagonalOf(scheme, level), 0);
}

/** Of sets of the same worth the one that was put in first. */
function takeBest(open: Candidate[]): Candidate {
  let best = 0;
  for (let i = 1; i < open.length; i++) if (open[i]!.worth > open[best]!.worth) best = i;
  return open.splice(best, 1)[0]!;
}

/** The highest corners of a level that must not be used, of which one has to go: of the level that has fewest. Null: there is none such level. */
function fewestCuts(scheme: Scheme, isIn: Uint8Array, isForbidden: (place: number) => boolean): number[] | null {
  let fewest: number[] | null = null;
  for (const [place, level] of scheme.levels.entries()) {
    if (!isForbidden(place)) continue;
    const corners = cornersOf(scheme, level, isIn);
    const isHighest = (steps: number): boolean =>
      corners.every((other) => other.steps === steps || (other.steps & steps) !== steps);
    const cuts = corners.filter(({ steps }) => isHighest(steps)).map((corner) => corner.place);
    if (fewest === null || cuts.length < fewest.length) fewest = cuts;
  }
  return fewest;
}

/** The set without a level and everything above it. */
function without(scheme: Scheme, isIn: Uint8Array, cut: number): Uint8Array {
  const corner = scheme.levels[cut]!;
  return isIn.map((is, place) => (is === 1 && !scheme.levels[place]!.every((l, axis) => l >= corner[axis]!) ? 1 : 0));
}
