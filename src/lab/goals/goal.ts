/** A goal: a figure of Banyan, a bound it must keep, and a stricter bound that is wanted. Judged from the measurements. */
import { medianAt, type Series } from "../measuring/series.ts";

/** The reference of a bound, which is a multiple of it. */
export type Reference =
  /** No reference: the bound is the figure itself. */
  | { readonly kind: "unit" }
  | { readonly kind: "peer"; readonly id: string }
  /** The better of the peers that were measured. */
  | { readonly kind: "better-peer" }
  /** Banyan's own figure at another point, of another metric, or of another contender. */
  | {
      readonly kind: "own";
      readonly x: number;
      readonly metric: string;
      /** The goal's own if absent. */
      readonly contender?: string;
      /** The name of the reference in the table. */
      readonly label: string;
    };

export interface Bound {
  /** Is the bound an upper or a lower one? */
  readonly side: "at most" | "at least";
  readonly factor: number;
  readonly of: Reference;
}

export interface Goal {
  readonly what: string;
  readonly benchmark: string;
  readonly metric: string;
  readonly contender: string;
  readonly x: number;
  readonly unit: string;
  /** Absent: the project only has a goal. */
  readonly atLeast?: Bound;
  /** Absent: there is no stricter bound. */
  readonly goal?: Bound;
}

/** The result of a bound. Unknown: Banyan's figure, or the reference, was not measured. */
export type Comparison =
  | { readonly kind: "known"; readonly ratio: number; readonly isMet: boolean }
  | { readonly kind: "unknown" };

type GoalVerdict = "goal" | "ok" | "missed" | "not measured";

export interface Judgement {
  readonly goal: Goal;
  readonly figure: number | undefined;
  readonly atLeast: Comparison | undefined;
  readonly wanted: Comparison | undefined;
  readonly verdict: GoalVerdict;
}

/** `series` are those of the goal's benchmark. */
export function judge(goal: Goal, series: readonly Series[]): Judgement {
  const figure = figureOf(series, goal.contender, goal.metric, goal.x);
  const against = (bound: Bound | undefined): Comparison | undefined =>
    bound === undefined ? undefined : compare(goal, bound, figure, series);
  const atLeast = against(goal.atLeast);
  const wanted = against(goal.goal);
  return { goal, figure, atLeast, wanted, verdict: verdictOf(atLeast, wanted) };
}

function compare(goal: Goal, bound: Bound, figure: number | undefined, series: readonly Series[]): Comparison {
  const reference = referenceFigure(goal, bound, series);
  if (figure === undefined || reference === undefined) return { kind: "unknown" };
  const ratio = figure / reference;
  return { kind: "known", ratio, isMet: bound.side === "at most" ? ratio <= bound.factor : ratio >= bound.factor };
}

function referenceFigure(goal: Goal, { of, side }: Bound, series: readonly Series[]): number | undefined {
  switch (of.kind) {
    case "unit":
      return 1;
    case "peer":
      return figureOf(series, of.id, goal.metric, goal.x);
    case "own":
      return figureOf(series, of.contender ?? goal.contender, of.metric, of.x);
    case "better-peer": {
      const peers = series.filter(({ contender, metric }) => !contender.isOurs && metric === goal.metric);
      const figures = peers.flatMap((one) => medianAt(one, goal.x) ?? []);
      if (figures.length === 0) return undefined;
      return side === "at most" ? Math.min(...figures) : Math.max(...figures);
    }
  }
}

function figureOf(series: readonly Series[], contender: string, metric: string, x: number): number | undefined {
  return medianAt(
    series.find((one) => one.contender.id === contender && one.metric === metric),
    x,
  );
}

/** A bound that is known to be missed counts, even if the other is unknown. */
function verdictOf(atLeast: Comparison | undefined, wanted: Comparison | undefined): GoalVerdict {
  if (atLeast?.kind === "known" && !atLeast.isMet) return "missed";
  if (atLeast?.kind === "unknown") return "not measured";
  if (wanted?.kind === "known" && wanted.isMet) return "goal";
  if (atLeast !== undefined) return "ok";
  return wanted?.kind === "known" ? "missed" : "not measured";
}
