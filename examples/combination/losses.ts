/** What lost grids cost: the errors of a combination for every choice of the grids that are lost, or for some of them. */
import { bestCoefficients } from "./coefficients.ts";
import { add, distance, interpolated } from "./combined.ts";
import { references } from "./result.ts";
import { isClassic, type Scheme } from "./scheme.ts";
import { type Problem, solveAlone } from "./slab.ts";

export interface Errors {
  /** From the exact solution, and from the full grid's: the root of the mean square over all points of the full grid. */
  readonly exact: number;
  readonly full: number;
}

/** Solves every grid once, and combines them as often as wanted. */
export class Losses {
  readonly #scheme: Scheme;
  readonly #problem: Problem;
  readonly #references: { readonly exact: Float64Array; readonly full: Float64Array };
  /** At the points of the full grid. */
  readonly #grids = new Map<number, Float64Array>();
  /** Places of the grids that can be lost. */
  readonly classic: readonly number[];

  constructor(problem: Problem, scheme: Scheme) {
    this.#problem = problem;
    this.#scheme = scheme;
    this.#references = references(problem, scheme);
    this.classic = [...scheme.levels.keys()].filter((place) => isClassic(scheme, scheme.levels[place]!));
  }

  after(lost: readonly number[]): Errors {
    const coefficients = bestCoefficients(this.#scheme, (place) => !lost.includes(place));
    const combined = new Float64Array(this.#references.full.length);
    for (const [place, coefficient] of coefficients.entries()) {
      if (coefficient !== 0) add(combined, coefficient, this.#grid(place));
    }
    const { exact, full } = this.#references;
    return { exact: distance(combined, exact), full: distance(combined, full) };
  }

  #grid(place: number): Float64Array {
    const { levels, finest } = this.#scheme;
    const level = levels[place]!;
    const known = this.#grids.get(place);
    if (known !== undefined) return known;
    const values = interpolated(solveAlone(this.#problem, level, finest), level, finest);
    this.#grids.set(place, values);
    return values;
  }
}

/** All ways to choose so many; if there are more than `most`, some of them, evenly spread. */
export function choices<T>(from: readonly T[], count: number, most: number): T[][] {
  const all = subsets(from, count);
  return all.length <= most ? all : Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)]!);
}

function subsets<T>(from: readonly T[], count: number): T[][] {
  if (count === 0) return [[]];
  return from.flatMap((first, i) => subsets(from.slice(i + 1), count - 1).map((rest) => [first, ...rest]));
}
