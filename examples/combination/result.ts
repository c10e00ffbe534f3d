/** What comes out of it, and the lines that the manager prints about it. */
import { add, bitsOf, distance, interpolated } from "./combined.ts";
import { type Level, levelText, type Scheme } from "./scheme.ts";
import { type Problem, rowsOf, sample, solveAlone } from "./slab.ts";

export interface Outcome {
  /** By place in the scheme. */
  readonly coefficients: Int32Array;
  /** Values of all grids that have a coefficient, and perhaps of others. */
  readonly solutions: readonly (Float64Array | undefined)[];
  /** Places, in the order in which they were lost. */
  readonly lost: readonly number[];
}

export function describeOutcome(problem: Problem, scheme: Scheme, outcome: Outcome): string[] {
  const { levels } = scheme;
  const combined = combine(scheme, outcome);
  const { exact, full } = references(problem, scheme);
  const { coefficients, lost } = outcome;
  const terms = levels.flatMap((level, place) => {
    const coefficient = coefficients[place]!;
    return coefficient === 0 ? [] : [`${coefficient > 0 ? "+" : ""}${coefficient}${levelText(level)}`];
  });
  const losses = [`lost: ${lost.map((place) => levelText(levels[place]!)).join(" ")}`, `combined: ${terms.join(" ")}`];
  const error = `error ${distance(combined, exact).toFixed(9)}`;
  const fromFull = `distance from the full grid's solution ${distance(combined, full).toFixed(9)}`;
  return [...(lost.length > 0 ? losses : []), `${error}, ${fromFull}, bits ${bitsOf(combined)}`];
}

export function combine({ levels, dims, finest }: Scheme, { coefficients, solutions }: Outcome): Float64Array {
  const combined = new Float64Array(2 ** (dims * finest));
  for (const [place, level] of levels.entries()) {
    if (coefficients[place] === 0) continue;
    add(combined, coefficients[place]!, interpolated(solutions[place]!, level, finest));
  }
  return combined;
}

/** What a combined solution is compared with, at the points of the full grid: the exact solution, and the full grid's own. */
export function references(
  problem: Problem,
  { dims, finest }: Scheme,
): { readonly exact: Float64Array; readonly full: Float64Array } {
  const level: Level = Array.from({ length: dims }, () => finest);
  return {
    exact: sample(problem.exact, level, rowsOf(level, 0, 1)),
    full: solveAlone(problem, level, finest),
  };
}
