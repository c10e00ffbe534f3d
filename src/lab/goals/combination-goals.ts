/** The bound for the combination technique: what one lost grid may cost, whichever it is. */
import { combinationCases } from "../benchmarks/combination.ts";
import { atMost } from "./bounds.ts";
import type { Goal } from "./goal.ts";

export const combinationGoals: readonly Goal[] = combinationCases.map(({ contender }) => ({
  benchmark: "combination",
  contender: contender.id,
  what: `error after one lost grid: ${contender.label}`,
  metric: "exact_worst",
  x: 1,
  unit: "",
  goal: atMost(1.5, { kind: "own", metric: "exact_worst", x: 0, label: "none lost" }),
}));
